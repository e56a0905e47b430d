"""Hints from loads and stores whose strides do not fit the layout of their tensors.

Every sentence says what a simulator saw: tile and grid are those of the launch.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations_with_replacement
from typing import Any

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
        row = self.across if self.across.isdigit() else f"{self.across} = {self.columns:,}"
        return {"name": self.name, "down": self.down, "across": self.across, "row": row}


@dataclass(frozen=True)
class TensorAccess:
    """A load or store, the tensor that it goes to, and the words of its kernel's language. `launch` is the line of the
    launch in the student's file `source`, `several` the number of elements that a thread takes at once. `gathered`:
    the place may come from a tensor of indices, so the distance between programs shows nothing."""

    access: Access
    layout: Layout
    sizes: Mapping[str, int]
    launch: int
    source: str
    words: Phrases
    several: int = 1
    gathered: bool = False

    @property
    def where(self) -> Fact:
        return fact("here", access=fact(f"access.{self.access.access}"), line=self.access.line)

    @property
    def unsteady(self) -> bool:
        """Return whether the access's reach is unknown: the stride of its loop is unknown, or a program begins among
        elements that the loop of another one takes."""
        stride, times = self.access.loop_stride, self.access.times
        if times <= 1:
            return False
        if stride is None:
            return True
        last = stride * (times - 1)
        return any(moved and stride <= moved <= last for moved in self.access.program_strides)

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
        for number, (size, apart) in enumerate(zip(self.access.tile, self.access.lane_strides, strict=True)):
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

    @property
    def is_known(self) -> bool:
        """Return whether the distance between lanes is known along each dimension."""
        return all(apart is not None for _, apart, _ in self.dimensions)

    @property
    def one_row(self) -> bool:
        """Return whether each program has a row of its own: the mask of a one-dimensional tile ends where a row
        does."""
        access, row = self.access, [self.layout.columns]
        if not self.layout.is_matrix or access.lane_strides != [1]:
            return False
        return access.live == row and access.tile != row

    @property
    def flat(self) -> bool:
        """Return whether the kernel indexes elements of the tensor without regard to rows."""
        access, columns = self.access, self.layout.columns
        if not self.layout.is_matrix:
            return True
        if len(access.tile) != 1 or columns in access.lane_strides or self.one_row:
            return False
        moved = next((moved for moved in access.program_strides if moved), None)
        # The programs of a kernel that knows rows begin at rows.
        if moved is None or moved % columns != 0:
            return True
        return moved != columns and moved % access.tile[0] == 0

    def hint(self, seen: Fact | None, advice: Fact, pattern: str) -> Hint:
        return Hint(seen, advice, pattern=pattern, line=self.access.line)


def merge_threads(access: Access) -> tuple[Access, int]:
    """Merge the neighbouring elements that each thread takes at once into the dimension of threads. Returns the
    access, and how many elements each thread takes; the access as it is, and 1, if threads take single ones."""
    *tile, several = access.tile
    *lanes, apart = access.lane_strides
    if not tile or several not in SHARES or apart != 1:
        return access, 1
    # The distance between threads is unknown if only one takes part, or some do not.
    if lanes[-1] not in (several, None) and access.live[-2] != 1:
        return access, 1
    return access.model_copy(update={
        "tile": [*tile[:-1], tile[-1] * several], "lane_strides": [*lanes[:-1], None if lanes[-1] is None else 1],
        "live": [*access.live[:-2], access.live[-2] * several],
        "last": [*access.last[:-2], access.last[-2] * several]}), several


def misplaced(seen: Sequence[TensorAccess]) -> Hint | None:
    """Return a hint for the first access whose strides, or distances between programs, do not fit its tensor."""
    for access in seen:
        if access.unsteady or access.gathered:
            continue
        hint = _strides(access)
        if hint is None and access.is_known:
            hint = _programs(access, [other for other in seen if _is_beside(other, access)])
        if hint is not None:
            return hint
    return None


def _strides(access: TensorAccess) -> Hint | None:
    layout = access.layout
    # A thread may own several elements, at any distance from the next thread's.
    if access.words.threads:
        return None
    # A dimension of the tile may go on where another one ends, and each lane may take the elements of some rounds.
    right = {1, *(apart * size for _, apart, size in access.dimensions if apart),
             (access.access.loop_stride or 0) * access.access.times}
    if layout.down:
        right.add(layout.columns)
    wrong = next((apart for _, apart, _ in access.dimensions if apart and apart not in right), None)
    if wrong is None:
        return None
    kind = "matrix" if layout.is_matrix else "vector"
    return access.hint(
        fact(f"stride.{kind}", where=access.where, apart=access.named(wrong), **layout.sizes),
        fact("stride.rows" if layout.down else "stride.neighbours", **layout.sizes), "stride")


def _is_beside(other: TensorAccess, access: TensorAccess) -> bool:
    """Return whether an access is one of those that cover the same tensor in the same launch."""
    return other.is_known and (other.access.kernel, other.access.grid, other.access.buffer, other.access.access) == (
        access.access.kernel, access.access.grid, access.access.buffer, access.access.access)


def _programs(tensor_access: TensorAccess, together: Sequence[TensorAccess]) -> Hint | None:
    """Return a hint if the distance between programs is not the extent of a tile; None if it is. `together`: this and
    other accesses cover what a program takes, such as the first tile, which is loaded ahead of a loop, and others."""
    access, layout = tensor_access.access, tensor_access.layout
    tile = _tile(tensor_access)
    extents = {extent for other in together for extent in _extents(other, _tile(other))} | {_reach(together)}
    for axis, moved in enumerate(access.program_strides):
        # If a matrix has one row, programs for further rows have nothing to do.
        if moved is None or not 0 < moved < layout.total:
            continue
        # The programs of a third axis may each take a part of a sum.
        if axis == 2 and layout.is_matrix:
            continue
        if tensor_access.one_row:
            is_right = moved % layout.columns == 0
        else:
            is_right = moved in extents or _choose_elements(tensor_access, tile, moved)
        if is_right:
            continue
        if tensor_access.words.threads and not tile and moved > 1 and moved == math.prod(access.tile):
            return tensor_access.hint(
                fact("same_thread.seen", where=tensor_access.where, lanes=moved, name=layout.name),
                fact("same_thread.advice"), "same thread")
        # A compiler may make several accesses of one line.
        if list(tile) == [1] and access.loop_stride == tile[1]:
            tile[1] *= access.times
        sizes = " x ".join(f"{size:,}" for size in tile.values())
        return tensor_access.hint(
            fact("distance.seen", where=tensor_access.where, axis=fact("xyz"[axis]),
                 further=tensor_access.named(moved), moved=moved,
                 covered=fact("distance.tile", sizes=sizes) if tile else fact("distance.one"),
                 width=fact("distance.width", **layout.sizes) if layout.is_matrix else "", **layout.sizes),
            fact("distance.advice", id=fact(f"program_id_{'xyz'[axis]}")), "program ids")
    return None


def _tile(access: TensorAccess) -> dict[int, int]:
    """Return the sizes of a tile by the distances of neighbouring lanes."""
    return {apart: size for _, apart, size in access.dimensions if apart}


def _reach(together: Sequence[TensorAccess]) -> int:
    """Return the elements from the first to the last one that accesses reach in a program; 0 if they leave a gap."""
    begin = end = min(access.access.first for access in together)
    for access in sorted(together, key=lambda access: access.access.first):
        if access.access.first > end:
            return 0
        steps = [(size - 1) * apart for apart, size in _tile(access).items()]
        steps.append((access.access.times - 1) * (access.access.loop_stride or 0))
        end = max(end, access.access.first + sum(step for step in steps if step > 0) + 1)
    return end - begin


def _extents(tensor_access: TensorAccess, tile: Mapping[int, int]) -> set[int]:
    """Return the right distances between programs: the extent of a tile or of a loop, whole or as far as a mask lets it
    reach."""
    access, stride = tensor_access.access, abs(tensor_access.access.loop_stride or 0)
    extents = {apart * size * times for apart, size in tile.items() for times in (1, access.times)}
    for number, apart, _ in tensor_access.dimensions:
        if apart:
            extents.add(apart * access.live[number])
            extents.add(apart * access.last[number] + stride * (access.times - 1))
    if not tile:
        extents.add(stride * access.times)
    return extents


def _choose_elements(access: TensorAccess, tile: Mapping[int, int], moved: int) -> bool:
    """Return whether the distance `moved` is right although it is no extent: a program takes several rows, or one
    element of a row, which a label or an index may choose."""
    if moved == 1 and 1 not in tile:
        return True
    if not access.layout.is_matrix:
        return False
    rows, rest = divmod(moved, access.layout.columns)
    if rest:
        return math.prod(access.access.tile) == 1
    return access.access.times > 1 or rows == access.along(access.layout.columns)
