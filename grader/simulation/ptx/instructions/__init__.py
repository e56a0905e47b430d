"""Builders of instructions, by the instruction's name."""

from __future__ import annotations

from collections.abc import Callable

from grader.simulation.ptx.decode import Decoder, Run
from grader.simulation.ptx.instructions.atomics import ATOMICS
from grader.simulation.ptx.instructions.bulk import TENSOR_MAPS
from grader.simulation.ptx.instructions.copies import COPIES
from grader.simulation.ptx.instructions.lanes import WARP_WIDE
from grader.simulation.ptx.instructions.matrices import MATRICES
from grader.simulation.ptx.instructions.memory import MEMORY
from grader.simulation.ptx.instructions.moves import MOVES
from grader.simulation.ptx.instructions.phases import PHASES
from grader.simulation.ptx.instructions.pure import pure_builder
from grader.simulation.ptx.instructions.synchronising import SYNCHRONISING
from grader.simulation.ptx.instructions.warpgroups import WARPGROUPS
from grader.simulation.ptx.program import ThreadInstruction
from grader.simulation.ptx.types import Unsupported
from grader.simulation.ptx.values import PURE

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
