"""A compiler's answer for a plan's kernels: machine code, and facts about it."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from grader.plan.device import TENSOR_CORES
from grader.plan.plan import MOST_DIMENSIONS, MOST_KERNELS, Index, Line, Size, StrictModel, Text

CORES = f"^({'|'.join(['none', *(cores.name for cores in TENSOR_CORES)])})$"
PTX_CHARACTERS = 1 << 20
RESULT_BYTES = 48 << 20
"""The largest answer of a compiler."""


class Width(StrictModel):
    """The loads or stores of global memory that a line of the kernel's file is compiled to: `count` instructions, each
    of which moves `bits` for a thread."""

    line: Line
    access: Literal["load", "store"]
    bits: Size
    count: Size


class Facts(StrictModel):
    """Facts about a kernel from the compiler's output: registers and spilled bytes of a thread, bytes of shared memory
    of a program. `lines` are the kernel's loads and stores of global memory; asynchronous copies count as loads."""

    registers: Size
    spills: Size
    shared: Size
    copies: Literal["none", "cp.async", "tma"] = "none"
    tensor_cores: Annotated[str, Field(pattern=CORES)] = "none"
    lines: Annotated[list[Width], Field(max_length=256)] = []


class PlainArgument(StrictModel):
    """The launch's argument with this index, unchanged."""

    kind: Literal["plain"] = "plain"
    argument: Index


class TensorMap(StrictModel):
    """The descriptor with this index as a tensor map (TMA), in the CUDA driver's numbers: `CUtensorMapDataType` and
    `CUtensorMapSwizzle` in cuda.h. `fp4_padded`: two elements lie in a byte."""

    kind: Literal["map"] = "map"
    argument: Index
    swizzle: int
    elem_size: int
    elem_type: int
    block_size: Annotated[list[int], Field(max_length=8)]
    fp4_padded: bool = False


class DescriptorPart(StrictModel):
    """A part of the descriptor with this index: its address, its size or stride (in elements) along an axis, or a flag
    that says whether it pads with NaN. `type` is the type of that number."""

    kind: Literal["part"] = "part"
    argument: Index
    of: Literal["address", "size", "stride", "nan"]
    axis: Annotated[int, Field(ge=0, lt=MOST_DIMENSIONS)] = 0
    type: Literal["i1", "i32", "i64", "u64"]


class ScratchAddress(StrictModel):
    """The address of scratch memory for the launch, `bytes` for each program; null if `bytes` is 0. A kernel takes at
    most one such address."""

    kind: Literal["scratch"] = "scratch"
    bytes: Size


class Zeros(StrictModel):
    """An operand of zeros, for features of the machine code that no launch uses."""

    kind: Literal["zeros"] = "zeros"
    bytes: Annotated[int, Field(ge=1, le=4096)]


Operand = Annotated[PlainArgument | TensorMap | DescriptorPart | ScratchAddress | Zeros, Field(discriminator="kind")]


class Metadata(StrictModel):
    """Facts about a kernel that a launcher needs. `name` is its name in the machine code, `shared` the bytes of shared
    memory of a program, `cluster` the number of thread blocks of a program. `operands` are all operands of the machine
    code, in order, with the operands that a language adds to a launch's arguments: a launcher adds nothing."""

    name: Text
    shared: int
    cluster: int = 1
    operands: Annotated[list[Operand], Field(max_length=2048)]


class Binary(StrictModel):
    """A kernel as machine code (`cubin`, base64). `ptx` is the assembler's input, if it was requested."""

    cubin: str
    facts: Facts
    metadata: Metadata
    ptx: Annotated[str, Field(max_length=PTX_CHARACTERS)] = ""


class Fits(StrictModel):
    """A kernel that the target can start: a program takes `shared` bytes of shared memory. `shared` is also 0 for a
    kernel so small that nobody computes it."""

    shared: Size


Reason = Literal[
    "shared_memory", "malformed", "compiler", "assembler", "too_slow", "out_of_time", "crash", "too_large",
]  # fmt: skip
"""The reasons for a compiler to give up: see `Problem`."""


class Problem(StrictModel):
    """A kernel that the compiler gave up on.

    "shared_memory": a program needs `shared` bytes of shared memory, more than the target has; "malformed": no planner
    of ours writes such a text; "compiler", "assembler": the compiler or the assembler (ptxas) refuses the kernel;
    "too_slow": the kernel takes too long; "out_of_time": all kernels of the request together take too long; "crash":
    the compiler's process ended; "too_large": the answer has no room for the machine code.
    """

    why: Reason = "compiler"
    message: Text
    line: Annotated[int, Field(ge=0)] = 0
    shared: Size = 0


class Binaries(StrictModel):
    """The answers for the kernels of a request, in the order of the request."""

    kernels: Annotated[list[Binary | Fits | Problem], Field(max_length=MOST_KERNELS)]
