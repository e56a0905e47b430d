"""Barriers in memory, with separate steps to arrive and to wait: see `mbarrier` of the PTX ISA.

A barrier is a word of 64 bits. From the lowest bits on it holds the number of threads that have yet to arrive, the
number of threads of each phase, the bytes that copies have yet to bring, and in the highest bit the phase's parity.
Data of bulk copies arrives when a thread tests the barrier: see `grader.simulation.ptx.transfers`.
"""

from __future__ import annotations

import numpy as np

from grader.plan.plan import Malformed
from grader.simulation.ptx.decode import Decoder, Run
from grader.simulation.ptx.instructions.memory import signal, space_of
from grader.simulation.ptx.program import ThreadInstruction
from grader.simulation.ptx.state import ChunkState
from grader.simulation.ptx.transfers import FIELD, PENDING, PHASE, after
from grader.simulation.ptx.types import DTYPES, Unsupported

_WORD = DTYPES["b64"]
_ARRIVALS = frozenset({
    "arrive", "expect_tx", "complete_tx", "release", "relaxed", "noComplete", "cta", "cluster", "shared", "shared::cta",
    "b64"})


def _mbarrier(decoder: Decoder, one: ThreadInstruction) -> Run:
    what = one.modifiers[0] if one.modifiers else ""
    if what == "init":
        return _init(decoder, one)
    if what == "inval":
        return lambda m: None
    if what in ("arrive", "expect_tx", "complete_tx") and set(one.modifiers) <= _ARRIVALS:
        named = not one.operands[0].startswith("[")
        return arrival(decoder, one, one.operands[0] if named else "_", one.operands[named:])
    if what in ("test_wait", "try_wait"):
        return _wait(decoder, one)
    raise Unsupported(str(one))


def _init(decoder: Decoder, one: ThreadInstruction) -> Run:
    address, space = decoder.address(one.operands[0]), space_of(one)
    count = decoder.source(one.operands[1], "u32")

    def run(m: ChunkState) -> None:
        expected = count(m).astype(np.uint64) & PENDING
        m.spaces.store(m, space, address(m), [expected | expected << FIELD], _WORD, True)

    return run


def arrival(decoder: Decoder, one: ThreadInstruction, state: str, operands: tuple[str, ...]) -> Run:
    """Build the arrival of threads at the barrier of the first operand. The second operand is the number of arrivals of
    each thread, 1 by default; for `expect_tx` and `complete_tx` it is the bytes that are to come or have come."""
    if not operands:
        raise Malformed(f"{one} without a barrier")
    address, space = decoder.address(operands[0]), space_of(one)
    count = decoder.source(operands[1], "u32") if len(operands) > 1 else None
    put = decoder.target(state)
    bytes_ = {"expect_tx": 1, "complete_tx": -1}.get(one.modifiers[1 if one.modifiers[0] == "arrive" else 0], 0)
    arrives = "arrive" in one.modifiers

    def run(m: ChunkState) -> None:
        before = np.zeros(m.shape, np.uint64)
        for piece in m.spaces.reach(m, space, address(m), 8, "atomic", 8):
            mask = np.broadcast_to(True if piece.mask is None else piece.mask, m.shape)
            index = np.broadcast_to(piece.offsets >> 3, m.shape)[mask]
            words = piece.region.view(_WORD)
            before[mask] = words[index]
            own = np.ones((1, 1), np.uint32) if count is None else count(m)
            own = np.broadcast_to(own, m.shape)[mask].astype(np.int64)
            places, at = np.unique(index, return_inverse=True)
            arrived, due = np.zeros((2, places.size), np.int64)
            np.add.at(arrived, at, arrives if bytes_ else own)
            np.add.at(due, at, bytes_ * own)
            words[places] = after(words[places], arrived, due)
        m.version += 1
        put(m, before)
        signal(m, "arrive")

    return run


def _wait(decoder: Decoder, one: ThreadInstruction) -> Run:
    put, address, space = decoder.target(one.operands[0]), decoder.address(one.operands[1]), space_of(one)
    parity = "parity" in one.modifiers
    state = decoder.source(one.operands[2], "u32" if parity else "b64")

    def run(m: ChunkState) -> None:
        at = address(m)
        if m.spaces.transfers.due:
            for piece in m.spaces.reach(m, space, at, 8, "load", 8):
                m.spaces.transfers.arrive(m, piece, m.spaces.races.unit)
        (word,) = m.spaces.load(m, space, at, _WORD, 1, True)
        given = state(m) & np.uint32(1) != 0 if parity else state(m) & PHASE != 0
        over = (word & PHASE != 0) != given
        put(m, over)
        passed = over if m.mask is None else over & m.mask
        if passed.any():
            signal(m, "wait", mask=passed)
        if not (over if m.mask is None else over | ~m.mask).all():
            m.vain = m.version

    return run


PHASES = {"mbarrier": _mbarrier}
