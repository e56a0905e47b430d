"""A compiler's answer for a plan's kernels: machine code, and facts about it."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from grader.plan.device import TENSOR_CORES
from grader.plan.plan import MOST_DIMENSIONS, MOST_KERNELS, Index, Line, Shaped, Size, Text

CORES = f"^({'|'.join(['none', *(one.name for one in TENSOR_CORES)])})$"
PTX_CHARACTERS = 1 << 20
RESULT_BYTES = 48 << 20
"""The largest answer of a compiler."""


class Width(Shaped):
    """The instructions that a line of the kernel's file has become: `count` loads or stores of global memory, each of
    which moves `bits` for a thread."""

    line: Line
    access: Literal["load", "store"]
    bits: Size
    count: Size


class Facts(Shaped):
    """Facts about a kernel that the compiler's output shows. Registers and spilled bytes are for a thread, shared
    memory is in bytes for a program. `lines` are its loads and stores of global memory; asynchronous copies count as
    loads."""

    registers: Size
    spills: Size
    shared: Size
    copies: Literal["none", "cp.async", "tma"] = "none"
    tensor_cores: Annotated[str, Field(pattern=CORES)] = "none"
    lines: Annotated[list[Width], Field(max_length=256)] = []


class Plain(Shaped):
    """The launch's argument of this index, unchanged."""

    kind: Literal["plain"] = "plain"
    argument: Index


class TensorMap(Shaped):
    """The descriptor of this index as a tensor map (TMA), in the CUDA driver's numbers: `CUtensorMapDataType` and
    `CUtensorMapSwizzle` in cuda.h. `fp4_padded`: two elements lie in a byte."""

    kind: Literal["map"] = "map"
    argument: Index
    swizzle: int
    elem_size: int
    elem_type: int
    block_size: Annotated[list[int], Field(max_length=8)]
    fp4_padded: bool = False


class DescriptorPart(Shaped):
    """A part of the descriptor of this index: its address, its size or stride (in elements) along an axis, or whether
    it pads with NaN. `type` is the number's."""

    kind: Literal["part"] = "part"
    argument: Index
    of: Literal["address", "size", "stride", "nan"]
    axis: Annotated[int, Field(ge=0, lt=MOST_DIMENSIONS)] = 0
    type: Literal["i1", "i32", "i64", "u64"]


class ScratchAddress(Shaped):
    """The address of scratch memory for the launch, `bytes` for each program; null if that is 0. A kernel takes at most
    one."""

    kind: Literal["scratch"] = "scratch"
    bytes: Size


class Zeros(Shaped):
    """An operand of zeros, for features of the machine code that no launch uses."""

    kind: Literal["zeros"] = "zeros"
    bytes: Annotated[int, Field(ge=1, le=4096)]


Operand = Annotated[Plain | TensorMap | DescriptorPart | ScratchAddress | Zeros, Field(discriminator="kind")]


class Metadata(Shaped):
    """Facts that a launcher needs of a kernel. `name` is its name in the machine code, `shared` its shared memory in
    bytes for a program, which is a `cluster` of so many thread blocks. `operands` are those of the machine code, in
    order: everything that a language makes of a launch's arguments, or adds to them, so that a launcher adds nothing.
    """

    name: Text
    shared: int
    cluster: int = 1
    operands: Annotated[list[Operand], Field(max_length=2048)]


class Binary(Shaped):
    """A kernel as machine code (`cubin`, base64). `ptx` is the assembler's input, if it was requested."""

    cubin: str
    facts: Facts
    metadata: Metadata
    ptx: Annotated[str, Field(max_length=PTX_CHARACTERS)] = ""


class Fits(Shaped):
    """A kernel whose shared memory the target has: `shared` bytes for a program."""

    shared: Size


Reason = Literal[
    "shared_memory", "malformed", "compiler", "assembler", "too_slow", "no_turn", "crash", "too_large",
]  # fmt: skip
"""The reasons for a compiler to give up: see `Problem`."""


class Problem(Shaped):
    """A kernel that the compiler gave up on.

    "shared_memory": a program needs more of it than the target has, `shared` bytes; "malformed": a text that no planner
    of ours writes; "compiler" and "assembler" (ptxas) refuse it; "too_slow": it would have taken too long; "no_turn":
    all of them together would have; "crash": the compiler's process ended; "too_large": the answer has no room for its
    machine code.
    """

    why: Reason = "compiler"
    message: Text
    line: Annotated[int, Field(ge=0)] = 0
    shared: Size = 0


class Binaries(Shaped):
    """An answer for each kernel of the request, in its order."""

    kernels: Annotated[list[Binary | Fits | Problem], Field(max_length=MOST_KERNELS)]
