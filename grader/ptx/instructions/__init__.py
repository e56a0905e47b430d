"""Builders of instructions, by the instruction's name."""

from __future__ import annotations

from collections.abc import Callable

from grader.ptx.decode import Decoder, Run
from grader.ptx.instructions.atomics import ATOMICS
from grader.ptx.instructions.bulk import TENSOR_MAPS
from grader.ptx.instructions.copies import COPIES
from grader.ptx.instructions.lanes import WARP_WIDE
from grader.ptx.instructions.matrices import MATRICES
from grader.ptx.instructions.memory import MEMORY
from grader.ptx.instructions.moves import MOVES
from grader.ptx.instructions.phases import PHASES
from grader.ptx.instructions.pure import pure_builder
from grader.ptx.instructions.synchronising import SYNCHRONISING
from grader.ptx.instructions.warpgroups import WARPGROUPS
from grader.ptx.program import ThreadInstruction
from grader.ptx.types import Unsupported
from grader.ptx.values import PURE

Builder = Callable[[Decoder, ThreadInstruction], Run]

_BUILDERS: dict[str, Builder] = {
    **MEMORY, **COPIES, **MOVES, **ATOMICS, **WARP_WIDE, **MATRICES, **SYNCHRONISING, **PHASES,
    **TENSOR_MAPS, **WARPGROUPS}


def builder(name: str) -> Builder:
    """Return the builder of an instruction of this name, which makes it ready to run. Raises Unsupported."""
    if (found := _BUILDERS.get(name)) is not None:
        return found
    if (pure := PURE.get(name)) is not None:
        return pure_builder(pure)
    raise Unsupported(f"the instruction {name[:60]}")
