"""Hints from grids, loops and masks that leave elements of the output unwritten."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import product
from typing import NamedTuple

from torch import Tensor

from grader.judging.explain.accesses import TensorAccess
from grader.judging.explain.evidence import Hint
from grader.judging.explain.indentation import branches, returns
from grader.languages.phrases import Fact, fact


def uncovered(seen: Sequence[TensorAccess], unwritten: Tensor) -> Hint | None:
    """Return a hint for the grid, loop or mask that left elements of the output unwritten, from the only store to it.

    `unwritten` (bool, of the output's shape) marks the elements. None if a simulator did not see how far the programs
    reach.
    """
    stores = [access for access in seen if access.layout.is_output and access.access.access == "store"]
    if len(stores) != 1:
        return None
    access = stores[0]
    if not access.access.even:
        return _exchanged(access, unwritten)
    # Too few programs, or a mask that ends too early, leave out an end. A missing beginning has another cause.
    if access.unsteady or not access.is_known or bool(unwritten.flatten()[0]):
        return None
    parts = list(_reach(access))
    short = [part for part in parts if part.covered < part.size]
    first = int(unwritten.flatten().int().argmax())
    # A mask may end before the programs do.
    if not short or (access.flat and first < parts[0].covered):
        return _masked(access, int(unwritten.sum()), first)
    if len(parts) == 2:
        down, across = parts
        # Programs of a one-dimensional grid may be numbered in groups.
        has_two_axes = any(size > 1 for size in access.access.grid[1:]) or access.takes_y
        are_exchanged = (down.programs, across.programs) == (across.needed, down.needed)
        if has_two_axes and are_exchanged and down.needed != across.needed:
            if down.axis == 0 or across.axis == 1:
                return _axes(access, down.needed, across.needed)
            return _axes(access, across.needed, down.needed)
    # There are enough programs, and offsets depend on their numbers: so the kernel divides these numbers in a wrong
    # way.
    more = math.prod(access.access.grid) - math.prod(part.needed for part in parts)
    if access.access.times > 1 or all(part.axis is None for part in parts) or more < 0:
        return _short(access, short[0])
    return access.hint(
        fact(f"grid.{'more' if more else 'enough'}", launched=access.launched, name=access.layout.name,
             tiles=" x ".join(f"{part.block:,}" for part in parts), covers=_covers(access, short[0])),
        fact("grid.divided"), "grid")


def _exchanged(access: TensorAccess, unwritten: Tensor) -> Hint | None:
    """Return a hint for a grid whose axes are exchanged, where only the first blocks of threads were seen: it has the
    blocks that the rows need along the columns' axis and the reverse, and exactly what those reach is written."""
    rows, columns, (first, second, _) = access.layout.rows, access.layout.columns, access.access.grid
    tile = [size for size in access.access.tile if size > 1]
    if len(tile) != 2 or access.access.times > 1 or first == second or not access.words.threads:
        return None
    for down, across in dict.fromkeys([(tile[0], tile[1]), (tile[1], tile[0])]):
        needed = -(-rows // down), -(-columns // across)
        left = unwritten.new_ones((rows, columns))
        left[: down * needed[1], : across * needed[0]] = False
        if sorted(needed) == sorted((first, second)) and left.equal(unwritten.reshape(rows, columns)):
            return _axes(access, second, first)
    return None


def _axes(access: TensorAccess, first: int, second: int) -> Hint:
    """Return the hint for a grid whose axes are exchanged, by the tiles that it needs along both."""
    return access.hint(fact("grid.exchanged.seen", launched=access.launched, name=access.layout.name, first=first,
                            second=second), fact("grid.exchanged.advice"), "grid axes exchanged")


def overlapping(seen: Sequence[TensorAccess], unwritten: Tensor) -> Hint | None:
    """Return a hint for a store in a loop whose programs overlap: each begins among the elements of the one before."""
    if len(seen) != 1 or not seen[0].flat:
        return None
    store, access = seen[0], seen[0].access
    stride, end = access.loop_stride or 0, access.end or 0
    last = stride * (access.times - 1)
    axis, moved = next(((axis, moved) for axis, moved in enumerate(access.program_strides) if moved), (0, 0))
    if stride <= 0 or not stride <= moved <= last:
        return None
    if not 0 < end <= int(unwritten.flatten().int().argmax()):
        return None
    return store.hint(
        fact("overlap.seen", where=store.where, covered=last + store.along(1), name=store.layout.name,
             rounds=access.times, moved=moved, end=end),
        fact("overlap.advice", id=fact(f"program_id_{'xyz'[axis]}")), "program ids")


def rest_by_groups(seen: Sequence[TensorAccess], unwritten: Tensor) -> Hint | None:
    """Return a hint for the store of a rest that begins at the number of whole groups, and not at the number of their
    elements."""
    first = int(unwritten.flatten().int().argmax())
    for rest, groups in product(seen, seen):
        if rest.several != 1 or groups.several == 1:
            continue
        start = rest.access.first
        if start > 0 and first == start * groups.several:
            return rest.hint(
                fact("rest.seen", where=rest.where, start=start, groups=groups.where, first=first,
                     several=groups.several), fact("rest.advice", several=groups.several), "rest")
    return None


class Part(NamedTuple):
    """The reach of a launch's programs along the rows, the columns, or all elements of an output: each program covers
    `block` of these units."""

    unit: str
    name: str
    size: int
    block: int
    programs: int
    axis: int | None

    @property
    def covered(self) -> int:
        return self.block * self.programs

    @property
    def needed(self) -> int:
        return -(-self.size // self.block)


def _reach(store: TensorAccess) -> Iterator[Part]:
    """Yield the reach of a store along rows and columns, or along all elements if it is `flat`."""
    access, layout = store.access, store.layout
    moves = [moved if moved and (layout.is_matrix or moved < layout.total) else 0 for moved in access.program_strides]
    step = max(0, access.loop_stride or 0)
    if store.flat:
        yield _part(store, "element", "" if layout.down else layout.across, layout.total, 1, moves, step)
        return
    rows = [moved if _by_rows(store, moved) else 0 for moved in (*moves, step)]
    columns = [0 if by_rows else moved for by_rows, moved in zip(rows, (*moves, step), strict=True)]
    yield _part(store, "row", layout.down, layout.rows, layout.columns, rows[:3], rows[3])
    yield _part(store, "column", layout.across, layout.columns, 1, columns[:3], columns[3])


def _by_rows(access: TensorAccess, moved: int) -> bool:
    down, over = divmod(moved, access.layout.columns)
    return not over and (down == access.along(access.layout.columns) or moved != access.along(1))


def _part(access: TensorAccess, unit: str, name: str, size: int, apart: int, moves: Sequence[int], step: int) -> Part:
    block, times = access.along(apart), access.access.times
    axis = next((axis for axis, moved in enumerate(moves) if moved), None)
    if axis is None:
        return Part(unit, name, size, block + (times - 1) * step // apart, 1, None)
    # A loop with a larger step than the distance between programs goes on where the last program ends.
    own = block * times if step > moves[axis] else max(1, moves[axis] // apart)
    return Part(unit, name, size, own, access.access.grid[axis], axis)


def _short(store: TensorAccess, part: Part) -> Hint:
    count, form = part.name or store.count, "each" if part.programs > 1 else "one"
    needed = fact("grid.blocks", count=count, block=f"{part.block:,}") if part.block > 1 else count
    advice = fact("grid.takes", programs=needed, unit=part.unit, needed=part.needed)
    if store.words.marked("tuned", store.source) and part.block > 1 and store.access.times == 1:
        advice, form = fact("grid.tuned", count=count), f"tuned_{form}"
    if store.access.times > 1:
        advice = fact(f"grid.loop.{'named' if part.name else 'unnamed'}", name=part.name, unit=part.unit)
    elif part.axis is not None and part.programs == part.size // part.block:
        advice = fact("grid.rounded", advice=advice)
    if part.axis is None and store.takes_y:
        advice = fact("grid.second", advice=advice)
    return store.hint(fact(f"grid.short.{form}", launched=store.launched, covers=_covers(store, part), each=part.block),
                      advice, "grid")


def _covers(access: TensorAccess, part: Part) -> Fact:
    return fact(f"grid.covers.{'named' if part.name else 'unnamed'}", where=access.where, size=part.size,
                first="" if part.covered == 1 else f" {part.covered:,}", unit=part.unit, of=part.name,
                name=access.layout.name)


def _masked(store: TensorAccess, missing: int, first: int) -> Hint | None:
    access, layout = store.access, store.layout
    if access.skipped and not (access.cut and store.flat):
        left = [] if branches(store.source, access.line) else returns(store.source, access.line)
        return store.hint(fact("left_out.seen", launched=store.launched, name=layout.name, where=store.where),
                          fact("left_out.returns", line=left[-1]) if left else fact("left_out.advice"), "left out")
    if not access.cut:
        return None
    advice = fact("masked.flat", count=store.count) if store.flat else fact("masked.matrix", **layout.sizes)
    if store.words.threads and store.flat and missing == layout.total % store.several:
        advice = fact("several", count=store.several, rest=missing)
    return store.hint(
        fact("masked.from" if store.flat else "masked.seen", where=store.where, missing=missing, total=layout.total,
             name=layout.name, first=store.named(first)), advice, "mask")
