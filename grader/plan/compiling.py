"""The messages to and from a compiler. `grader.plan.messages` has the contents of requests, `grader.plan.compiled` the
compiler's answers."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, TypeAdapter

from grader.plan.plan import Size
from grader.plan.wire import Message


class Compile(Message):
    """A request to compile kernels for a target. Descriptor 0 holds `Kernels`, `bytes` long; descriptor 1 takes
    `Binaries`.

    Each kernel has `seconds` of processor time, and its assembler as many. The whole request has `in_all` seconds of
    the clock; a kernel that is not compiled by then is a `Problem` ("out_of_time"). `ptx`: with the PTX.
    """

    op: Literal["compile"] = "compile"
    bytes: Size
    seconds: Annotated[int, Field(ge=1, le=3600)] = 40
    in_all: Annotated[float, Field(gt=0, le=3600)] = 100.0
    target: Annotated[str, Field(pattern=r"^sm_\d{2,3}$")]
    ptx: bool = False


class Canonicalise(Message):
    """A request to parse texts with the language's compiler and print them again. Descriptor 0 holds `Texts`, `bytes`
    long; descriptor 1 takes as many `Texts`, "" for a text that the compiler does not accept."""

    op: Literal["canonicalise"] = "canonicalise"
    bytes: Size
    target: Annotated[str, Field(pattern=r"^sm_\d{2,3}$")]


class Compiled(Message):
    op: Literal["compiled"] = "compiled"
    bytes: Size


COMPILER_REQUEST: TypeAdapter[Compile | Canonicalise] = TypeAdapter(
    Annotated[Compile | Canonicalise, Field(discriminator="op")])
COMPILER_REPLY: TypeAdapter[Compiled] = TypeAdapter(Compiled)
