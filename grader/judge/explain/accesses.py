"""Loads and stores held against the tensors that they go to: strides, steps of loops, grids and masks.

Every sentence says what a kernel does as a simulator saw it: tile and grid are those of the launch.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from torch import Tensor

from grader.judge.explain.evidence import Hint, plural
from grader.judge.explain.layout import TensorAccess

STORED = ("store", "atomic")


def misplaced(seen: Sequence[TensorAccess]) -> Hint | None:
    """Hint for the first access whose strides, programs or steps are not those of its tensor."""
    for one in seen:
        # How far lanes lie apart may not be known, or how far a loop reaches.
        if not one.unsteady and not one.looked_up and (hint := _strides(one) or (
            None if any(apart is None for _, apart, _ in one.dimensions) else _programs(one) or _steps(one)
        )) is not None:
            return hint
    return None


def _strides(one: TensorAccess) -> Hint | None:
    layout = one.layout
    right = {1, *one.shares, *([layout.columns] if layout.down else [])}
    wrong = next((apart for _, apart, _ in one.dimensions if apart and apart not in right), None)
    if wrong is None:
        return None
    return one.hint(
        f"in {one.where} neighbours in the tile lie {one.named(wrong)} elements apart in {layout.name}"
        f"{layout.rows_apart}.", layout.text, "stride")


def _programs(one: TensorAccess) -> Hint | None:
    """Hint for programs that do not lie as far apart as a tile is large."""
    access, layout = one.access, one.layout
    tile = {apart: size for _, apart, size in one.dimensions if apart}
    lanes, step = math.prod(access.tile), abs(access.step or 0)
    # As far as a tile or a loop reaches, whole and as a mask leaves it.
    right = {apart * size * times for apart, size in tile.items() for times in (1, access.times)} | {
        step * (access.times - 1) * more + apart * live[number] for number, apart, _ in one.dimensions if apart
        for more, live in ((0, access.live), (1, access.last))} | ({step * access.times} if not tile else set())
    # A row for each program, element by element.
    row = not tile and layout.is_output and layout.is_matrix and step == 1 and access.times == layout.columns
    for axis, moved in enumerate(access.programs):
        # If a matrix has one row, programs for further rows have nothing to do.
        if not moved or moved < 0 or (moved >= layout.total and not row):
            continue
        rows = layout.is_matrix and moved % layout.columns == 0
        if (moved == layout.columns) if row else rows if one.one_row else (
            # So many rows each, or one place of a row, which a label or an index may decide.
            moved in right or (rows and (moved // layout.columns == one.along(layout.columns) or access.times > 1))
            or (moved == 1 and 1 not in tile) or (layout.is_matrix and not rows and lanes == 1)
        ):
            continue
        if one.words.sights.same_thread and not tile and moved == lanes > 1:
            return one.hint(f"in {one.where} all {lanes:,} lanes of a program use the same element of {layout.name}.",
                            one.words.sights.same_thread, "same thread")
        covered = " x ".join(f"{size:,}" for size in tile.values()) or "one"
        return one.hint(
            f"from program 0 to the next one along axis {axis} {one.where} moves on by {one.distance(moved)}"
            f"{layout.rows_apart}, where a tile covers {covered}.",
            f"What is {one.words.names.program_ids[axis]} multiplied by? It is the size of a block in the direction "
            "that it counts.", "program ids")
    return None


def _steps(one: TensorAccess) -> Hint | None:
    """Hint for a loop that does not move a tile by a tile along the size that is summed over."""
    access, layout = one.access, one.layout
    inner = {layout.down, layout.across} & one.summed
    if access.times < 2 or not layout.is_matrix or not inner:
        return None
    apart = layout.columns if layout.down in inner else 1
    size = one.along(apart)
    # Where one step is enough, the loop goes over something else.
    if size >= (layout.rows if apart > 1 else layout.columns) or access.step in {
        apart * size * share for share in (1, access.times, math.prod(access.grid), *access.grid)
    }:
        return None
    return one.hint(
        f"in its loop {one.where} moves on by {one.distance(access.step or 0)} from one step to the next.",
        f"The next block along {inner.pop()} begins {plural(apart * size, 'element')} on.", "loop step")


def beyond_rows(seen: Sequence[TensorAccess], accesses: Sequence[str]) -> Hint | None:
    """Hint for the first access of these kinds whose mask leaves lanes on beyond the last column, which lie in the next
    row, or beyond the last row."""
    for one in seen:
        access, layout = one.access, one.layout
        if access.access not in accesses or one.flat or not layout.is_matrix:
            continue
        # Of a place that a number decides, that of a label or an index, the beginning may be anywhere.
        if one.looked_up and access.first % layout.columns:
            continue
        step = access.step or 0
        moved = step * (access.times - 1) if 0 < step < layout.columns else 0
        for number, apart, _ in one.dimensions:
            last = [] if one.unsteady else [(access.first + moved, access.last)]
            for first, live in ((access.first, access.live), *last):
                row, column = divmod(first, layout.columns)
                left, unit, name = (layout.columns - column, "columns", layout.across) if apart == 1 else (
                    layout.rows - row, "rows", layout.down)
                if apart in (1, layout.columns) and all(live) and live[number] > left >= 0:
                    return one.hint(
                        f"{one.where} goes on for {live[number]:,} {unit} of its tile, where {layout.name} has "
                        f"{left:,} left of {name} = {one.sizes[name]:,}"
                        + (": the others lie in the next row." if apart == 1 else "."), one.compared, "mask")
    return None


def uncovered(seen: Sequence[TensorAccess], unwritten: Tensor) -> Hint | None:
    """The grid, loop or mask that left elements of the output unwritten, judging by the one store to it.

    `unwritten` marks the elements. None where a simulator did not see how far the programs reach.
    """
    stores = [one for one in seen if one.layout.is_output and one.access.access == "store"]
    if (hint := misplaced(seen) or beyond_rows(seen, STORED)) is not None:
        return hint
    # Too few programs, and a mask that ends too early, leave out ends. A beginning has another cause.
    if len(stores) != 1 or not stores[0].access.even or stores[0].unsteady or bool(unwritten.flatten()[0]) or any(
        apart is None for _, apart, _ in stores[0].dimensions
    ):
        return None
    one = stores[0]
    parts = list(_reach(one))
    short = [part for part in parts if part.covered < part.size]
    first = int(unwritten.flatten().int().argmax())
    # A mask may end before the programs do.
    if not short or (one.flat and first < parts[0].covered):
        return _masked(one, int(unwritten.sum()), first)
    if len(parts) == 2:
        down, across = parts
        if (down.programs, across.programs) == (across.needed, down.needed) != (down.needed, across.needed):
            return one.hint(
                f"{one.launched}, as many along the rows of {one.layout.name} as there are blocks along its columns, "
                f"{across.needed:,}, and along the columns {down.needed:,}.",
                "Which of a program's numbers counts blocks of rows? Grid, loads and store must agree: exchange the "
                "sizes of the grid, or the two offsets of the tile that is stored.", "grid axes exchanged")
    return _short(one, short[0])


@dataclass(frozen=True)
class Part:
    """The reach of a launch's programs along the rows, the columns, or all elements of an output: `block` of them for
    each program."""

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
    """The reach of a store along rows and columns, or along all elements where it knows no rows."""
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
    # A loop by more than a program's own block goes on where the last program ends.
    own = block * times if step > moves[axis] else max(1, moves[axis] // apart)
    return Part(unit, name, size, own, one.access.grid[axis], axis)


def _short(one: TensorAccess, part: Part) -> Hint:
    size = f"{part.name} = {part.size:,}" if part.name else f"{part.size:,}"
    count, names = part.name or one.count, one.words.names
    first = "the first" if part.covered == 1 else f"the first {part.covered:,}"
    each = f", {part.block:,} in each program" if part.programs > 1 else ""
    programs = names.blocks.format(count=count, block=f"{part.block:,}") if part.block > 1 else count
    look = (f"They take {programs} = {part.needed:,} programs, each {names.program_id} times a block on, or a loop "
            f"over the {part.unit}s.")
    if one.access.times > 1:
        look = f"Where does the loop end? {part.name or 'Their number'} is another one in each case."
    elif part.axis is not None and part.programs == part.size // part.block:
        look += " Is a size divided with //, which leaves out the last, partial block?"
    second = names.program_ids[1]
    if part.axis is None and second in one.source:
        look += f" The kernel takes {second}: has the grid a second size for it?"
    return one.hint(
        f"{one.launched}; of the {size} {part.unit}s of {one.layout.name} {one.where} covers {first} alone{each}.",
        look, "grid")


def _masked(one: TensorAccess, missing: int, first: int) -> Hint:
    at = f", all from element {one.named(first)} on" if one.flat else ""
    look = one.compared
    if one.words.sights.several and one.flat and missing == one.layout.total % one.several:
        look = one.words.sights.several.format(count=one.several, rest=plural(missing, "element"))
    return one.hint(
        f"the programs of the launch reach further in {one.layout.name}: it is the mask of {one.where} that leaves "
        f"{missing:,} of {one.layout.total:,} elements out{at}.", look, "mask")
