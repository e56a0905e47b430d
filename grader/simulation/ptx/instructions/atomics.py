"""Atomic operations: see `atom` and `red` of the PTX ISA. Threads execute them in the order of their numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from grader.plan.plan import Malformed
from grader.simulation.ptx.decode import Decoder, Run, vector
from grader.simulation.ptx.instructions.memory import signal, space_of, synchronise
from grader.simulation.ptx.lanes import spread
from grader.simulation.ptx.program import ThreadInstruction
from grader.simulation.ptx.races import Signal
from grader.simulation.ptx.regions import Reached, whole
from grader.simulation.ptx.state import ChunkState
from grader.simulation.ptx.types import DTYPES, Array, Unsupported
from grader.simulation.ptx.values import PURE

OPERATIONS = ("add", "min", "max", "and", "or", "xor", "exch", "cas", "inc", "dec")
_UFUNCS: dict[str, Any] = {
    "add": np.add, "min": np.minimum, "max": np.maximum, "and": np.bitwise_and, "or": np.bitwise_or,
    "xor": np.bitwise_xor,
}  # fmt: skip
_CHEAP = 64
"""The cost in operations of a round of atomics for each element."""

New = Callable[..., Array]


def _atom(decoder: Decoder, one: ThreadInstruction) -> Run:
    """Build `atom` and `red`."""
    kind = one.modifiers[-1]
    if kind not in DTYPES or kind in ("pred", "cc"):
        raise Unsupported(str(one))
    dtype, space = DTYPES[kind], space_of(one)
    operands = list(one.operands)
    targets = vector(operands.pop(0)) if one.name == "atom" else ()
    found = [word for word in one.modifiers if word in OPERATIONS]
    if len(found) != 1:
        raise Unsupported(str(one))
    if any(word.endswith("cache_hint") for word in one.modifiers):
        operands.pop()
    if len(operands) != (3 if found[0] == "cas" else 2):
        raise Malformed(f"{one} with {len(operands)} operands")
    address = decoder.address(operands[0])
    parts = [[decoder.source(name, kind) for name in vector(operand)] for operand in operands[1:]]
    puts = [decoder.target(name) for name in targets]
    count = len(parts[0])
    # A relaxed atomic orders only with a fence beside it, where compilers put one.
    plain = "relaxed" in one.modifiers or space == "shared"
    release, acquire = "acquire" not in one.modifiers, "release" not in one.modifiers
    fence = not release or not acquire or "acq_rel" in one.modifiers
    before: tuple[Signal, ...] = ("fence", "store") if fence and release else ("store",)
    after: tuple[Signal, ...] = ("load", "fence") if fence and acquire else ("load",)

    def run(m: ChunkState) -> None:
        begin = address(m)
        signal(m, *before)
        for number in range(count):
            step = np.uint64(number * dtype.itemsize)
            given = [get[number](m) for get in parts]
            result = _apply(
                m, space, begin + step if number else begin, kind, found[0], given, bool(puts), not plain)
            if puts:
                puts[number](m, result)
        signal(m, *after)
        if not plain:
            synchronise(m, release=release, acquire=acquire, fence=fence)

    return run


def _apply(
    m: ChunkState, space: str, address: Array, kind: str, what: str, given: list[Array], wanted: bool,
    synchronises: bool,
) -> Array:
    """Execute an operation for each thread. Returns the old values if they are `wanted`."""
    dtype = DTYPES[kind]
    size = dtype.itemsize
    result = np.zeros(m.shape, dtype)
    for piece in m.spaces.reach(m, space, address, size, "atomic", size):
        if piece.region is m.spaces.parameters:
            raise Unsupported("an atomic on parameters")
        mask = np.broadcast_to(True if piece.mask is None else piece.mask, m.shape)
        index = spread(piece.offsets >> (size.bit_length() - 1), m.shape)[mask]
        values = [spread(each, m.shape)[mask] for each in given]
        _note(m, piece, index, size, what, synchronises)
        view = piece.region.view(dtype)
        before = view[index]
        old = _made(m, view, index, values, kind, what, wanted)
        if not np.array_equal(before.view(f"u{size}"), view[index].view(f"u{size}")):
            m.version += 1
        if piece.region.written is not None:
            piece.region.marks(size)[index] = whole(size)
        if wanted:
            result[mask] = old
    return result


def _note(m: ChunkState, piece: Reached, index: Array, size: int, what: str, synchronises: bool) -> None:
    region = piece.region
    if region is m.spaces.local.region:
        return
    # Threads look at a word of global memory before the loop of a `cas`, whose first round then finds another value.
    if what != "cas" or region.named.shared:
        m.spaces.races.changed(m, region, piece.offsets, piece.mask, size, synchronises)
    if m.observer is not None:
        m.observer.access(m, "atomic", region, piece.offsets, piece.mask, size, 1)
    if region.written is None or what == "exch":
        return
    known = region.marks(size)[index] == whole(size)
    if not known.all():
        mask = np.broadcast_to(True if piece.mask is None else piece.mask, m.shape)
        bad = np.zeros(m.shape, bool)
        bad[mask] = ~known
        first = int(np.argmax(bad.any(1)))
        offset = int(index[np.argmin(known)]) * size
        named, _ = m.spaces.place(piece.region, offset, size)
        m.findings.unwritten(m.spot(), named, int(bad[first].sum()), first, "atomic")


def _made(
    m: ChunkState, view: Array, index: Array, values: list[Array], kind: str, what: str, wanted: bool
) -> Array:
    """Execute operations one after another on elements of a view. Returns the old value for each if they are
    `wanted`."""
    simple = kind not in ("bf16", "f16x2", "bf16x2") and what in _UFUNCS
    if simple and what in ("min", "max") and view.dtype.kind == "f":
        simple = False
    if simple and not wanted:
        _UFUNCS[what].at(view, index, values[0])
        return index
    if what == "exch":
        return _exchanged(view, index, values[0])
    if simple and what == "add":
        return _added(view, index, values[0])
    if what == "cas":
        return _swapped(m, view, index, *values)
    return _in_rounds(m, view, index, values, _function(kind, what))


def _function(kind: str, what: str) -> New:
    """Return the function that computes an element's new value from its old value and the operand."""
    if what == "inc":
        return lambda there, most: np.where(there >= most, there.dtype.type(0), there + there.dtype.type(1))
    if what == "dec":
        return lambda there, most: np.where((there == 0) | (there > most), most, there - there.dtype.type(1))
    if kind in ("f16", "bf16", "f16x2", "bf16x2", "f32", "f64"):
        rule = PURE[what].find(("rn", kind) if what == "add" and kind not in ("f32", "f64") else (kind,))
        return lambda there, given: np.asarray(rule.function(there, given))
    return lambda there, given: np.asarray(_UFUNCS[what](there, given))


def _sorted(index: Array) -> tuple[Array, Array, Array]:
    """Return an order that puts equal indices together, the indices in this order, and a mask of the first of each."""
    order = np.argsort(index, kind="stable")
    ordered = index[order]
    return order, ordered, np.append(True, ordered[1:] != ordered[:-1])[: ordered.size]


def _exchanged(view: Array, index: Array, values: Array) -> Array:
    order, ordered, first = _sorted(index)
    given = values[order]
    found = np.empty_like(given)
    found[1:] = given[:-1]
    found[first] = view[ordered[first]]
    last = np.append(first[1:], True)
    view[ordered[last]] = given[last]
    old = np.empty_like(found)
    old[order] = found
    return old


def _added(view: Array, index: Array, values: Array) -> Array:
    order, ordered, first = _sorted(index)
    given = values[order]
    wide = np.float64 if view.dtype.kind == "f" else view.dtype
    total = np.cumsum(given, dtype=wide) - given
    head = np.maximum.accumulate(np.where(first, np.arange(ordered.size), 0))
    found = view[ordered] + (total - total[head]).astype(view.dtype)
    np.add.at(view, index, values)
    old = np.empty(index.shape, view.dtype)
    old[order] = found
    return old


def _swapped(m: ChunkState, view: Array, index: Array, expected: Array, new: Array) -> Array:
    """Compare and swap at each place, one thread after the other. A round ends at the first thread that succeeds at
    each place, as only successes change what later threads see."""
    order, ordered, _ = _sorted(index)
    expected, new = expected[order], new[order]
    found = np.empty(ordered.shape, view.dtype)
    left = np.arange(ordered.size)
    while left.size:
        m.budget.charge(_CHEAP * left.size)
        places = ordered[left]
        there = view[places]
        found[left] = there
        won = np.flatnonzero(there == expected[left])
        # The first thread that succeeds at each place; all later ones find its value.
        won = won[np.append(True, places[won[1:]] != places[won[:-1]])[: won.size]]
        if not won.size:
            break
        view[places[won]] = new[left[won]]
        begins = np.searchsorted(places[won], places)
        begins[begins == won.size] = 0
        left = left[(places[won][begins] == places) & (np.arange(left.size) > won[begins])]
    old = np.empty(index.shape, view.dtype)
    old[order] = found
    return old


def _in_rounds(m: ChunkState, view: Array, index: Array, values: list[Array], function: New) -> Array:
    """Execute the operations in rounds, of one thread at each place."""
    old = np.empty(index.shape, view.dtype)
    left = np.arange(index.size)
    while left.size:
        m.budget.charge(_CHEAP * left.size)
        _, first = np.unique(index[left], return_index=True)
        now = left[first]
        there = view[index[now]]
        old[now] = there
        view[index[now]] = function(there, *(each[now] for each in values))
        keep = np.ones(left.size, bool)
        keep[first] = False
        left = left[keep]
    return old


ATOMICS = {"atom": _atom, "red": _atom}
