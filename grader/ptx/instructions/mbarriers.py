"""Barriers in memory: `mbarrier` of the PTX ISA, without counts of bytes that bulk copies bring.

A barrier's eight bytes are opaque. Here the highest bit is the phase, the 31 below it are the arrivals that a phase
expects, and the low half those that it still waits for.
"""

from __future__ import annotations

import numpy as np

from grader.plan.plan import Malformed
from grader.ptx.decode import Decoder, Get, Run
from grader.ptx.instructions.memory import MEMORY, space_of
from grader.ptx.program import ThreadInstruction
from grader.ptx.state import ChunkState
from grader.ptx.types import Array, Unsupported

_WORD = np.dtype(np.uint64)
_PHASE, _EXPECTED, _LOW = np.uint64(63), np.uint64(32), np.uint64(0xFFFFFFFF)
_MOST = np.uint64((1 << 20) - 1)
_SPELLED = frozenset({
    "init", "inval", "arrive", "arrive_drop", "test_wait", "try_wait", "pending_count", "parity", "noComplete",
    "shared", "shared::cta", "shared::cluster", "release", "acquire", "relaxed", "cta", "cluster", "b64", "noinc",
    "async", "mbarrier",
})  # fmt: skip


def _barrier(decoder: Decoder, one: ThreadInstruction) -> Run:
    words = one.modifiers
    if not words or not set(words) <= _SPELLED:
        raise Unsupported(str(one))
    if words[0] == "pending_count":
        put, get = decoder.target(one.operands[0]), decoder.source(one.operands[1], "b64")
        return lambda m: put(m, (get(m) & _LOW).astype(np.uint32))
    if words[0] == "init":
        count = decoder.source(one.operands[1], "u32")
        return _stored(decoder, one, lambda m: count(m).astype(_WORD) & _MOST)
    if words[0] == "inval":
        return _stored(decoder, one, lambda m: np.zeros((1, 1), _WORD))
    if words[0] in ("arrive", "arrive_drop"):
        operands = list(one.operands)
        target = operands.pop(0) if not operands[0].startswith("[") else "_"
        number = decoder.source(operands[1], "u32") if len(operands) > 1 else None
        return _arrives(decoder, one, target, operands[0], number)
    if words[0] in ("test_wait", "try_wait"):
        return _waits(decoder, one)
    raise Malformed(str(one))


def _stored(decoder: Decoder, one: ThreadInstruction, count: Get) -> Run:
    address, space = decoder.address(one.operands[0]), space_of(one)

    def run(m: ChunkState) -> None:
        value = count(m)
        m.spaces.store(m, space, address(m), [value | value << _EXPECTED], _WORD, True)

    return run


def _arrives(decoder: Decoder, one: ThreadInstruction, target: str, place: str, number: Get | None) -> Run:
    """Gives what the barrier was before as the state; of it only the phase is asked for later."""
    address, space, put = decoder.address(place), space_of(one), decoder.target(target)
    drops = "arrive_drop" in one.modifiers

    def run(m: ChunkState) -> None:
        counts = np.ones((1, 1), np.uint32) if number is None else number(m)
        state = np.zeros(m.shape, _WORD)
        for piece in m.spaces.reach(m, space, address(m), 8, "atomic", 8):
            mask = np.broadcast_to(True if piece.mask is None else piece.mask, m.shape)
            index = np.broadcast_to(piece.offsets >> 3, m.shape)[mask]
            view = piece.region.view(_WORD)
            state[mask] = view[index]
            places, which = np.unique(index, return_inverse=True)
            arrived = np.zeros(places.size, _WORD)
            np.add.at(arrived, which, np.broadcast_to(counts, m.shape)[mask].astype(_WORD) & _MOST)
            view[places] = _after(view[places], arrived, drops)
        m.version += 1
        _told(m, None)
        put(m, state)

    return run


def _after(words: Array, arrived: Array, drops: bool) -> Array:
    """Barriers at which so many have arrived. More than a phase waits for count for the next ones."""
    phase, expected, pending = words >> _PHASE, words >> _EXPECTED & _MOST, words & _LOW
    if drops:
        expected = expected - np.minimum(arrived, expected)
    least = np.maximum(expected, np.uint64(1))
    over = arrived - np.minimum(arrived, pending)
    done = arrived >= pending
    phase = np.where(done, (phase + np.uint64(1) + over // least) & np.uint64(1), phase)
    pending = np.where(done, expected - np.minimum(over % least, expected), pending - np.minimum(arrived, pending))
    result: Array = phase << _PHASE | expected << _EXPECTED | pending
    return result


def _waits(decoder: Decoder, one: ThreadInstruction) -> Run:
    """Asks whether the phase of a state, or the one of a parity, is over. A time that it may take is not needed."""
    put, address, space = decoder.target(one.operands[0]), decoder.address(one.operands[1]), space_of(one)
    by_parity = "parity" in one.modifiers
    state = decoder.source(one.operands[2], "u32" if by_parity else "b64")
    if len(one.operands) > 3:
        decoder.source(one.operands[3], "u32")

    def run(m: ChunkState) -> None:
        now = m.spaces.load(m, space, address(m), _WORD, 1, True)[0] >> _PHASE
        given = state(m).astype(_WORD)
        over = now != (given & np.uint64(1) if by_parity else given >> _PHASE)
        if over.any():
            _told(m, over)
        put(m, over)

    return run


def _told(m: ChunkState, waited: Array | None) -> None:
    """Notes threads that have arrived, or those that do not wait any more."""
    if not m.spaces.races.checked:
        return
    # What stands in front of it in the same step is earlier.
    m.clock += 1
    mine = np.ones((1, 1), bool) if m.mask is None else m.mask
    mask = np.broadcast_to(mine if waited is None else mine & waited, m.shape)
    m.spaces.races.told(m.out(mask), m.clock, waited is not None)


def _copies(decoder: Decoder, one: ThreadInstruction) -> Run:
    """`cp.async`, and the arrival of copies at a barrier: they are made at once here, and one that the barrier did not
    expect (without .noinc) makes no difference then."""
    words = one.modifiers
    if words[:3] != ("async", "mbarrier", "arrive"):
        return MEMORY["cp"](decoder, one)
    if not set(words) <= _SPELLED:
        raise Unsupported(str(one))
    if "noinc" not in words:
        decoder.address(one.operands[0])
        return lambda m: None
    return _arrives(decoder, one, "_", one.operands[0], None)


MBARRIERS = {"mbarrier": _barrier, "cp": _copies}
