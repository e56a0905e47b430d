"""Instructions that the lanes of a warp execute together."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import numpy as np

from grader.plan.plan import Malformed
from grader.simulation.ptx.decode import Decoder, Get, Run
from grader.simulation.ptx.lanes import WARP, unwarped, warps
from grader.simulation.ptx.program import ThreadInstruction
from grader.simulation.ptx.state import ChunkState
from grader.simulation.ptx.types import DTYPES, Array, Unsupported

_LANES = np.arange(WARP, dtype=np.int64)
_ABSENT: Literal["index"] = "index"
_LEFT: Literal["divergent"] = "divergent"
_BITS = np.uint32(1) << np.arange(WARP, dtype=np.uint32)


def _active(m: ChunkState) -> Array:
    """Return the lanes that take part, as (blocks, warps, lanes)."""
    return warps(m.active, m.shape)


def _sources(mode: str, lane: Array, clamp: Array) -> tuple[Array, Array]:
    """Return the lane that each lane reads from, and whether that is in the lane's segment of the warp. `lane` is
    operand b of `shfl`, `clamp` operand c."""
    limit, segment = clamp & 31, clamp >> 8 & 31
    top = (_LANES & segment) | (limit & ~segment)
    if mode == "up":
        source = _LANES - lane
        return source, source >= top
    source = {"down": _LANES + lane, "bfly": _LANES ^ lane}.get(mode, (_LANES & segment) | (lane & ~segment & 31))
    return source, source <= top


def _shfl(decoder: Decoder, one: ThreadInstruction) -> Run:
    if one.modifiers[0] != "sync" or one.modifiers[1] not in ("up", "down", "bfly", "idx"):
        raise Unsupported(str(one))
    mode = one.modifiers[1]
    names = [name.strip() for name in one.operands[0].split("|")]
    puts = [decoder.target(name) for name in names]
    value, lane, clamp = (decoder.source(operand, "b32") for operand in one.operands[1:4])
    # `Barriers` reads a mask in a register, so the register has to count as read.
    decoder.source(one.operands[4], "b32")

    def run(m: ChunkState) -> None:
        by, limit = (np.broadcast_to(get(m), m.shape) for get in (lane, clamp))
        same = by.size and (by == by[:1, :1]).all() and (limit == limit[:1, :1]).all()
        b, c = (one[:1, :1, None] if same else warps(one, m.shape) for one in (by, limit))
        source, inside = _sources(mode, (b & np.uint32(31)).astype(np.int64), c.astype(np.int64))
        source = np.where(inside, source, _LANES)
        held = warps(value(m), m.shape)
        if m.mask is not None or m.shape[1] % WARP:
            _check(m, source)
        taken = held[..., source[0, 0]] if same else np.take_along_axis(held, np.broadcast_to(source, held.shape), 2)
        puts[0](m, unwarped(taken, m.shape))
        if len(puts) > 1:
            puts[1](m, unwarped(np.broadcast_to(inside, held.shape), m.shape))
        meet(m)

    return run


def _check(m: ChunkState, source: Array) -> None:
    """Record lanes that read from a lane which the block does not have, or which does not take part."""
    active, every = _active(m), warps(np.ones((1, 1), bool), m.shape)
    source = np.broadcast_to(source, active.shape)
    for there, what in ((every, _ABSENT), (active, _LEFT)):
        missing = active & ~np.take_along_axis(there, source, 2)
        if missing.any():
            block = int(np.argmax(missing.any((1, 2))))
            m.findings.undefined(m.spot(), what, numbers=[int(m.spot().numbers[block])], certain=False)
            return


def _parties(m: ChunkState, get: Get) -> Array | None:
    """Return the lanes that take part with each lane, by the instruction's mask: (blocks, warps, lanes, lanes). None if
    every mask names all active lanes. Several parts of a warp may be here at once, each with its own mask."""
    mask = get(m)
    if mask.size == 1 and int(mask.flat[0]) == 0xFFFFFFFF:
        return None
    active, given = _active(m), warps(mask, m.shape)
    named = (given[..., None] & _BITS) != 0
    return None if (named | ~active[..., None, :]).all() else named & active[..., None, :]


def meet(m: ChunkState) -> None:
    """Record for the race detector that the active lanes of a warp have met."""
    mask = m.active
    if m.spaces.races.checked:
        m.spaces.races.met(m.out(mask), m.clock, False)


def _vote(decoder: Decoder, one: ThreadInstruction) -> Run:
    what = next((word for word in one.modifiers if word in ("all", "any", "uni", "ballot")), "")
    if not what:
        raise Unsupported(str(one))
    put, get = decoder.target(one.operands[0]), decoder.source(one.operands[1], "pred")
    member = decoder.source(one.operands[2], "b32") if len(one.operands) > 2 else None

    def run(m: ChunkState) -> None:
        active, value = _active(m), warps(get(m), m.shape)
        parties = None if member is None else _parties(m, member)
        if parties is not None:
            active, value = parties, value[..., None, :]
        if what == "ballot":
            result = _ballot(value & active)
        else:
            every, some = (value | ~active).all(-1), (value & active).any(-1)
            result = {"all": every, "any": some, "uni": every | ~some}[what]
        put(m, unwarped(result if parties is not None else result[..., None], m.shape))
        meet(m)

    return run


def _ballot(value: Array) -> Array:
    return np.where(value, _BITS, np.uint32(0)).sum(-1, dtype=np.uint32)


def _activemask(decoder: Decoder, one: ThreadInstruction) -> Run:
    put = decoder.target(one.operands[0])
    return lambda m: put(m, unwarped(_ballot(_active(m))[..., None], m.shape))


def _match(decoder: Decoder, one: ThreadInstruction) -> Run:
    kind, every = one.modifiers[-1], "all" in one.modifiers
    names = [name.strip() for name in one.operands[0].split("|")]
    puts = [decoder.target(name) for name in names]
    get = decoder.source(one.operands[1], kind)
    member = decoder.source(one.operands[2], "b32")

    def run(m: ChunkState) -> None:
        value, parties = warps(get(m), m.shape), _parties(m, member)
        active = _active(m)[..., None, :] if parties is None else parties
        same = (value[..., :, None] == value[..., None, :]) & active
        found = np.where(same, _BITS, np.uint32(0)).sum(3, dtype=np.uint32)
        if every:
            agreed = (same == active).all(3)
            found = np.where(agreed, found, np.uint32(0))
            if len(puts) > 1:
                puts[1](m, unwarped(agreed, m.shape))
        puts[0](m, unwarped(found, m.shape))
        meet(m)

    return run


_REDUCTIONS: dict[str, Callable[[Array, Array], Array]] = {
    "add": lambda value, active: np.where(active, value, value.dtype.type(0)).sum(-1, dtype=value.dtype),
    "and": lambda value, active: np.bitwise_and.reduce(np.where(active, value, ~value.dtype.type(0)), -1),
    "or": lambda value, active: np.bitwise_or.reduce(np.where(active, value, value.dtype.type(0)), -1),
    "xor": lambda value, active: np.bitwise_xor.reduce(np.where(active, value, value.dtype.type(0)), -1),
    "min": lambda value, active: np.where(active, value, np.iinfo(value.dtype).max).min(-1),
    "max": lambda value, active: np.where(active, value, np.iinfo(value.dtype).min).max(-1),
}


def _redux(decoder: Decoder, one: ThreadInstruction) -> Run:
    what = next((word for word in one.modifiers if word in _REDUCTIONS), "")
    kind = one.modifiers[-1]
    if not what or DTYPES[kind].kind == "f":
        raise Unsupported(str(one))
    put, get = decoder.target(one.operands[0]), decoder.source(one.operands[1], kind)
    member = decoder.source(one.operands[2], "b32")

    def run(m: ChunkState) -> None:
        value, parties = warps(get(m), m.shape), _parties(m, member)
        if parties is None:
            result = np.asarray(_REDUCTIONS[what](value, _active(m)))[..., None]
        else:
            result = np.asarray(_REDUCTIONS[what](value[..., None, :], parties))
        put(m, unwarped(result.astype(value.dtype), m.shape))
        meet(m)

    return run


def _elect(decoder: Decoder, one: ThreadInstruction) -> Run:
    names = [name.strip() for name in one.operands[0].split("|")]
    if len(names) != 2:
        raise Malformed(f"{one} without a predicate")
    number, chosen = (decoder.target(name) for name in names)
    decoder.source(one.operands[1], "b32")

    def run(m: ChunkState) -> None:
        first = _active(m).argmax(2)[..., None]
        number(m, unwarped(first.astype(np.uint32), m.shape))
        chosen(m, unwarped(first == _LANES, m.shape))

    return run


WARP_WIDE = {"shfl": _shfl, "vote": _vote, "activemask": _activemask, "match": _match, "redux": _redux,
             "elect": _elect}
