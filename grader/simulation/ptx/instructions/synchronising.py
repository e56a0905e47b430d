"""Instructions that the lanes of a warp execute together, and barriers and fences, apart from the waiting of
threads, which `Barriers` decides."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Literal

import numpy as np

from grader.plan.plan import Malformed
from grader.simulation.ptx.decode import Decoder, Get, Run
from grader.simulation.ptx.instructions.memory import in_grid, nothing, signal
from grader.simulation.ptx.lanes import DTYPES, WARP, Array, Unsupported, unwarped, warps
from grader.simulation.ptx.program import ThreadInstruction

if TYPE_CHECKING:
    from grader.simulation.ptx.machine import Machine


_LANES = np.arange(WARP, dtype=np.int64)
_OUTSIDE: Literal["index"] = "index"
_INACTIVE: Literal["inactive"] = "inactive"
_ANYTHING = np.uint32(0x5A5A5A5A)
"""The bits of a lane that takes no part in a shuffle, on another device: a large number in each type."""
_BITS = np.uint32(1) << np.arange(WARP, dtype=np.uint32)


def _active(m: Machine) -> Array:
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


def _shfl(decoder: Decoder, instruction: ThreadInstruction) -> Run:
    if instruction.modifiers[0] != "sync" or instruction.modifiers[1] not in ("up", "down", "bfly", "idx"):
        raise Unsupported(str(instruction))
    mode = instruction.modifiers[1]
    names = [name.strip() for name in instruction.operands[0].split("|")]
    puts = [decoder.target(name) for name in names]
    value, lane, clamp = (decoder.source(operand, "b32") for operand in instruction.operands[1:4])
    member = decoder.source(instruction.operands[4], "b32")

    def run(m: Machine) -> None:
        by, limit = (np.broadcast_to(get(m), m.shape) for get in (lane, clamp))
        same = by.size and (by == by[:1, :1]).all() and (limit == limit[:1, :1]).all()
        b, c = (operand[:1, :1, None] if same else warps(operand, m.shape) for operand in (by, limit))
        source, inside = _sources(mode, (b & np.uint32(31)).astype(np.int64), c.astype(np.int64))
        source = np.where(inside, source, _LANES)
        held = warps(value(m), m.shape)
        taken = held[..., source[0, 0]] if same else np.take_along_axis(held, np.broadcast_to(source, held.shape), 2)
        parties = _parties(m, member)
        if parties is not None or m.mask is not None or m.shape[1] % WARP:
            missing = _missing(m, source, parties)
            if "lanes" in m.spaces.deviations:
                taken = np.where(missing, _ANYTHING, taken)
        puts[0](m, unwarped(taken, m.shape))
        if len(puts) > 1:
            puts[1](m, unwarped(np.broadcast_to(inside, held.shape), m.shape))
        meet(m)

    return run


def _missing(m: Machine, source: Array, parties: Array | None) -> Array:
    """Return the lanes that read from a lane outside of the block, or from one that takes no part; record the first."""
    active, every = _active(m), warps(np.ones((1, 1), bool), m.shape)
    source = np.broadcast_to(source, active.shape)
    outside = active & ~np.take_along_axis(every, source, 2)
    missing = active & ~np.take_along_axis(active, source, 2)
    if parties is not None:
        # Neither a lane that the mask leaves out nor one that reads from it gets a value that is defined.
        missing |= active & ~(np.take_along_axis(parties, source[..., None], 3)[..., 0]
                              & np.diagonal(parties, axis1=2, axis2=3))
    for lanes, what in ((outside, _OUTSIDE), (missing, _INACTIVE)):
        if lanes.any():
            block = int(np.argmax(lanes.any((1, 2))))
            m.findings.undefined(m.site(), what, numbers=[int(m.site().numbers[block])], certain=False)
            break
    return missing


def _parties(m: Machine, get: Get) -> Array | None:
    """Return the lanes that take part with each lane, by the instruction's mask: (blocks, warps, lanes, lanes). None if
    every mask names all active lanes. Several parts of a warp may be here at once, each with its own mask."""
    mask = get(m)
    if mask.size == 1 and int(mask.flat[0]) == 0xFFFFFFFF:
        return None
    active, given = _active(m), warps(mask, m.shape)
    if not (_ballot(active)[..., None] & ~given)[active].any():
        return None
    return ((given[..., None] & _BITS) != 0) & active[..., None, :]


def meet(m: Machine) -> None:
    """Record for the race detector that the active lanes of a warp have met."""
    mask = m.active
    if m.spaces.races.checked:
        m.spaces.races.met(m.to_chunk(mask), m.clock, False)


def _vote(decoder: Decoder, instruction: ThreadInstruction) -> Run:
    what = next((word for word in instruction.modifiers if word in ("all", "any", "uni", "ballot")), "")
    if not what:
        raise Unsupported(str(instruction))
    put, get = decoder.target(instruction.operands[0]), decoder.source(instruction.operands[1], "pred")
    member = decoder.source(instruction.operands[2], "b32") if len(instruction.operands) > 2 else None

    def run(m: Machine) -> None:
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


def _activemask(decoder: Decoder, instruction: ThreadInstruction) -> Run:
    put = decoder.target(instruction.operands[0])
    return lambda m: put(m, unwarped(_ballot(_active(m))[..., None], m.shape))


def _match(decoder: Decoder, instruction: ThreadInstruction) -> Run:
    kind, every = instruction.modifiers[-1], "all" in instruction.modifiers
    names = [name.strip() for name in instruction.operands[0].split("|")]
    puts = [decoder.target(name) for name in names]
    get = decoder.source(instruction.operands[1], kind)
    member = decoder.source(instruction.operands[2], "b32")

    def run(m: Machine) -> None:
        value, parties = warps(get(m), m.shape), _parties(m, member)
        active = _active(m)[..., None, :] if parties is None else parties
        same = (value[..., :, None] == value[..., None, :]) & active
        matches = np.where(same, _BITS, np.uint32(0)).sum(3, dtype=np.uint32)
        if every:
            agreed = (same == active).all(3)
            matches = np.where(agreed, matches, np.uint32(0))
            if len(puts) > 1:
                puts[1](m, unwarped(agreed, m.shape))
        puts[0](m, unwarped(matches, m.shape))
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


def _redux(decoder: Decoder, instruction: ThreadInstruction) -> Run:
    what = next((word for word in instruction.modifiers if word in _REDUCTIONS), "")
    kind = instruction.modifiers[-1]
    if not what or DTYPES[kind].kind == "f":
        raise Unsupported(str(instruction))
    put, get = decoder.target(instruction.operands[0]), decoder.source(instruction.operands[1], kind)
    member = decoder.source(instruction.operands[2], "b32")

    def run(m: Machine) -> None:
        value, parties = warps(get(m), m.shape), _parties(m, member)
        if parties is None:
            result = np.asarray(_REDUCTIONS[what](value, _active(m)))[..., None]
        else:
            result = np.asarray(_REDUCTIONS[what](value[..., None, :], parties))
        put(m, unwarped(result.astype(value.dtype), m.shape))
        meet(m)

    return run


def _elect(decoder: Decoder, instruction: ThreadInstruction) -> Run:
    names = [name.strip() for name in instruction.operands[0].split("|")]
    if len(names) != 2:
        raise Malformed(f"{instruction} without a predicate")
    number, chosen = (decoder.target(name) for name in names)
    decoder.source(instruction.operands[1], "b32")

    def run(m: Machine) -> None:
        first = _active(m).argmax(2)[..., None]
        number(m, unwarped(first.astype(np.uint32), m.shape))
        chosen(m, unwarped(first == _LANES, m.shape))

    return run


WARP_WIDE = {"shfl": _shfl, "vote": _vote, "activemask": _activemask, "match": _match, "redux": _redux,
             "elect": _elect}


def _bar(decoder: Decoder, instruction: ThreadInstruction) -> Run:
    words = instruction.modifiers
    if instruction.name == "barrier" and words[:1] == ("cluster",):
        # A cluster is one block here, and its threads all run in step.
        return lambda m: None
    if words[:1] == ("warp",):
        decoder.source(instruction.operands[0], "b32")
        return meet
    if "arrive" in words:
        if len(instruction.operands) != 2:
            raise Malformed(f"{instruction} with other operands")
        barriers, threads = (decoder.source(operand, "u32") for operand in instruction.operands)

        def arrive(m: Machine) -> None:
            mask = m.active
            numbers, counts, active = np.broadcast_arrays(barriers(m), threads(m), mask)
            for number, count in np.unique(np.stack([numbers[active], counts[active]]), axis=1).T:
                here = mask & (numbers == number) & (counts == count)
                m.barriers.arrive(int(number), m.to_chunk(here), max(1, int(count)))

        return arrive
    if "red" in words:
        decoder.target(instruction.operands[0])
        decoder.source(instruction.operands[-1], "pred")
    elif "sync" not in words:
        raise Unsupported(str(instruction))
    for operand in instruction.operands["red" in words : len(instruction.operands) - ("red" in words)]:
        decoder.source(operand, "b32")
    return lambda m: None


def _fence(decoder: Decoder, instruction: ThreadInstruction) -> Run:
    words = {word.partition("::")[0] for word in instruction.modifiers}
    if "proxy" in words:
        return _engine_fence if "async" in words else lambda m: None

    def fence(m: Machine) -> None:
        signal(m, "acquire", "release", grid=in_grid(instruction))

    return fence


def _engine_fence(m: Machine) -> None:
    m.clock += 1
    m.spaces.races.times.engine_fences[np.broadcast_to(m.to_chunk(m.active), m.whole).any(1)] = m.clock


def _setmaxnreg(decoder: Decoder, instruction: ThreadInstruction) -> Run:
    """Build a request for registers, which waits until another warpgroup of the block gives as many back."""
    given_back = any(other.name == "setmaxnreg" and "dec" in other.modifiers for other in decoder.function.code)
    if "inc" in instruction.modifiers and not given_back:
        raise Unsupported(f"{instruction}, where no warpgroup gives registers back")
    return nothing(decoder, instruction)


SYNCHRONISING = {"bar": _bar, "barrier": _bar, "membar": _fence, "fence": _fence, "nanosleep": nothing,
                 "griddepcontrol": nothing, "setmaxnreg": _setmaxnreg}
