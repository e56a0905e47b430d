"""The plan: the operations that a submission's host code asks for, as data of fixed shape.

A planner may be hostile. Only its plan is run; its other answers are texts for people. Each field is capped here, and
`grader.judging.plans.rules` checks extents, grids and memory before anything is run. A plan knows no language: a kernel
is a text that its front end reads.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable, Sequence
from math import prod
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

MOST_BUFFERS = 1024
MOST_OPERATIONS = 1 << 14
MOST_KERNELS = 64
MOST_ARGUMENTS = 64
MOST_DIMENSIONS = 8
TEXT_CHARACTERS = 1 << 20
PLAN_BYTES = 8 << 20
DATA_BYTES = 64 << 10
ARGUMENT_BYTES = 4096
POINTER_BYTES = 8
MOST_AFTER = 16
MOST_ERRORS = 1_000
INT64 = 2**63
BUFFER_ALIGNMENT = 512
"""The alignment of each buffer in bytes, in any memory: kernels are specialised for it."""

DType = Literal[
    "float64", "float32", "float16", "bfloat16", "float8_e4m3fn", "float8_e5m2",
    "int64", "int32", "int16", "int8", "uint64", "uint32", "uint16", "uint8", "bool",
]  # fmt: skip
STORAGE: dict[DType, str] = {
    "float64": "f8", "float32": "f4", "float16": "f2", "bfloat16": "u2", "float8_e4m3fn": "u1", "float8_e5m2": "u1",
    "int64": "i8", "int32": "i4", "int16": "i2", "int8": "i1", "uint64": "u8", "uint32": "u4", "uint16": "u2",
    "uint8": "u1", "bool": "u1",
}  # fmt: skip
"""NumPy's type of an element in memory: the bits as an unsigned number, if NumPy has no such type."""
ITEM_BYTES: dict[DType, int] = {dtype: int(storage[1]) for dtype, storage in STORAGE.items()}
LARGEST: dict[DType, float] = {
    "float64": (2 - 2**-52) * 2.0**1023, "float32": (2 - 2**-23) * 2.0**127, "float16": 65_504.0,
    "bfloat16": (2 - 2**-7) * 2.0**127, "float8_e4m3fn": 448.0, "float8_e5m2": 57_344.0,
}  # fmt: skip
"""The largest finite number of each type of floats."""
# The types that a copy may convert between: the conversion rounds a number, or makes it infinite.
CAST: frozenset[DType] = frozenset({"float64", "float32", "float16", "bfloat16"})
Place = Literal["device", "pinned", "host"]
Line = Annotated[int, Field(ge=0, le=10_000_000)]
Name = Annotated[str, Field(max_length=200)]
# Two texts fit into a frame, whatever their characters.
Text = Annotated[str, Field(max_length=8_000)]
Size = Annotated[int, Field(ge=0, lt=INT64)]
Index = Annotated[int, Field(ge=0, lt=1 << 16)]
Shape = Annotated[list[Size], Field(max_length=MOST_DIMENSIONS)]


def _base64(text: str) -> str:
    try:
        base64.b64decode(text, validate=True)
    except binascii.Error as error:
        raise ValueError(f"base64 expected: {error}") from None
    return text


class StrictModel(BaseModel):
    """Data of a contract between processes: no other field, no conversion, no change."""

    # A plan may fill with NaN or infinity, which JSON has only as JavaScript's constants.
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, ser_json_inf_nan="constants")


class Buffer(StrictModel):
    """An allocation. `given` names the parameter that the judge fills or reads; "" is a temporary of the submission.

    `line` is the line that allocated a temporary; `kept`: an earlier call did. Both are for people to read, as all
    lines of a plan are, and may be forged.
    """

    bytes: Size
    place: Place = "device"
    given: Name = ""
    line: Line = 0
    kept: bool = False


class View(StrictModel):
    """Elements of a buffer: `offset` in bytes, `strides` in elements."""

    buffer: Index
    offset: Size = 0
    shape: Shape
    strides: Shape
    dtype: DType

    @property
    def end(self) -> int:
        """Return the bytes from the buffer's start to the end of the last element."""
        return self.offset + memory_span(self.shape, self.strides) * ITEM_BYTES[self.dtype]


class OrderedOperation(StrictModel):
    """An operation, and the line in which host code asks for it.

    `after` are the numbers of the operations of the same call that it follows directly; operations that these follow
    are left out. None: it follows all before it. A plan runs in its own order, whatever `after` says. In `setup` it
    means nothing.
    """

    line: Line = 0
    after: Annotated[list[Index], Field(max_length=MOST_AFTER)] | None = None


class Fill(OrderedOperation):
    """A write of the same value to each element of a view: `zeros`, `full`, `fill_`, `x[…] = 0`."""

    op: Literal["fill"] = "fill"
    target: View
    value: bool | Annotated[int, Field(ge=-INT64, lt=2 * INT64)] | float


class Data(OrderedOperation):
    """A write of constant contents to the start of a buffer, in base64: `torch.tensor([…])`, `arange`."""

    op: Literal["data"] = "data"
    buffer: Index
    contents: Annotated[str, Field(max_length=4 * (DATA_BYTES // 3 + 1)), AfterValidator(_base64)]


class Copy(OrderedOperation):
    """A copy of a view onto another view of the same shape.

    If the assignment allows no copies, or if the dtypes differ (see `CAST`), the source has to be a whole temporary
    that a launch has written, and the target a whole tensor. `backwards` are dimensions of the source that the copy
    reads from the last index to the first, as a loop of host code may do between memory of its own.
    """

    op: Literal["copy"] = "copy"
    source: View
    target: View
    backwards: Shape = []


class Pointer(StrictModel):
    """The address `offset` bytes into a buffer."""

    kind: Literal["pointer"] = "pointer"
    buffer: Index
    offset: Size = 0


class Integer(StrictModel):
    """A whole number. `type` is its type on the device: `i32`, `u64`, `i1` for a bool."""

    kind: Literal["integer"] = "integer"
    type: Literal["i1", "u1", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64"]
    value: Annotated[int, Field(ge=-INT64, lt=2 * INT64)]


class Float(StrictModel):
    kind: Literal["float"] = "float"
    type: Literal["fp16", "bf16", "fp32", "fp64"] = "fp32"
    value: float


class Descriptor(StrictModel):
    """A tensor descriptor made on the host: `view` is the whole tensor, `block` the shape of one load or store."""

    kind: Literal["descriptor"] = "descriptor"
    view: View
    block: Annotated[list[Annotated[int, Field(ge=1, le=1 << 20)]], Field(max_length=5)]
    padding: Literal["zero", "nan"] = "zero"


class InnerPointer(StrictModel):
    """The address `offset` bytes into a buffer, `at` bytes into an argument."""

    at: Annotated[int, Field(ge=0, lt=ARGUMENT_BYTES)]
    buffer: Index
    offset: Size = 0


class Structure(StrictModel):
    """A structure passed by value: its contents, in base64, and the pointers among them, whose eight bytes are zero."""

    kind: Literal["structure"] = "structure"
    contents: Annotated[str, Field(max_length=4 * (ARGUMENT_BYTES // 3 + 1)), AfterValidator(_base64)]
    pointers: Annotated[list[InnerPointer], Field(max_length=64)] = []

    def filled(self, address: Callable[[InnerPointer], int]) -> bytes:
        """Return the contents with the address of each pointer. Raises Malformed for a pointer beyond them."""
        raw = bytearray(base64.b64decode(self.contents))
        for inner in self.pointers:
            if inner.at + POINTER_BYTES > len(raw):
                raise Malformed("a pointer beyond its structure")
            raw[inner.at : inner.at + POINTER_BYTES] = address(inner).to_bytes(POINTER_BYTES, "little")
        return bytes(raw)


Argument = Annotated[Pointer | Integer | Float | Descriptor | Structure, Field(discriminator="kind")]


class Kernel(StrictModel):
    """A kernel as the front end of its `language` made it. Only that front end reads the `text`, the types in
    `signature` (one for each argument of a launch) and the compiler's `options`.

    `name` is the function's name in the student's file, `symbol` the name of the text's entry.
    """

    language: Name
    name: Name
    symbol: Name
    line: Line = 0
    text: Annotated[str, Field(max_length=TEXT_CHARACTERS)]
    signature: Annotated[list[Name], Field(max_length=MOST_ARGUMENTS)]
    options: Annotated[dict[Name, bool | Size | Name | None], Field(max_length=16)] = {}


class Launch(OrderedOperation):
    """The launch of a kernel: `grid` programs of `block` threads, with `shared` bytes of shared memory in
    addition to the kernel's own. A program is a cluster of `cluster` thread blocks.

    `cooperative`: all programs run at the same time. `programmatic`: it may begin before the previous launch
    ends.
    """

    op: Literal["launch"] = "launch"
    kernel: Index
    grid: tuple[Size, Size, Size]
    block: tuple[Size, Size, Size]
    shared: Size = 0
    cluster: Annotated[int, Field(ge=1, le=16)] = 1
    cooperative: bool = False
    programmatic: bool = False
    arguments: Annotated[list[Argument], Field(max_length=MOST_ARGUMENTS)]

    @property
    def threads(self) -> int:
        """Return the number of threads of a thread block."""
        return prod(self.block)


Operation = Annotated[Fill | Data | Copy | Launch, Field(discriminator="op")]
Operations = Annotated[list[Operation], Field(max_length=MOST_OPERATIONS)]


class Tuner(StrictModel):
    """An autotuner that the call used. It chooses among `candidates` configurations; this plan took number `chosen`,
    which it describes as `configuration`. `resets`: it sets or restores tensors between the configurations it tries."""

    kernel: Name
    line: Line = 0
    candidates: Annotated[int, Field(ge=1, le=1 << 16)]
    chosen: Annotated[int, Field(ge=0, lt=1 << 16)]
    configuration: Annotated[str, Field(max_length=500)] = ""
    resets: bool = False


class Plan(StrictModel):
    """The operations that a call on tensors of given shapes asks for.

    `setup` holds the file's operations on buffers during its import, none of them on a given buffer; `first` the
    operations of the first call; `steady` those of a second call right after it. They run in this order. `steady` is
    None if the second call does the same on its own temporaries and `first` uses no buffer of `setup`.

    No verdict rests on the planner's word alone: `returned`, `stale`, `tuners`, names and lines may be forged.
    `returned` is what the function returned. `stale` are lines of `setup` in which an earlier call wrote other contents
    than this call's sizes ask for. `resource_queries` lists kernels about whose registers or shared memory
    host code asked while these were unknown: the judge compiles them and plans again.
    """

    buffers: Annotated[list[Buffer], Field(max_length=MOST_BUFFERS)]
    kernels: Annotated[list[Kernel], Field(max_length=MOST_KERNELS)]
    setup: Operations = []
    first: Operations
    steady: Operations | None = None
    tuners: Annotated[list[Tuner], Field(max_length=64)] = []
    resource_queries: Annotated[list[Index], Field(max_length=MOST_KERNELS)] = []
    returned: Literal["nothing", "out", "tensor", "other"] = "nothing"
    stale: Annotated[list[Line], Field(max_length=MOST_OPERATIONS)] = []

    def calls(self) -> list[Operations]:
        """Return the operations of each call whose answer is checked: the first, and the steady call if it differs."""
        return [self.first] if self.steady is None else [self.first, self.steady]

    def call(self, number: int) -> Operations:
        """Return the operations of the first call (0) or of the steady one (1)."""
        return self.calls()[min(number, len(self.calls()) - 1)]


def memory_span(shape: Sequence[int], strides: Sequence[int] = ()) -> int:
    """Return the number of elements of memory from a tensor's first element to its last, gaps included. A tensor
    without `strides` has no gaps."""
    if not strides or not all(shape):
        return prod(shape)
    return 1 + sum((extent - 1) * stride for extent, stride in zip(shape, strides, strict=True))


def touched_buffers(operation: Operation) -> set[int]:
    """Return the buffers that an operation reads or writes."""
    match operation:
        case Fill():
            return {operation.target.buffer}
        case Data():
            return {operation.buffer}
        case Copy():
            return {operation.source.buffer, operation.target.buffer}
    return {number for argument in operation.arguments for number, _ in pointed_buffers(argument)}


def filled(operations: Sequence[Operation], buffer: int) -> tuple[int, int]:
    """Return the number of bytes that fills of a buffer set, and the line of the last fill; 0 and 0 without fills."""
    fills = [fill for fill in operations if isinstance(fill, Fill) and fill.target.buffer == buffer]
    size = sum(prod(fill.target.shape) * ITEM_BYTES[fill.target.dtype] for fill in fills)
    return size, fills[-1].line if fills else 0


def pointed_buffers(argument: Argument) -> list[tuple[int, int]]:
    """Return the buffers that an argument points to, each with the distance of the address from its start in bytes."""
    match argument:
        case Pointer():
            return [(argument.buffer, argument.offset)]
        case Descriptor():
            return [(argument.view.buffer, argument.view.offset)]
        case Structure():
            return [(inner.buffer, inner.offset) for inner in argument.pointers]
    return []


class Malformed(Exception):
    """An error: bytes that no planner of ours writes; the message says why."""


_PLAN = TypeAdapter(Plan)


def read_plan(text: bytes) -> Plan:
    """Parse a planner's answer. Raises Malformed for all bytes that are no plan."""
    if len(text) > PLAN_BYTES:
        raise Malformed(f"a plan of {len(text):,} bytes; {PLAN_BYTES:,} at most")
    try:
        return _PLAN.validate_json(text)
    except ValidationError as error:
        # A list of all errors would take a kilobyte for each.
        if error.error_count() > MOST_ERRORS:
            raise Malformed(f"{error.error_count():,} fields that no plan has") from None
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(map(str, first["loc"]))
        raise Malformed(f"{where}: {first['msg']}"[:300]) from None
    except (ValueError, RecursionError) as error:
        raise Malformed(type(error).__name__) from None


def write_plan(plan: Plan) -> bytes:
    return plan.model_dump_json().encode()
