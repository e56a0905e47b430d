"""Barriers in memory, which threads arrive at and wait for in two steps: see `mbarrier` of the PTX ISA.

A barrier is a word: its low bits count the threads that are still to come, the next ones those of each phase, and the
highest bit is the phase's parity. Bytes that copies bring are not counted, as copies are made at once.
"""

from __future__ import annotations

import numpy as np

from grader.plan.plan import Malformed
from grader.ptx.decode import Decoder, Run
from grader.ptx.instructions.memory import space_of
from grader.ptx.program import ThreadInstruction
from grader.ptx.state import ChunkState
from grader.ptx.types import DTYPES, Array, Unsupported

_FIELD = 20
_COUNT = np.uint64((1 << _FIELD) - 1)
_SHIFT = np.uint64(_FIELD)
_PHASE = np.uint64(1 << 63)
_WORD = DTYPES["b64"]
_ARRIVALS = frozenset({"arrive", "release", "relaxed", "noComplete", "cta", "shared", "shared::cta", "b64"})


def _mbarrier(decoder: Decoder, one: ThreadInstruction) -> Run:
    what = one.modifiers[0] if one.modifiers else ""
    if what == "init":
        return _init(decoder, one)
    if what == "inval":
        return lambda m: None
    if what == "arrive" and set(one.modifiers) <= _ARRIVALS:
        named = not one.operands[0].startswith("[")
        return arrival(decoder, one, one.operands[0] if named else "_", one.operands[named:])
    if what in ("test_wait", "try_wait"):
        return _wait(decoder, one)
    raise Unsupported(str(one))


def _init(decoder: Decoder, one: ThreadInstruction) -> Run:
    address, space = decoder.address(one.operands[0]), space_of(one)
    count = decoder.source(one.operands[1], "u32")

    def run(m: ChunkState) -> None:
        expected = count(m).astype(np.uint64) & _COUNT
        m.spaces.store(m, space, address(m), [expected | expected << _SHIFT], _WORD, True)

    return run


def arrival(decoder: Decoder, one: ThreadInstruction, state: str, operands: tuple[str, ...]) -> Run:
    """Threads that arrive at the barrier of the first operand, each as often as the second says."""
    if not operands:
        raise Malformed(f"{one} without a barrier")
    address, space = decoder.address(operands[0]), space_of(one)
    count = decoder.source(operands[1], "u32") if len(operands) > 1 else None
    put = decoder.target(state)

    def run(m: ChunkState) -> None:
        before = np.zeros(m.shape, np.uint64)
        for piece in m.spaces.reach(m, space, address(m), 8, "atomic", 8):
            mask = np.broadcast_to(True if piece.mask is None else piece.mask, m.shape)
            index = np.broadcast_to(piece.offsets >> 3, m.shape)[mask]
            words = piece.region.view(_WORD)
            before[mask] = words[index]
            own = np.ones((1, 1), np.uint32) if count is None else count(m)
            places, at = np.unique(index, return_inverse=True)
            arrived = np.zeros(places.size, np.uint64)
            np.add.at(arrived, at, np.broadcast_to(own, m.shape)[mask].astype(np.uint64))
            words[places] = _after(words[places], arrived)
        m.version += 1
        put(m, before)
        _told(m, np.ones((1, 1), bool) if m.mask is None else m.mask, False)

    return run


def _after(words: Array, arrived: Array) -> Array:
    """Barriers after so many threads have arrived."""
    pending, expected = words & _COUNT, words >> _SHIFT & _COUNT
    turns = arrived >= pending
    left = np.where(turns, expected, pending - arrived)
    phase = np.where(turns, words ^ _PHASE, words) & _PHASE
    return phase | expected << _SHIFT | left


def _wait(decoder: Decoder, one: ThreadInstruction) -> Run:
    put, address, space = decoder.target(one.operands[0]), decoder.address(one.operands[1]), space_of(one)
    parity = "parity" in one.modifiers
    state = decoder.source(one.operands[2], "u32" if parity else "b64")

    def run(m: ChunkState) -> None:
        (word,) = m.spaces.load(m, space, address(m), _WORD, 1, True)
        given = state(m) & np.uint32(1) != 0 if parity else state(m) & _PHASE != 0
        over = (word & _PHASE != 0) != given
        put(m, over)
        passed = over if m.mask is None else over & m.mask
        if passed.any():
            _told(m, passed, True)

    return run


def _told(m: ChunkState, mask: Array, waits: bool) -> None:
    """Notes threads that have arrived, or those that do not wait any more."""
    if m.spaces.races.checked:
        # What stands in front of it in the same step is earlier.
        m.clock += 1
        m.spaces.races.told(m.out(np.broadcast_to(mask, m.shape)), m.clock, waits)


PHASES = {"mbarrier": _mbarrier}
