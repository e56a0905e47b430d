"""The messages between the judge and the confined processes that plan, simulate and compile.

Large contents travel in sealed memory files beside a message. The judge makes them with a fixed size, and reads what a
planner wrote only when the planner is dead.
"""

from __future__ import annotations

import hashlib
from typing import Annotated, Literal

from pydantic import Field, TypeAdapter

from grader.plan.device import Device
from grader.plan.edits import MOST_EDITED
from grader.plan.findings import MOST_ACCESSES, Access, Finding
from grader.plan.plan import (
    INT64,
    ITEM_BYTES,
    MOST_KERNELS,
    DType,
    Index,
    Kernel,
    Line,
    Name,
    Place,
    Shape,
    Size,
    StrictModel,
    Text,
    memory_span,
)
from grader.plan.traffic import MOST_TOUCHED, LastStores, LaunchTraffic, TouchedBytes, Watch
from grader.plan.wire import Message

BUILT_BYTES = 48 << 20
"""Room for what a builder makes of a file."""

# To and from a builder or a planner.


class GivenTensor(StrictModel):
    """A parameter that is a tensor, with its own storage. `output`: the function has to write it; `filled`: it has
    contents before the call, as all but plain outputs have. `strides` are in elements, empty for a contiguous tensor.
    `gradient_of` and `saved` are for `grader.host.autograd`."""

    kind: Literal["tensor"] = "tensor"
    name: Name
    shape: Shape
    dtype: DType
    place: Place = "device"
    output: bool = False
    filled: bool = True
    strides: Shape = []
    gradient_of: Annotated[str, Field(max_length=200)] = ""
    saved: bool = False

    @property
    def elements(self) -> int:
        """Return the number of elements of the tensor's memory; gaps between its own elements count, too."""
        return memory_span(self.shape, self.strides)

    @property
    def bytes(self) -> int:
        return self.elements * ITEM_BYTES[self.dtype]


class GivenScalar(StrictModel):
    """A parameter that is a number, which host code may see."""

    kind: Literal["scalar"] = "scalar"
    name: Name
    type: Literal["float", "int", "bool"] = "float"
    value: bool | Annotated[int, Field(ge=-INT64, lt=INT64)] | Annotated[float, Field(allow_inf_nan=False)]


MOST_CONSTANTS = 32
MOST_GIVEN = 64
Given = Annotated[GivenTensor | GivenScalar, Field(discriminator="kind")]


class Resources(StrictModel):
    """The resources of a compiled kernel: registers and spilled bytes of a thread, bytes of shared memory."""

    registers: Size
    spills: Size
    shared: Size


class Answers(StrictModel):
    """Answers to what host code asks its machine, as far as the judge knows them.

    `winners`: the fastest configuration of each autotuner, in the order of their calls. If it is -1 or missing, the
    planner takes `candidate` modulo the number of configurations. `resources` is keyed by `kernel_key`.
    """

    candidate: Size = 0
    winners: Annotated[list[Annotated[int, Field(ge=-1)]], Field(max_length=64)] = []
    resources: dict[Name, Resources] = {}


class MakeShared(Message):
    """A request to make the part that all built files share. Descriptor 0 takes that part."""

    op: Literal["shared"] = "shared"


class Build(Message):
    """A request to build the submission's file for `device`. Descriptor 0 holds the source, or, with `edited`, `Texts`
    of copies to build together; descriptor 1 the result of `MakeShared`; descriptor 2 takes the build for a planner."""

    op: Literal["build"] = "build"
    file: Name
    function: Name
    device: Device
    given: list[Given]
    edited: bool = False


class Built(Message):
    """The answer to `MakeShared` or `Build`: the memory file holds the result, `bytes` long."""

    op: Literal["built"] = "built"
    bytes: Size


class Load(Message):
    """A request to run the submission's file and find its function. Descriptor 0 holds the source; in a language with
    a builder, descriptor 1 holds the builder's result. `autograd`: the function is a torch.autograd.Function."""

    op: Literal["load"] = "load"
    file: Name
    function: Name
    device: Device
    given: list[Given]
    autograd: bool = False


class PlanCall(Message):
    """A request to call the function twice on these parameters, and write the plan to descriptor 0's memory file.

    `copies`: put copies of tensors into the plan instead of refusing them. `seconds`: for both calls (0: any).
    """

    op: Literal["plan"] = "plan"
    given: list[Given]
    copies: bool
    seconds: Annotated[float, Field(ge=0, allow_inf_nan=False)] = 0
    answers: Answers = Answers()


Why = Literal["numbers", "benchmark", "process", "network", "module", "exception", "print"]
"""The reasons to leave a statement out: see `SkippedStatement`."""


class SkippedStatement(StrictModel):
    """A statement that was left out. `text` is what it asked for or raised, or the module that is missing.

    Only statements at the file's top level are left out, except for `print`: a line that prints or checks numbers is
    left out anywhere.
    """

    line: Line
    why: Why
    text: Annotated[str, Field(max_length=200)] = ""


class Loaded(Message):
    op: Literal["loaded"] = "loaded"
    skipped: Annotated[list[SkippedStatement], Field(max_length=64)] = []


class Planned(Message):
    """A plan, `bytes` long, in the memory file. `earlier`: the plan uses memory that calls of an earlier case made, so
    a planner that has seen no other case has to make it again. `skipped` are the statements left out in these calls.
    """

    op: Literal["planned"] = "planned"
    bytes: Size
    earlier: bool = False
    skipped: Annotated[list[SkippedStatement], Field(max_length=64)] = []


Refusal = Literal[
    "arithmetic", "reduction", "comparison", "matmul", "random", "copy", "transposed_copy", "cast", "gather",
    "in_place", "read_number", "read_values", "truth", "numpy", "dlpack", "resize", "set_data", "input_written",
    "address", "library", "option", "process", "network", "other",
]  # fmt: skip
"""The reasons to stop host code: it asked for something that needs numbers, makes numbers, or leaves the plan."""


class Refused(Message):
    """A refusal: host code of the graded function needs or makes numbers. `operator` is PyTorch's name: `aten::mul`.

    The memory file holds `Kernels` in `kernels_bytes` bytes: host code asked for their resources and got a guess.
    """

    op: Literal["refused"] = "refused"
    why: Refusal
    operator: Name
    line: Line = 0
    traceback: Text = ""
    kernels_bytes: Size = 0


class AbsentName(Message):
    """A name that the submission needs and a skipped statement would have bound. `line` is the line that needs it, 0 if
    the name is that of the graded function."""

    op: Literal["absent"] = "absent"
    name: Name
    skipped: SkippedStatement
    line: Line = 0
    traceback: Text = ""


TooMuch = Literal["kernel_too_long", "too_many_kernels", "too_large"]


class Failed(Message):
    """A failure of the submission's own code, with the place in the student's file.

    `compile_error`: the language's own compiler refuses a kernel; `unsupported`: a GPU would run something that the
    grader cannot follow, and `message` says what to write instead; `kernel_too_long`, `too_many_kernels`, `too_large`:
    a cap of a plan is exceeded. `constants` are the compile-time constants of a kernel that does not compile: values as
    code, by name. `autograd`: a class is not the autograd Function that is asked for. `kernels_bytes` as in `Refused`.
    """

    op: Literal["failed"] = "failed"
    failure: Literal[
        "unreadable_source", "syntax_error", "import_error", "missing_function", "wrong_signature", "not_attempted",
        "exception", "compile_error", "out_of_memory", "time_out", TooMuch, "unsupported", "autograd",
    ]  # fmt: skip
    message: Text
    line: Line = 0
    traceback: Text = ""
    constants: Annotated[dict[Name, Name], Field(max_length=MOST_CONSTANTS)] = {}
    kernels_bytes: Size = 0


class ListEdits(Message):
    """A request to list the edits of a file whose `function` is graded. Descriptor 0 holds the file, descriptor 1 takes
    `Edits`. `lines` are the lines that evidence names."""

    op: Literal["list_edits"] = "list_edits"
    function: Name
    given: list[Given]
    lines: Annotated[list[Line], Field(max_length=64)] = []


class Listed(Message):
    op: Literal["listed"] = "listed"
    bytes: Size


class PlanEdited(Message):
    """A request to load several edited files, and plan `call` of the function of each. Descriptor 0 holds `Texts`,
    `bytes` long; descriptor 1 takes a plan for each file, at multiples of EDITED_PLAN_BYTES; in a language with a
    builder, descriptor 2 holds the files' build. Each file has `seconds` of processor time; if built, of the clock."""

    op: Literal["plan_edited"] = "plan_edited"
    load: Load
    call: PlanCall
    bytes: Size
    seconds: Annotated[float, Field(gt=0, le=3600)]


class PlannedEdited(Message):
    """The answer to `PlanEdited`: the length of each plan in bytes, 0 for a file without a plan."""

    op: Literal["planned_edited"] = "planned_edited"
    plans: Annotated[list[Size], Field(max_length=MOST_EDITED)]


# To and from a simulator.


Deviation = Literal["bits", "places", "lanes", "errors"]
"""The ways in which another device differs: bits that nothing has set; where buffers lie, and which multiprocessor runs
a program; lanes without a part in a shuffle; the errors of approximate instructions, as far as they are documented."""


class Where(StrictModel):
    """Parts of a run that take another choice than the plain one: operations in these lines, and the `programs` of a
    launch among themselves."""

    lines: Literal["all"] | Annotated[list[Line], Field(max_length=16)] = []
    programs: bool = False


NOWHERE, EVERYWHERE, PROGRAMS = Where(), Where(lines="all", programs=True), Where(programs=True)
UNWRITTEN = 0xFF
"""The value of each byte that nothing has written in a temporary: NaN in every floating-point type."""


class RunOptions(StrictModel):
    """Choices of a run, most of which a language leaves open, and a `watch` for its report.

    `masked`: where lanes that a mask without `other` switched off hold NaN instead of zeros.
    `order`: where the run takes another order, if none is defined.
    `early`: where loads come before the stores of other programs, if no atomics order the two; for programs, atomics
    whose result is not used are made in the reverse order of programs.
    `twice`: launches of these kernels are made twice.
    `deviations`: the device differs in these ways; approximate instructions err in the lines `erring`, or everywhere.
    `registers`: the number that a thread of each of these kernels takes, if known. `unwritten`: the byte of what
    nothing has written; any but UNWRITTEN also replaces what the judge put into outputs. `resident`: the most programs
    of a launch at a time, 0 for all that fit.
    """

    masked: Where = NOWHERE
    order: Where = NOWHERE
    early: Where = NOWHERE
    twice: Annotated[list[Index], Field(max_length=MOST_KERNELS)] = []
    deviations: Annotated[list[Deviation], Field(max_length=4)] = []
    erring: Annotated[list[Line], Field(max_length=16)] = []
    registers: Annotated[dict[Index, Size], Field(max_length=MOST_KERNELS)] = {}
    unwritten: Annotated[int, Field(ge=0, le=255)] = UNWRITTEN
    resident: Size = 0
    watch: Watch | None = None


PLAIN = RunOptions()


class Simulate(Message):
    """A request to run a plan. Descriptor 0 holds the plan, `bytes` long, the others hold given buffers, by index.

    `call` is 0 for the first call, 1 for the steady one, which runs after setup and a first call. That first call has
    its own given buffers with other contents; their descriptors come before those of the steady call. `outputs` names
    the parameters that hold nothing yet. At most `operations` element operations are made, in at most `seconds` (0: any
    number). `device` is the device to simulate.
    """

    op: Literal["simulate"] = "simulate"
    bytes: Size
    call: Literal[0, 1] = 0
    outputs: Annotated[list[Name], Field(max_length=MOST_GIVEN)]
    operations: Size
    seconds: Annotated[float, Field(ge=0, allow_inf_nan=False)] = 0
    device: Device | None = None
    options: RunOptions = PLAIN


class Simulated(Message):
    """The result of a run. `findings` holds the first finding of each kind and place, `accesses` the loads and stores
    in the order in which they are made, `printed` what kernels print. The last three fields answer a `Watch`."""

    op: Literal["simulated"] = "simulated"
    findings: Annotated[list[Finding], Field(max_length=16)]
    accesses: Annotated[list[Access], Field(max_length=MOST_ACCESSES)] = []
    operations: Size
    printed: Text = ""
    stored: Annotated[list[LastStores], Field(max_length=16)] = []
    launched: Annotated[list[LaunchTraffic], Field(max_length=8)] = []
    touched: Annotated[list[TouchedBytes], Field(max_length=MOST_TOUCHED)] = []


INLINE_ASSEMBLY = "inline assembly"


class CannotSimulate(Message):
    """A run that the simulator cannot make, though a GPU may. It is never a mistake of the student's."""

    op: Literal["cannot"] = "cannot"
    operation: Name
    kernel: Name = ""
    line: Line = 0


Reached = Literal["operations", "time", "memory", "stalled", "unmet", "endless"]


class Exhausted(Message):
    """A limit that was reached: "operations" or "time" (an endless loop, or far too many programs), "memory",
    "stalled" (programs wait for each other), "unmet" (threads wait for a flag or a barrier in shared memory and nothing
    changes it), or "endless" (a loop whose condition nothing changes). `resident` programs fit on the device, if there
    are more; `rounds` are iterations of the loop in `line`; `ended` programs of a cooperative one have ended lanes."""

    op: Literal["exhausted"] = "exhausted"
    what: Reached
    kernel: Name = ""
    line: Line = 0
    resident: Size = 0
    rounds: Size = 0
    ended: Size | None = None


# For a compiler: see `grader.plan.compiling`.


class Kernels(StrictModel):
    """The kernels to compile. For kernels of `fitting` it is enough to say whether the target can start them; their
    answers follow those for `kernels`."""

    kernels: Annotated[list[Kernel], Field(max_length=MOST_KERNELS)]
    fitting: list[Kernel] = []


class Texts(StrictModel):
    texts: list[str]


BUILDER_REQUEST: TypeAdapter[MakeShared | Build] = TypeAdapter(
    Annotated[MakeShared | Build, Field(discriminator="op")])
BUILDER_REPLY: TypeAdapter[Built | Failed] = TypeAdapter(Annotated[Built | Failed, Field(discriminator="op")])
PLANNER_REQUEST: TypeAdapter[Load | PlanCall] = TypeAdapter(Annotated[Load | PlanCall, Field(discriminator="op")])
EDITING_REQUEST: TypeAdapter[Load | PlanCall | ListEdits | PlanEdited] = TypeAdapter(
    Annotated[Load | PlanCall | ListEdits | PlanEdited, Field(discriminator="op")])
"""The requests to a planner whose language has edits."""
EDITING_REPLY: TypeAdapter[Listed | PlannedEdited] = TypeAdapter(
    Annotated[Listed | PlannedEdited, Field(discriminator="op")])
PLANNER_REPLY: TypeAdapter[Loaded | Planned | Refused | AbsentName | Failed] = TypeAdapter(
    Annotated[Loaded | Planned | Refused | AbsentName | Failed, Field(discriminator="op")])
SIMULATOR_REQUEST: TypeAdapter[Simulate] = TypeAdapter(Simulate)
SIMULATOR_REPLY: TypeAdapter[Simulated | CannotSimulate | Exhausted] = TypeAdapter(
    Annotated[Simulated | CannotSimulate | Exhausted, Field(discriminator="op")])


def kernel_key(kernel: Kernel) -> str:
    """Return a hash of what decides a kernel's machine code: its language, text, symbol, signature and options."""
    text = kernel.model_dump_json(include={"language", "text", "symbol", "signature", "options"})
    return hashlib.sha256(text.encode()).hexdigest()
