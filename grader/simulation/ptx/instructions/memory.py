"""Loads, stores and atomic operations: see `ld`, `st`, `atom` and `red` of the PTX ISA. Threads execute atomics in
the order of their numbers."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

import numpy as np

from grader.plan.plan import Malformed
from grader.simulation.ptx.decode import Decoder, Get, Put, Run, vector
from grader.simulation.ptx.lanes import DTYPES, Array, Unsupported, spread
from grader.simulation.ptx.ordering import Signal
from grader.simulation.ptx.program import ThreadInstruction
from grader.simulation.ptx.races import Synced
from grader.simulation.ptx.regions import ResolvedAccess, whole
from grader.simulation.ptx.values import PURE

if TYPE_CHECKING:
    from grader.simulation.ptx.machine import Machine


SPACES = {"global": "global", "shared": "shared", "local": "local", "param": "param", "const": "global"}
# Bytes of a line of the cache, all that "discard" takes.
LINE = 128
_SYNCED = frozenset({"volatile", "relaxed", "acquire", "release", "mmio"})
_TYPES = frozenset({*DTYPES, "b128"}) - {"pred", "cc"}


def space_of(instruction: ThreadInstruction) -> str:
    """Return the space that an instruction names, "" for generic addresses."""
    for word in instruction.modifiers:
        if (space := SPACES.get(word.partition("::")[0])) is not None:
            return space
    return ""


def _type_of(instruction: ThreadInstruction) -> str:
    kind = instruction.modifiers[-1] if instruction.modifiers else ""
    if kind not in _TYPES:
        raise Malformed(f"{instruction} without a type")
    if kind == "b128":
        raise Unsupported("values of 128 bits")
    return kind


def _synced(instruction: ThreadInstruction) -> Synced:
    if "volatile" in instruction.modifiers:
        return Synced.VOLATILE
    if instruction.name == "ldu" or "nc" in instruction.modifiers:
        return Synced.READ_ONLY
    if _SYNCED.isdisjoint(instruction.modifiers):
        return Synced.PLAIN
    return Synced.GRID if in_grid(instruction) else Synced.BLOCK


def _ld(decoder: Decoder, instruction: ThreadInstruction) -> Run:
    kind, space = _type_of(instruction), space_of(instruction)
    dtype = DTYPES[kind]
    puts = [decoder.target(name) for name in vector(instruction.operands[0])]
    if space == "param":
        name, plus = decoder.parts(instruction.operands[1])
        if name in decoder.function.variables or (not decoder.function.entry and any(
            name == variable.name for variable in decoder.function.parameters)
        ):
            return _from_registers(decoder, instruction, name, plus)
    address = decoder.address(instruction.operands[1])
    synced, grid = _synced(instruction), in_grid(instruction)
    if synced is Synced.VOLATILE and space == "global" and decoder.deciding.isdisjoint(vector(instruction.operands[0])):
        synced = Synced.DATA
    after = loads_flag(instruction, "acquire" in instruction.modifiers)
    if len(puts) == 1:
        put = puts[0]

        def single(m: Machine) -> None:
            put(m, m.spaces.load(m, space, address(m), dtype, 1, synced)[0])
            if synced.orders:
                signal(m, *after, grid=grid)

        return single

    def run(m: Machine) -> None:
        for put, value in zip(puts, m.spaces.load(m, space, address(m), dtype, len(puts), synced), strict=True):
            put(m, value)
        if synced.orders:
            signal(m, *after, grid=grid)

    return run


def _st(decoder: Decoder, instruction: ThreadInstruction) -> Run:
    kind, space = _type_of(instruction), space_of(instruction)
    dtype = DTYPES[kind]
    if space == "param":
        name, plus = decoder.parts(instruction.operands[0])
        if name not in decoder.function.variables and all(
                name != returned.name for returned in decoder.function.returns):
            raise Unsupported(f"{instruction} to {name[:60]}")
        return _to_registers(decoder, instruction, name, plus)
    gets = [decoder.source(name, kind) for name in vector(instruction.operands[1])]
    address = decoder.address(instruction.operands[0])
    synced, grid = _synced(instruction), in_grid(instruction)
    before = stores_flag(instruction, "release" in instruction.modifiers)

    def run(m: Machine) -> None:
        if synced.orders:
            signal(m, *before, grid=grid)
        m.spaces.store(m, space, address(m), [get(m) for get in gets], dtype, synced)

    return run


def in_grid(instruction: ThreadInstruction) -> bool:
    """Return whether other blocks may see the order that an instruction makes: a cluster is one block here."""
    return space_of(instruction) != "shared" and not {"cta", "cluster"} & set(instruction.modifiers)


def stores_flag(instruction: ThreadInstruction, releases: bool) -> tuple[Signal, ...]:
    """Return the steps of an instruction that stores a flag."""
    return ("release", "store") if releases else ("relaxed" if "relaxed" in instruction.modifiers else "store",)


def loads_flag(instruction: ThreadInstruction, acquires: bool) -> tuple[Signal, ...]:
    """Return the steps of an instruction that loads a flag."""
    return ("load", "acquire") if acquires else (
        "peek" if {"relaxed", "release"} & set(instruction.modifiers) else "load",)


def _discard(decoder: Decoder, instruction: ThreadInstruction) -> Run:
    """Build a loss of what a line of the cache holds: any bits may stand there, and ones do here."""
    address = decoder.address(instruction.operands[0])
    words = [np.full((1, 1), ~np.uint64(0))] * (LINE // 8)
    return lambda m: m.spaces.store(m, space_of(instruction), address(m), words, np.dtype(np.uint64))


def together(run: Run) -> Run:
    """Return a run whose accesses count as those of one instruction."""

    def counted(m: Machine) -> None:
        with nullcontext() if m.observer is None else m.observer.together():
            run(m)

    return counted


def signal(m: Machine, *steps: Signal, mask: Array | None = None, grid: bool = False) -> None:
    """Record for the race detector steps of the running threads, or of those of `mask`, in this order. `grid`: other
    blocks may see them."""
    races = m.spaces.races
    m.polls += steps[0] in ("load", "peek")
    if races.checked or races.atomics:
        threads = m.to_chunk(np.broadcast_to(m.active if mask is None else mask, m.shape))
        # Accesses before them in the same step are earlier, but for a load, which orders nothing before it.
        m.clock += steps[0] not in ("load", "peek")
        for step in steps:
            races.signalled(threads, m.clock, step, grid)


def _from_registers(decoder: Decoder, instruction: ThreadInstruction, name: str, plus: int) -> Run:
    """Build a load of an argument or a result of a call, which registers hold."""
    kind = instruction.modifiers[-1]
    moves = []
    for number, register in enumerate(vector(instruction.operands[0])):
        slot = f"[{name}+{plus + number * DTYPES[kind].itemsize}]"
        decoder.slot(slot, kind)
        moves.append((decoder.source(slot, kind), decoder.target(register)))
    return _moved(moves)


def _to_registers(decoder: Decoder, instruction: ThreadInstruction, name: str, plus: int) -> Run:
    kind = instruction.modifiers[-1]
    moves = []
    for number, register in enumerate(vector(instruction.operands[1])):
        slot = f"[{name}+{plus + number * DTYPES[kind].itemsize}]"
        moves.append((decoder.source(register, kind), decoder.into(decoder.slot(slot, kind))))
    return _moved(moves)


def _moved(moves: list[tuple[Get, Put]]) -> Run:
    def run(m: Machine) -> None:
        for get, put in moves:
            put(m, get(m))

    return run


def nothing(decoder: Decoder, instruction: ThreadInstruction) -> Run:
    """Build an instruction that does nothing, such as `griddepcontrol`: launches run one after another here."""
    return lambda m: None


MEMORY = {"ld": _ld, "ldu": _ld, "st": _st, "prefetch": nothing, "prefetchu": nothing,
          "discard": _discard, "applypriority": nothing}


OPERATIONS = ("add", "min", "max", "and", "or", "xor", "exch", "cas", "inc", "dec")
_UFUNCS: dict[str, Any] = {
    "add": np.add, "min": np.minimum, "max": np.maximum, "and": np.bitwise_and, "or": np.bitwise_or,
    "xor": np.bitwise_xor,
}  # fmt: skip
_CHEAP = 64
"""The cost in operations of a round of atomics for each element."""

New = Callable[..., Array]


def _atom(decoder: Decoder, instruction: ThreadInstruction) -> Run:
    """Build `atom` and `red`."""
    kind = instruction.modifiers[-1]
    if kind not in DTYPES or kind in ("pred", "cc"):
        raise Unsupported(str(instruction))
    dtype, space = DTYPES[kind], space_of(instruction)
    operands = list(instruction.operands)
    targets = vector(operands.pop(0)) if instruction.name == "atom" else ()
    operations = [word for word in instruction.modifiers if word in OPERATIONS]
    if len(operations) != 1:
        raise Unsupported(str(instruction))
    if any(word.endswith("cache_hint") for word in instruction.modifiers):
        operands.pop()
    if len(operands) != (3 if operations[0] == "cas" else 2):
        raise Malformed(f"{instruction} with {len(operands)} operands")
    address = decoder.address(operands[0])
    parts = [[decoder.source(name, kind) for name in vector(operand)] for operand in operands[1:]]
    puts = [decoder.target(name) for name in targets]
    count = len(parts[0])
    release, acquire = "acquire" not in instruction.modifiers, "release" not in instruction.modifiers
    fence = not release or not acquire or "acq_rel" in instruction.modifiers
    grid = in_grid(instruction)
    before, after = stores_flag(instruction, fence and release), loads_flag(instruction, fence and acquire)

    def run(m: Machine) -> None:
        begin = address(m)
        signal(m, *before, grid=grid)
        for number in range(count):
            step = np.uint64(number * dtype.itemsize)
            given = [get[number](m) for get in parts]
            result = _apply(
                m, space, begin + step if number else begin, kind, operations[0], given, bool(puts), grid)
            if puts:
                puts[number](m, result)
        signal(m, *after, grid=grid)

    return run


def _apply(
    m: Machine, space: str, address: Array, kind: str, what: str, given: list[Array], wanted: bool, grid: bool
) -> Array:
    """Execute an operation for each thread. Returns the old values if they are `wanted`; `grid` as for
    `Races.changed`."""
    dtype = DTYPES[kind]
    size = dtype.itemsize
    result = np.zeros(m.shape, dtype)
    for piece in m.spaces.resolve(m, space, address, size, "atomic", size):
        if piece.region is m.spaces.parameters:
            raise Unsupported("an atomic on parameters")
        mask = np.broadcast_to(True if piece.mask is None else piece.mask, m.shape)
        index = spread(piece.offsets >> (size.bit_length() - 1), m.shape)[mask]
        values = [spread(operand, m.shape)[mask] for operand in given]
        _note(m, piece, index, size, what, grid)
        view = piece.region.view(dtype)
        before = view[index]
        old = _execute(m, view, index, values, kind, what, wanted)
        if not np.array_equal(before.view(f"u{size}"), view[index].view(f"u{size}")):
            m.version += 1
        if piece.region.written is not None:
            piece.region.marks(size)[index] = whole(size)
        if wanted:
            result[mask] = old
    return result


def _note(m: Machine, piece: ResolvedAccess, index: Array, size: int, what: str, grid: bool) -> None:
    region = piece.region
    if region is m.spaces.local.region:
        return
    # Threads load a word of global memory before the loop of a `cas`, whose first round then finds another value.
    if what != "cas" or region.named.shared:
        m.spaces.races.changed(m, region, piece.offsets, piece.mask, size, grid)
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
        m.findings.unwritten(m.site(), named, int(bad[first].sum()), first, "atomic")


def _execute(
    m: Machine, view: Array, index: Array, values: list[Array], kind: str, what: str, wanted: bool
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
        rule = PURE[what](("rn", kind) if what == "add" and kind not in ("f32", "f64") else (kind,))
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
    before = np.empty_like(given)
    before[1:] = given[:-1]
    before[first] = view[ordered[first]]
    last = np.append(first[1:], True)
    view[ordered[last]] = given[last]
    old = np.empty_like(before)
    old[order] = before
    return old


def _added(view: Array, index: Array, values: Array) -> Array:
    order, ordered, first = _sorted(index)
    given = values[order]
    starts = np.flatnonzero(first)
    sizes = np.diff(starts, append=ordered.size)
    if view.dtype.kind == "f":
        before = _float_sums(view[ordered[starts]], given, starts, sizes)
    else:
        total = np.cumsum(given, dtype=view.dtype) - given
        before = view[ordered] + total - np.repeat(total[starts], sizes)
    np.add.at(view, index, values)
    old = np.empty(index.shape, view.dtype)
    old[order] = before
    return old


def _float_sums(sums: Array, terms: Array, starts: Array, sizes: Array) -> Array:
    """Return the sum before each of `terms`, which lie in groups: from each group's own value in `sums` on. Each sum is
    rounded, and an infinite or large one must not reach those of other groups."""
    before = np.empty_like(terms)
    if sizes.max(initial=0) > sizes.size:
        for value, start, size in zip(sums, starts, sizes, strict=True):
            before[start : start + size] = np.cumsum(np.append(value, terms[start : start + size]))[:-1]
        return before
    for rank in range(sizes.max(initial=0)):
        left = sizes > rank
        at = starts[left] + rank
        before[at] = sums[left]
        sums[left] += terms[at]
    return before


def _swapped(m: Machine, view: Array, index: Array, expected: Array, new: Array) -> Array:
    """Compare and swap at each place, one thread after the other. A round ends at the first thread that succeeds at
    each place, as only successes change what later threads see."""
    order, ordered, _ = _sorted(index)
    expected, new = expected[order], new[order]
    before = np.empty(ordered.shape, view.dtype)
    left = np.arange(ordered.size)
    while left.size:
        m.budget.charge(_CHEAP * left.size)
        places = ordered[left]
        there = view[places]
        before[left] = there
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
    old[order] = before
    return old


def _in_rounds(m: Machine, view: Array, index: Array, values: list[Array], function: New) -> Array:
    """Execute the operations in rounds, of one thread at each place."""
    old = np.empty(index.shape, view.dtype)
    left = np.arange(index.size)
    while left.size:
        m.budget.charge(_CHEAP * left.size)
        _, first = np.unique(index[left], return_index=True)
        now = left[first]
        there = view[index[now]]
        old[now] = there
        view[index[now]] = function(there, *(value[now] for value in values))
        keep = np.ones(left.size, bool)
        keep[first] = False
        left = left[keep]
    return old


ATOMICS = {"atom": _atom, "red": _atom}
