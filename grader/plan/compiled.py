"""What a compiler makes of a plan's kernels: machine code, and facts about it."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from grader.plan.device import TENSOR_CORES
from grader.plan.plan import MOST_KERNELS, Line, Shaped, Size, Text

CORES = f"^({'|'.join(['none', *(one.name for one in TENSOR_CORES)])})$"
PTX_CHARACTERS = 1 << 20
RESULT_BYTES = 48 << 20
"""What an answer of the compiler may take."""


class Width(Shaped):
    """Instructions of one width that a line of the kernel's file has become: loads or stores of global memory, by the
    bits that a thread moves with one."""

    line: Line
    access: Literal["load", "store"]
    bits: Size
    count: Size


class Facts(Shaped):
    """What the compiler's output shows of a kernel. Registers and spilled bytes are for a thread, shared memory is in
    bytes for a program. `lines` are its loads and stores of global memory, asynchronous copies among the loads."""

    registers: Size
    spills: Size
    shared: Size
    copies: Literal["none", "cp.async", "tma"] = "none"
    tensor_cores: Annotated[str, Field(pattern=CORES)] = "none"
    lines: Annotated[list[Width], Field(max_length=256)] = []


class TensorMap(Shaped):
    """How a tensor descriptor was compiled."""

    swizzle: int
    elem_size: int
    elem_type: int
    block_size: Annotated[list[int], Field(max_length=8)]
    fp4_padded: bool = False


class Metadata(Shaped):
    """What a launcher must know of a kernel, whose machine code calls it `name`. `shared` and `scratch` memory are in
    bytes for a program, which is a `cluster` of so many thread blocks. `tensor_maps` are of its descriptors, None for
    one that is given in parts; `descriptors_round`: one in parts also says whether it rounds to tf32."""

    name: Text
    shared: int
    cluster: int = 1
    scratch: int = 0
    tensor_maps: Annotated[list[TensorMap | None], Field(max_length=256)] | None = None
    descriptors_round: bool = False


class Binary(Shaped):
    """A kernel as machine code (`cubin`, base64). `ptx` is the text before the assembler, where it was asked for."""

    cubin: str
    facts: Facts
    metadata: Metadata
    ptx: Annotated[str, Field(max_length=PTX_CHARACTERS)] = ""


class Fits(Shaped):
    """A kernel that the target can start, as far as its shared memory tells, in bytes for a program."""

    shared: Size


class Problem(Shaped):
    """A kernel that the compiler gave up on.

    "shared_memory": a program needs more of it than the target has, `shared` bytes; "malformed": a text that no planner
    of ours writes; "compiler" and "assembler" (ptxas) refuse it; "too_slow": it would have taken too long; "no_turn":
    all of them together would have; "crash": the compiler's process ended.
    """

    why: Literal["shared_memory", "malformed", "compiler", "assembler", "too_slow", "no_turn", "crash"] = "compiler"
    message: Text
    line: Annotated[int, Field(ge=0)] = 0
    shared: Size = 0


class Binaries(Shaped):
    """One for each kernel of the request, in its order."""

    kernels: Annotated[list[Binary | Fits | Problem], Field(max_length=MOST_KERNELS)]
