"""Barriers and fences, apart from the waiting of threads, which `Barriers` decides."""

from __future__ import annotations

import numpy as np

from grader.plan.plan import Malformed
from grader.simulation.ptx.decode import Decoder, Run
from grader.simulation.ptx.instructions.memory import signal, synchronise
from grader.simulation.ptx.program import ThreadInstruction
from grader.simulation.ptx.state import ChunkState
from grader.simulation.ptx.types import Unsupported


def _bar(decoder: Decoder, one: ThreadInstruction) -> Run:
    words = one.modifiers
    if one.name == "barrier" and words[:1] == ("cluster",):
        # A cluster is one block here, and its threads all run in step.
        return lambda m: None
    if words[:1] == ("warp",):
        decoder.source(one.operands[0], "b32")
        return _meet_warp
    if "arrive" in words:
        if len(one.operands) != 2:
            raise Malformed(f"{one} with other operands")
        barriers, _ = (decoder.source(operand, "u32") for operand in one.operands)

        def arrive(m: ChunkState) -> None:
            mask, numbers = m.active, barriers(m)
            both, here = np.broadcast_arrays(numbers, mask)
            for number in np.unique(both[here]):
                m.arrive(int(number), m.out(mask & (numbers == number)))

        return arrive
    if "red" in words:
        decoder.target(one.operands[0])
        decoder.source(one.operands[-1], "pred")
    elif "sync" not in words:
        raise Unsupported(str(one))
    for operand in one.operands["red" in words : len(one.operands) - ("red" in words)]:
        decoder.source(operand, "b32")
    return lambda m: None


def _meet_warp(m: ChunkState) -> None:
    if m.spaces.races.checked:
        m.spaces.races.met(m.out(m.active), m.clock, False)


def _fence(decoder: Decoder, one: ThreadInstruction) -> Run:
    words = {word.partition("::")[0] for word in one.modifiers}
    if "proxy" in words:
        return lambda m: None

    def fence(m: ChunkState) -> None:
        signal(m, "fence")
        if "cta" not in words:
            synchronise(m, fence=True)

    return fence


def _nothing(decoder: Decoder, one: ThreadInstruction) -> Run:
    """Build an instruction that does nothing, such as `griddepcontrol`: launches run one after another here."""
    return lambda m: None


def _setmaxnreg(decoder: Decoder, one: ThreadInstruction) -> Run:
    """Build a request for registers, which waits until another warpgroup of the block gives as many back."""
    given_back = any(other.name == "setmaxnreg" and "dec" in other.modifiers for other in decoder.function.code)
    if "inc" in one.modifiers and not given_back:
        raise Unsupported(f"{one}, where no warpgroup gives registers back")
    return _nothing(decoder, one)


SYNCHRONISING = {"bar": _bar, "barrier": _bar, "membar": _fence, "fence": _fence, "nanosleep": _nothing,
                 "griddepcontrol": _nothing, "brkpt": _nothing, "pmevent": _nothing, "setmaxnreg": _setmaxnreg}
