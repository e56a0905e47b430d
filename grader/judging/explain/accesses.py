"""Hints from loads and stores that do not fit the layout of their tensors: strides, grids and masks.

Every sentence says what a simulator saw: tile and grid are those of the launch.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations_with_replacement, product
from typing import Any, NamedTuple

from torch import Tensor

from grader.judging.explain.evidence import Hint
from grader.judging.explain.wording import say, started
from grader.languages.phrases import Fact, Phrases, fact
from grader.plan.findings import Access

# Numbers of elements that a thread may take at once.
SHARES = (2, 4, 8)


@dataclass(frozen=True)
class Layout:
    """A contiguous tensor of `rows` x `columns`; `down` and `across` are the names of these sizes. A vector is one row,
    and its `down` is ""."""

    name: str
    is_output: bool
    down: str
    across: str
    rows: int
    columns: int

    @property
    def total(self) -> int:
        return self.rows * self.columns

    @property
    def is_matrix(self) -> bool:
        return min(self.rows, self.columns) > 1

    @property
    def sizes(self) -> dict[str, Any]:
        """Return the values that sentences about the tensor have."""
        return {"name": self.name, "down": self.down, "across": self.across, "columns": self.columns}


@dataclass(frozen=True)
class TensorAccess:
    """A load or store, the tensor that it goes to, and the words of its kernel's language. `launch` is the line of the
    launch in the student's file `source`, `several` the number of elements that a thread takes at once. `looked_up`:
    the place may come from a tensor of indices, so the distance between programs shows nothing."""

    access: Access
    layout: Layout
    sizes: Mapping[str, int]
    launch: int
    source: str
    words: Phrases
    several: int = 1
    looked_up: bool = False

    @property
    def where(self) -> Fact:
        return fact("here", access=fact(f"access.{self.access.access}"), line=self.access.line)

    @property
    def unsteady(self) -> bool:
        """Return whether the access's reach is unknown: the step of its loop is, or programs begin among elements that
        others take."""
        step, times = self.access.step, self.access.times
        return times > 1 and (step is None or any(
            moved and step <= moved <= step * (times - 1) for moved in self.access.programs))

    @property
    def launched(self) -> Fact:
        return started(self.launch, self.access.grid)

    @property
    def takes_y(self) -> bool:
        """Return whether the file asks for a program's number along y."""
        return say(self.words, fact("program_id_y")) in self.source

    @property
    def count(self) -> str:
        """Return the number of the tensor's elements in words, as a product of the names of its sizes."""
        return " * ".join(filter(None, (self.layout.down, self.layout.across)))

    @property
    def dimensions(self) -> Iterator[tuple[int, int | None, int]]:
        """Yield the tile's dimensions along which several lanes take part: number, distance between neighbouring lanes
        in elements (None if unknown), size."""
        for number, (size, apart) in enumerate(zip(self.access.tile, self.access.lanes, strict=True)):
            if size > 1 and max(self.access.live[number], self.access.last[number]) > 1:
                yield number, apart, size

    def named(self, number: int) -> str:
        """Return a number in words, with the name of the size, or of the product of two sizes, if it equals exactly
        one."""
        names = [name for name, size in self.sizes.items() if size == number] or [
            f"{a} * {b}" for a, b in combinations_with_replacement(self.sizes, 2)
            if self.sizes[a] * self.sizes[b] == number]
        return f"{names[0]} = {number:,}" if len(names) == 1 and number > 1 else f"{number:,}"

    def along(self, apart: int) -> int:
        """Return the number of the tile's lanes that follow each other at this distance. Lanes of further dimensions
        that go on behind them count as well, but not in a matrix, where a new row begins."""
        sizes = {step: size for _, step, size in self.dimensions if step}
        reach = apart
        while (size := sizes.pop(reach, 0)) and (reach == apart or not self.layout.is_matrix):
            reach *= size
        return reach // apart

    @classmethod
    def of_threads(cls, access: Access) -> tuple[Access, int]:
        """Merge the neighbouring elements that each thread takes at once into the dimension of threads. Returns the
        access, and how many elements each thread takes; the access as it is, and 1, if threads take single ones."""
        *tile, several = access.tile
        *lanes, apart = access.lanes
        # The distance between threads is unknown if only one takes part, or some do not.
        if not tile or several not in SHARES or apart != 1 or (
            lanes[-1] not in (several, None) and access.live[-2] != 1):
            return access, 1
        return access.model_copy(update={
            "tile": [*tile[:-1], tile[-1] * several], "lanes": [*lanes[:-1], None if lanes[-1] is None else 1],
            "live": [*access.live[:-2], access.live[-2] * several],
            "last": [*access.last[:-2], access.last[-2] * several]}), several

    @property
    def one_row(self) -> bool:
        """Return whether each program has a row of its own: the mask of a one-dimensional tile ends where a row
        does."""
        access, columns = self.access, self.layout.columns
        return self.layout.is_matrix and access.lanes == [1] and access.live == [columns] != access.tile

    @property
    def flat(self) -> bool:
        """Return whether the kernel indexes elements of the tensor without regard to rows."""
        access, columns = self.access, self.layout.columns
        if not self.layout.is_matrix:
            return True
        moves = [moved for moved in access.programs if moved]
        if len(access.tile) != 1 or columns in access.lanes or self.one_row:
            return False
        return not moves or moves[0] % columns != 0 or (moves[0] % access.tile[0] == 0 and moves[0] != columns)

    def hint(self, seen: Fact | None, look: Fact, pattern: str) -> Hint:
        return Hint(seen, look, pattern=pattern, line=self.access.line)


def misplaced(seen: Sequence[TensorAccess]) -> Hint | None:
    """Return a hint for the first access whose strides, or distances between programs, do not fit its tensor."""
    for one in seen:
        # The distance between lanes, or the reach of a loop, may be unknown.
        if not one.unsteady and not one.looked_up and (hint := _strides(one) or (
            None if any(apart is None for _, apart, _ in one.dimensions) else _programs(one)
        )) is not None:
            return hint
    return None


def _strides(one: TensorAccess) -> Hint | None:
    layout = one.layout
    # A dimension of the tile may go on where another one ends, and each lane may take the elements of some rounds.
    right = {1, *[layout.columns] * bool(layout.down), *(apart * size for _, apart, size in one.dimensions if apart),
             (one.access.step or 0) * one.access.times}
    wrong = next((apart for _, apart, _ in one.dimensions if apart and apart not in right), None)
    # A thread may own several elements, at any distance from the next thread's.
    kind = "matrix" if layout.is_matrix else "vector"
    return None if wrong is None or one.words.threads else one.hint(
        fact(f"stride.{kind}", where=one.where, apart=one.named(wrong), **layout.sizes),
        fact("stride.rows" if layout.down else "stride.neighbours", **layout.sizes), "stride")


def _programs(one: TensorAccess) -> Hint | None:
    """Return a hint if the distance between programs is not the extent of a tile; None if it is."""
    access, layout = one.access, one.layout
    tile = {apart: size for _, apart, size in one.dimensions if apart}
    lanes, step = math.prod(access.tile), abs(access.step or 0)
    # Right distances: the extent of a tile or of a loop, whole or as far as a mask lets it reach.
    right = {apart * size * times for apart, size in tile.items() for times in (1, access.times)} | {
        step * (access.times - 1) * more + apart * live[number] for number, apart, _ in one.dimensions if apart
        for more, live in ((0, access.live), (1, access.last))} | ({step * access.times} if not tile else set())
    for axis, moved in enumerate(access.programs):
        # If a matrix has one row, programs for further rows have nothing to do. A third axis may count parts of a sum.
        if moved is None or not 0 < moved < layout.total or (axis == 2 and layout.is_matrix):
            continue
        rows = layout.is_matrix and moved % layout.columns == 0
        if rows if one.one_row else (
            # Right, too: several rows a program, or one element of a row, which a label or an index may choose.
            moved in right or (rows and (moved // layout.columns == one.along(layout.columns) or access.times > 1))
            or (moved == 1 and 1 not in tile) or (layout.is_matrix and not rows and lanes == 1)
        ):
            continue
        if one.words.threads and not tile and moved == lanes > 1:
            return one.hint(fact("same_thread.seen", where=one.where, lanes=lanes, name=layout.name),
                            fact("same_thread.look"), "same thread")
        covered = fact("distance.tile", sizes=" x ".join(f"{size:,}" for size in tile.values())) if tile else (
            fact("distance.one"))
        return one.hint(
            fact("distance.seen", where=one.where, covered=covered, axis=fact("xyz"[axis]), further=one.named(moved),
                 moved=moved, width=fact("distance.width", **layout.sizes) if layout.is_matrix else "", **layout.sizes),
            fact("distance.look", id=fact(f"program_id_{'xyz'[axis]}")), "program ids")
    return None


def uncovered(seen: Sequence[TensorAccess], unwritten: Tensor) -> Hint | None:
    """Return a hint for the grid, loop or mask that left elements of the output unwritten, from the only store to it.

    `unwritten` (bool, of the output's shape) marks the elements. None if a simulator did not see how far the programs
    reach.
    """
    stores = [one for one in seen if one.layout.is_output and one.access.access == "store"]
    # Too few programs, or a mask that ends too early, leave out an end. A missing beginning has another cause.
    if len(stores) != 1 or not (one := stores[0]).access.even or one.unsteady or bool(unwritten.flatten()[0]) or any(
        apart is None for _, apart, _ in one.dimensions):
        return None
    parts = list(_reach(one))
    short = [part for part in parts if part.covered < part.size]
    first = int(unwritten.flatten().int().argmax())
    # A mask may end before the programs do.
    if not short or (one.flat and first < parts[0].covered):
        return _masked(one, int(unwritten.sum()), first)
    if len(parts) == 2:
        down, across = parts
        # Programs of a one-dimensional grid may be numbered in groups.
        two = any(size > 1 for size in one.access.grid[1:]) or one.takes_y
        if two and (down.programs, across.programs) == (across.needed, down.needed) != (down.needed, across.needed):
            first = down.axis == 0 or across.axis == 1
            needed = (down.needed, across.needed) if first else (across.needed, down.needed)
            return one.hint(fact("grid.exchanged.seen", launched=one.launched, name=one.layout.name, first=needed[0],
                                 second=needed[1]), fact("grid.exchanged.look"), "grid axes exchanged")
    # There are enough programs, and offsets depend on their numbers: so the kernel divides these numbers in a wrong
    # way.
    more = math.prod(one.access.grid) - math.prod(part.needed for part in parts)
    if one.access.times > 1 or all(part.axis is None for part in parts) or more < 0:
        return _short(one, short[0])
    return one.hint(
        fact(f"grid.{'more' if more else 'enough'}", launched=one.launched, name=one.layout.name,
             tiles=" x ".join(f"{part.block:,}" for part in parts), covers=_covers(one, short[0])),
        fact("grid.divided"), "grid")


def overlapping(seen: Sequence[TensorAccess], unwritten: Tensor) -> Hint | None:
    """Return a hint for a store in a loop whose programs overlap: each begins among the elements of the one before."""
    if len(seen) != 1 or not (one := seen[0]).flat:
        return None
    access, step, further, end = one.access, one.access.step or 0, one.access.times - 1, one.access.end or 0
    axis, moved = next(((axis, moved) for axis, moved in enumerate(access.programs) if moved), (0, 0))
    if not 0 < step <= moved <= step * further or not 0 < end <= int(unwritten.flatten().int().argmax()):
        return None
    return one.hint(
        fact("overlap.seen", where=one.where, covered=step * further + one.along(1), name=one.layout.name,
             rounds=further + 1, moved=moved, end=end),
        fact("overlap.look", id=fact(f"program_id_{'xyz'[axis]}")), "program ids")


def rest_by_groups(seen: Sequence[TensorAccess], unwritten: Tensor) -> Hint | None:
    """Return a hint for the store of a rest that begins at the number of whole groups, and not at the number of their
    elements."""
    first = int(unwritten.flatten().int().argmax())
    for rest, groups in product(seen, seen):
        start = rest.access.first
        if rest.several == 1 < groups.several and 0 < start < first == start * groups.several:
            return rest.hint(
                fact("rest.seen", where=rest.where, start=start, groups=groups.where, first=first,
                     several=groups.several), fact("rest.look", several=groups.several), "rest")
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


def _reach(one: TensorAccess) -> Iterator[Part]:
    """Yield the reach of a store along rows and columns, or along all elements if it is `flat`."""
    access, layout = one.access, one.layout
    moves = [moved if moved and (layout.is_matrix or moved < layout.total) else 0 for moved in access.programs]
    step = max(0, access.step or 0)
    if one.flat:
        yield _part(one, "element", "" if layout.down else layout.across, layout.total, 1, moves, step)
        return
    rows = [moved if _by_rows(one, moved) else 0 for moved in (*moves, step)]
    columns = [0 if by_rows else moved for by_rows, moved in zip(rows, (*moves, step), strict=True)]
    yield _part(one, "row", layout.down, layout.rows, layout.columns, rows[:3], rows[3])
    yield _part(one, "column", layout.across, layout.columns, 1, columns[:3], columns[3])


def _by_rows(one: TensorAccess, moved: int) -> bool:
    down, over = divmod(moved, one.layout.columns)
    return not over and (down == one.along(one.layout.columns) or moved != one.along(1))


def _part(one: TensorAccess, unit: str, name: str, size: int, apart: int, moves: Sequence[int], step: int) -> Part:
    block, times = one.along(apart), one.access.times
    axis = next((axis for axis, moved in enumerate(moves) if moved), None)
    if axis is None:
        return Part(unit, name, size, block + (times - 1) * step // apart, 1, None)
    # A loop with a larger step than the distance between programs goes on where the last program ends.
    own = block * times if step > moves[axis] else max(1, moves[axis] // apart)
    return Part(unit, name, size, own, one.access.grid[axis], axis)


def _short(one: TensorAccess, part: Part) -> Hint:
    count, each = part.name or one.count, "each" if part.programs > 1 else "one"
    needed = fact("grid.blocks", count=count, block=f"{part.block:,}") if part.block > 1 else count
    look = fact("grid.takes", programs=needed, unit=part.unit, needed=part.needed)
    if one.words.marked("tuned", one.source) and part.block > 1 == one.access.times:
        look, each = fact("grid.tuned", count=count), f"tuned_{each}"
    if one.access.times > 1:
        look = fact(f"grid.loop.{'named' if part.name else 'unnamed'}", name=part.name, unit=part.unit)
    elif part.axis is not None and part.programs == part.size // part.block:
        look = fact("grid.rounded", look=look)
    if part.axis is None and one.takes_y:
        look = fact("grid.second", look=look)
    return one.hint(fact(f"grid.short.{each}", launched=one.launched, covers=_covers(one, part), each=part.block),
                    look, "grid")


def _covers(one: TensorAccess, part: Part) -> Fact:
    return fact(f"grid.covers.{'named' if part.name else 'unnamed'}", where=one.where, size=part.size,
                first="" if part.covered == 1 else f" {part.covered:,}", unit=part.unit, of=part.name,
                name=one.layout.name)


def _masked(one: TensorAccess, missing: int, first: int) -> Hint | None:
    access, layout = one.access, one.layout
    if access.skipped and not (access.cut and one.flat):
        return one.hint(fact("left_out.seen", launched=one.launched, name=layout.name, where=one.where),
                        fact("left_out.look"), "left out")
    if not access.cut:
        return None
    look = fact("masked.flat", count=one.count) if one.flat else fact("masked.matrix", **layout.sizes)
    if one.words.threads and one.flat and missing == layout.total % one.several:
        look = fact("several", count=one.several, rest=missing)
    return one.hint(
        fact("masked.from" if one.flat else "masked.seen", where=one.where, missing=missing, total=layout.total,
             name=layout.name, first=one.named(first)), look, "mask")
