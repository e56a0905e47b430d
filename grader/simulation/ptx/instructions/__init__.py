"""Builders of instructions, by the instruction's name."""

from __future__ import annotations

from collections.abc import Callable

from grader.simulation.ptx.decode import Decoder, Run
from grader.simulation.ptx.instructions.copies import COPIES, MBARRIERS, TENSOR_MAPS
from grader.simulation.ptx.instructions.matrices import MATRICES, WARPGROUPS
from grader.simulation.ptx.instructions.memory import ATOMICS, MEMORY
from grader.simulation.ptx.instructions.pure import MOVES, pure_builder
from grader.simulation.ptx.instructions.synchronising import SYNCHRONISING, WARP_WIDE
from grader.simulation.ptx.lanes import Unsupported
from grader.simulation.ptx.program import ThreadInstruction
from grader.simulation.ptx.values import PURE

Builder = Callable[[Decoder, ThreadInstruction], Run]

_BUILDERS: dict[str, Builder] = {
    **MEMORY, **COPIES, **MOVES, **ATOMICS, **WARP_WIDE, **MATRICES, **SYNCHRONISING, **MBARRIERS,
    **TENSOR_MAPS, **WARPGROUPS}


def builder(name: str) -> Builder:
    """Return the builder of an instruction of this name, which makes it ready to run. Raises Unsupported."""
    if (state := _BUILDERS.get(name)) is not None:
        return state
    if (maker := PURE.get(name)) is not None:
        return pure_builder(maker)
    raise Unsupported(f"the instruction {name[:60]}")
