"""The messages between the judge and the confined processes that plan, simulate and compile.

What is large travels in sealed memory files beside a message: the judge makes them, of a fixed size, and reads what a
planner wrote only once the planner is dead.
"""

from __future__ import annotations

import hashlib
from typing import Annotated, Literal

from pydantic import Field, TypeAdapter

from grader.plan.device import Device
from grader.plan.findings import MOST_ACCESSES, Access, Finding
from grader.plan.plan import MOST_KERNELS, DType, Index, Kernel, Line, Name, Place, Shape, Shaped, Size, Text
from grader.plan.traffic import Launched, Stored, Touched, Watch
from grader.plan.wire import Message

# To and from a planner.


class GivenTensor(Shaped):
    """A parameter that is a tensor: contiguous, with storage of its own. `output` is the one that is to be written."""

    kind: Literal["tensor"] = "tensor"
    name: Name
    shape: Shape
    dtype: DType
    place: Place = "device"
    output: bool = False


class GivenScalar(Shaped):
    """A parameter that is a number, which host code may see."""

    kind: Literal["scalar"] = "scalar"
    name: Name
    value: Annotated[float, Field(allow_inf_nan=False)]


Given = Annotated[GivenTensor | GivenScalar, Field(discriminator="kind")]


class Resources(Shaped):
    """What a kernel takes as compiled: registers a thread, bytes spilled a thread, bytes of shared memory."""

    registers: Size
    spills: Size
    shared: Size


class Answers(Shaped):
    """What host code asks its machine, as far as the judge has found it out.

    `winners`: for each autotuner, in the order met, the configuration that was fastest; beyond them, and where it is
    -1, configuration `candidate` modulo their number is taken. `resources` by `kernel_key`.
    """

    candidate: Size = 0
    winners: Annotated[list[Annotated[int, Field(ge=-1)]], Field(max_length=64)] = []
    resources: dict[Name, Resources] = {}


class Load(Message):
    """Run the submission's file, whose source is descriptor 0, and find its function."""

    op: Literal["load"] = "load"
    file: Name
    function: Name
    device: Device
    given: list[Given]


class PlanCall(Message):
    """Call the function twice on these parameters, and write the plan to the memory file of descriptor 0.

    `copies`: copies of tensors go into the plan instead of being refused.
    """

    op: Literal["plan"] = "plan"
    given: list[Given]
    copies: bool
    answers: Answers = Answers()


Why = Literal["numbers", "benchmark", "process", "network", "module", "exception", "print"]
"""Why a statement was left out: see `Skipped`."""


class Skipped(Shaped):
    """A statement that was left out, and `text`: what it asked for or raised, or the module that is not there.

    All but `print` stand at the file's top level: a line that prints or checks numbers is left out wherever it is.
    """

    line: Line
    why: Why
    text: Annotated[str, Field(max_length=200)] = ""


class Loaded(Message):
    op: Literal["loaded"] = "loaded"
    skipped: Annotated[list[Skipped], Field(max_length=64)] = []


class Planned(Message):
    """`bytes` of the memory file hold the plan. `earlier`: it uses memory that the calls of an earlier case have made,
    so that it has to be planned anew by a planner that has seen no other case. `skipped` is what these calls left
    out."""

    op: Literal["planned"] = "planned"
    bytes: Size
    earlier: bool = False
    skipped: Annotated[list[Skipped], Field(max_length=64)] = []


Refusal = Literal[
    "arithmetic", "reduction", "comparison", "matmul", "random", "copy", "transposed_copy", "cast", "gather",
    "in_place", "read_number", "read_values", "truth", "numpy", "dlpack", "resize", "set_data", "input_written",
    "address", "library", "option", "process", "network", "other",
]  # fmt: skip
"""Why host code was stopped: what it asked for needs numbers, makes them, or leaves the plan."""


class Refused(Message):
    """Host code of the graded function needs or makes numbers. `operator` as PyTorch names it: `aten::mul`, `item`.

    `asked` bytes of the memory file hold `Kernels`: of these it had asked what they take, and was told a guess.
    """

    op: Literal["refused"] = "refused"
    why: Refusal
    operator: Name
    line: Line = 0
    traceback: Text = ""
    asked: Size = 0


class Absent(Message):
    """The submission needs a name that a statement left out would have bound. `line` is where it needs it, 0 for the
    graded function itself."""

    op: Literal["absent"] = "absent"
    name: Name
    skipped: Skipped
    line: Line = 0
    traceback: Text = ""


TooMuch = Literal["kernel_too_long", "too_many_kernels", "too_large"]


class Failed(Message):
    """The submission failed by its own account, with its place in the student's file.

    `compile_error` is what the language's own compiler refuses; `unsupported` is ours to mend: something that a GPU
    would run and the planner cannot plan; `kernel_too_long`, `too_many_kernels` and `too_large` are beyond the caps of
    a plan. `asked` as in `Refused`.
    """

    op: Literal["failed"] = "failed"
    failure: Literal[
        "unreadable_source", "syntax_error", "import_error", "missing_function", "wrong_signature", "not_attempted",
        "exception", "compile_error", "out_of_memory", TooMuch, "unsupported",
    ]  # fmt: skip
    message: Text
    line: Line = 0
    traceback: Text = ""
    asked: Size = 0


# To and from a simulator.


class Simulate(Message):
    """Run a plan on memory: descriptor 0 holds the plan, `bytes` long, the others its given buffers, by their index.

    `call` 0 is the first call; 1 the steady one, after setup and a first call on given buffers of its own, with other
    contents: these come before those of the steady call. `output` names the parameter that holds nothing yet. At most
    `operations` element operations are made. Lanes that a mask without `other` switched off hold zeros, as on a GPU;
    with `masked` NaN, in loads of these lines, or in all loads if it names none. With `order` what nothing orders is
    taken in another order: in these lines, 0 for the programs of a launch, or wherever there is such a thing if it
    names none. Loads of the lines `early` come before what other programs store where no atomics order the two; 0 among
    them has atomics whose result nothing uses made in the programs' reverse order.
    Launches of the kernels `twice` are made twice. `device` is the one that is simulated.
    """

    op: Literal["simulate"] = "simulate"
    bytes: Size
    call: Literal[0, 1] = 0
    output: Name
    operations: Size
    masked: Annotated[list[Line], Field(max_length=16)] | None = None
    order: Annotated[list[Line], Field(max_length=16)] | None = None
    early: Annotated[list[Line], Field(max_length=32)] = []
    twice: Annotated[list[Index], Field(max_length=MOST_KERNELS)] = []
    device: Device | None = None
    watch: Watch | None = None


class Simulated(Message):
    """`findings`: each place once, the first that was seen; `accesses` the loads and stores, in the order they are made
    in. `printed` is what kernels printed. The rest is what a `Watch` asks for."""

    op: Literal["simulated"] = "simulated"
    findings: Annotated[list[Finding], Field(max_length=16)]
    accesses: Annotated[list[Access], Field(max_length=MOST_ACCESSES)] = []
    operations: Size
    printed: Text = ""
    stored: Annotated[list[Stored], Field(max_length=16)] = []
    launched: Annotated[list[Launched], Field(max_length=8)] = []
    touched: Annotated[list[Touched], Field(max_length=32)] = []


INLINE_ASSEMBLY = "inline assembly"


class CannotSimulate(Message):
    """A GPU may run this, the simulator does not: never a mistake of the student's."""

    op: Literal["cannot"] = "cannot"
    operation: Name
    kernel: Name = ""
    line: Line = 0


class Exhausted(Message):
    """A limit was reached: of operations (a loop that does not end, or far too many programs), of memory, or programs
    that wait for each other without end. `resident` is how many of them the device holds at most, where there are more
    in the launch."""

    op: Literal["exhausted"] = "exhausted"
    what: Literal["operations", "memory", "stalled"]
    kernel: Name = ""
    line: Line = 0
    resident: Size = 0


# To and from a compiler.


class Compile(Message):
    """Compile kernels for a target: descriptor 0 holds `Kernels`, `bytes` long, descriptor 1 takes `Binaries`.

    `seconds` of processor time are for each kernel, and as many for its assembler; `in_all` seconds of the clock for
    the whole request: what has not had its turn by then is too slow. `ptx`: the text is wanted as well.
    """

    op: Literal["compile"] = "compile"
    bytes: Size
    seconds: Annotated[int, Field(ge=1, le=3600)] = 40
    in_all: Annotated[float, Field(gt=0, le=3600)] = 100.0
    target: Annotated[str, Field(pattern=r"^sm_\d{2,3}$")]
    ptx: bool = False


class Kernels(Shaped):
    """What is to be compiled. Of `fitting` it is enough to know whether the target can start them: answers for these
    follow those for `kernels`."""

    kernels: Annotated[list[Kernel], Field(max_length=MOST_KERNELS)]
    fitting: list[Kernel] = []


class Canonicalise(Message):
    """Print texts as the language's compiler prints what it has parsed: descriptor 0 holds `Texts`, `bytes` long,
    descriptor 1 takes as many, "" for one that the compiler does not take."""

    op: Literal["canonicalise"] = "canonicalise"
    bytes: Size
    target: Annotated[str, Field(pattern=r"^sm_\d{2,3}$")]


class Texts(Shaped):
    texts: list[str]


class Compiled(Message):
    op: Literal["compiled"] = "compiled"
    bytes: Size


PLANNER_REQUEST: TypeAdapter[Load | PlanCall] = TypeAdapter(Annotated[Load | PlanCall, Field(discriminator="op")])
PLANNER_REPLY: TypeAdapter[Loaded | Planned | Refused | Absent | Failed] = TypeAdapter(
    Annotated[Loaded | Planned | Refused | Absent | Failed, Field(discriminator="op")])
SIMULATOR_REQUEST: TypeAdapter[Simulate] = TypeAdapter(Simulate)
SIMULATOR_REPLY: TypeAdapter[Simulated | CannotSimulate | Exhausted] = TypeAdapter(
    Annotated[Simulated | CannotSimulate | Exhausted, Field(discriminator="op")])
COMPILER_REQUEST: TypeAdapter[Compile | Canonicalise] = TypeAdapter(
    Annotated[Compile | Canonicalise, Field(discriminator="op")])
COMPILER_REPLY: TypeAdapter[Compiled] = TypeAdapter(Compiled)


def kernel_key(kernel: Kernel) -> str:
    """A name for a kernel as compiled: the same text, signature and options have the same."""
    text = kernel.model_dump_json(include={"language", "text", "symbol", "signature", "options"})
    return hashlib.sha256(text.encode()).hexdigest()
