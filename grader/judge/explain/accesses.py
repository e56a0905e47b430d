"""Loads and stores held against the tensors that they go to: strides, steps of loops, grids and masks.

Every sentence says what a kernel does as a simulator saw it: tile and grid are those of the launch.
"""

from __future__ import annotations

import math
from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass, replace

from torch import Tensor

from grader.judge.explain.evidence import Hint, plural
from grader.judge.explain.layout import TensorAccess
from grader.judge.explain.lines import spoken

NARROW = (1 << 15, 1 << 16)
"""How many numbers 16 bits count, with and without a sign."""

ROUNDED_DOWN = "grid rounded down"


def misplaced(seen: Sequence[TensorAccess], among: Sequence[TensorAccess] = ()) -> Hint | None:
    """Hint for the first access whose strides, programs or steps are not those of its tensor; `among` are all of the
    call, where they are more."""
    for one in seen:
        if one.unsteady or one.looked_up:
            continue
        by_rows = {axis for other in among or seen for axis, moved in enumerate(other.access.programs)
                   if other.layout.is_matrix and not other.flat and moved and moved % other.layout.columns == 0}
        if (hint := _strides(one) or _programs(one, by_rows) or _steps(one)) is not None:
            return hint
    return None


def _strides(one: TensorAccess) -> Hint | None:
    layout = one.layout
    right = {1, *one.shares, *([layout.columns] if layout.down else [])}
    wrong = next((apart for _, apart, _ in one.dimensions if apart and apart not in right), None)
    if wrong is None:
        return None
    return one.hint(
        f"In {one.where} neighbours in the tile lie {one.named(wrong)} elements apart in {layout.name}"
        + (f", whose rows lie {layout.across} = {layout.columns:,} apart and columns 1." if layout.is_matrix else "."),
        layout.text, "stride")


def _programs(one: TensorAccess, by_rows: Container[int]) -> Hint | None:
    """Hint for programs that do not lie as far apart as a tile is large. `by_rows` are the grid's axes along which
    other tensors move by whole rows."""
    access, layout = one.access, one.layout
    tile = [(apart, size) for _, apart, size in one.dimensions if apart]
    if any(apart is None for _, apart, _ in one.dimensions):
        return None
    for axis, moved in enumerate(access.programs):
        # A row of an output, stored element by element: by whole rows other tensors move, too.
        one_by_one = (not tile and layout.is_output and layout.is_matrix and access.even and access.times > 1
                      and abs(access.step or 0) == 1 and axis in by_rows)
        # If a matrix has one row, programs for further rows have nothing to do.
        if not moved or moved < 0 or (moved >= layout.total and not one_by_one):
            continue
        rows = layout.is_matrix and moved % layout.columns == 0
        span = abs(access.step or 0) * (access.times - 1)
        right = {apart * size * times for apart, size in tile for times in (1, access.times)} | {
            span * more + apart * lanes[number] for number, apart, _ in one.dimensions if apart
            for more, lanes in ((0, access.live), (1, access.last))}
        if not tile and access.times > 1:
            right.add(abs(access.step or 0) * access.times)
        if one.one_row and not rows:
            return one.hint(
                f"from program 0 to the next one along axis {axis} {one.where} moves on by {one.distance(moved)}, "
                f"whose rows lie {layout.across} = {layout.columns:,} apart.", layout.text, "stride")
        if moved in right and not one.one_row and not (one_by_one and not rows):
            continue
        if rows and (moved // layout.columns == one.along(layout.columns) or (access.times > 1 and not one_by_one)):
            continue
        if moved == 1 and 1 not in [apart for apart, _ in tile] and not one_by_one:
            continue
        if layout.is_matrix and not rows and math.prod(access.tile) == 1 and not one_by_one:
            # One element of a row, at a place that a label or an index may decide.
            continue
        told = f"from program 0 to the next one along axis {axis} {one.where} moves on by"
        size = next((size for apart, size in tile if apart == moved), 0)
        by_row = layout.is_matrix and axis in by_rows and (len(access.tile) == 1 or one_by_one)
        if size and not by_row:
            unit = "row" if layout.is_matrix and moved == layout.columns else "element"
            return one.hint(
                f"{told} {plural(1, unit)} of {layout.name}, where a tile has {size:,} of them.",
                f"Multiply {one.words.names.program_ids[axis]} by the block size, {size:,}.", "block size")
        if by_row:
            return one.hint(
                f"{told} {one.distance(moved)}, whose rows lie {layout.across} = {layout.columns:,} apart.",
                layout.text, "stride")
        if one.words.sights.same_thread and not tile and moved == math.prod(access.tile) > 1:
            return one.hint(
                f"in {one.where} all {moved:,} lanes of a program use the same element of {layout.name}: the first of "
                "its block.", one.words.sights.same_thread, "same thread")
        covered = " x ".join(f"{size:,}" for _, size in tile) or "one"
        return one.hint(
            f"{told} {one.distance(moved)}, where a tile covers {covered}.",
            f"What is {one.words.names.program_ids[axis]} multiplied by? It is the size of a block in the direction "
            "that it counts.", "program ids")
    return None


def _steps(one: TensorAccess) -> Hint | None:
    """Hint for a loop that does not move a tile by a tile along the size that is summed over."""
    access, layout = one.access, one.layout
    if access.times < 2 or access.step is None:
        return None
    inner = {layout.down, layout.across} & one.summed
    if not layout.is_matrix or not inner:
        return None
    apart = layout.columns if layout.down in inner else 1
    if apart not in access.lanes and any(distance is None for _, distance, _ in one.dimensions):
        # How far the tile reaches along this size is not known.
        return None
    size = access.tile[access.lanes.index(apart)] if apart in access.lanes else 1
    right, shares = apart * size, {1, access.times, math.prod(access.grid), *access.grid}
    # Where one step is enough, the loop goes over something else.
    if size >= (layout.rows if apart > 1 else layout.columns) or access.step in {right * share for share in shares}:
        return None
    unit = plural(size, "row" if apart > 1 else "column")
    reckoned = f"{size:,} * {layout.across} = " if apart > 1 else ""
    what = "stays where it is" if not access.step else (
        f"moves on by {access.step:,} elements, {layout.distance(access.step)},")
    return one.hint(
        f"In its loop {one.where} {what} in {layout.name} from one step to the next.",
        f"The next block along {inner.pop()} begins {unit} on: {reckoned}{plural(right, 'element')}.", "loop step")


def beyond_rows(seen: Sequence[TensorAccess], accesses: Sequence[str]) -> Hint | None:
    """Hint for the first access of these kinds whose mask leaves lanes on beyond the last column, which lie in the next
    row, or beyond the last row."""
    for one in seen:
        access, layout = one.access, one.layout
        if access.access not in accesses or one.flat or not layout.is_matrix:
            continue
        # A single number of a row, such as that of a label, may stand in any column.
        along = any(apart == 1 for _, apart, _ in one.dimensions)
        if one.looked_up and along and access.access == "load" and (column := access.first % layout.columns):
            return one.hint(
                f"{one.where} begins in column {column:,} of a row of {layout.name}, in program 0.",
                f"{layout.text} Is the number of the row multiplied by {layout.across}, the columns of this very "
                "tensor?", "stride")
        step = access.step or 0
        moved = step * (access.times - 1) if 0 < step < layout.columns else 0
        for number, apart, _ in one.dimensions:
            last = [] if one.unsteady else [(access.first + moved, access.last)]
            for first, live in ((access.first, access.live), *last):
                row, column = divmod(first, layout.columns)
                left, unit, name = (layout.columns - column, "columns", layout.across) if apart == 1 else (
                    layout.rows - row, "rows", layout.down)
                if apart in (1, layout.columns) and all(live) and live[number] > left >= 0:
                    one_more = live[number] == left + 1 < access.tile[number]
                    return one.hint(
                        f"{one.where} goes on for {live[number]:,} {unit} of its tile, where {layout.name} has "
                        f"{left:,} left of {name} = {one.sizes[name]:,}"
                        + (": the others lie in the next row." if apart == 1 else "."),
                        "One too far: does the mask say <= where < is meant?" if one_more else _mask_of(one), "mask")
    return None


def _mask_of(one: TensorAccess) -> str:
    """What the mask should compare; or, where it ends as if rows and columns were exchanged, that it does."""
    access, layout = one.access, one.layout
    if len(access.tile) == 2 and {1, layout.columns} <= set(access.lanes) and layout.rows != layout.columns:
        across, down = access.lanes.index(1), access.lanes.index(layout.columns)
        if (access.live[across], access.live[down]) == (
            min(layout.rows, access.tile[across]), min(layout.columns, access.tile[down])
        ):
            return (one.words.sights.turned if one.turned else
                    "Mask and offsets disagree on which dimension of the tile counts rows: are the strides of "
                    f"{layout.name} exchanged? {layout.text}")
    if not layout.down or one.flat:
        return f"Compare the offsets with the number of elements, {one.count}."
    return f"Compare the index of the row with {layout.down}, and that of the column with {layout.across}."


def same_elements(seen: Sequence[TensorAccess]) -> Hint | None:
    """Hint for a store to the output that is the same for all programs along an axis of the grid."""
    for one in seen:
        for axis, moved in enumerate(one.access.programs):
            if one.layout.is_output and one.access.access == "store" and moved == 0:
                return one.hint(
                    f"All {one.access.grid[axis]:,} programs along axis {axis} of the grid store to the same elements "
                    f"of {one.layout.name}: the offsets of {one.where} do not depend on "
                    f"{one.words.names.program_ids[axis]}.",
                    f"Each program has a block of its own: which {one.words.names.program_id} times which block size "
                    "do the offsets contain, and which axes has the grid?", "same elements")
    return None


def uncovered(seen: Sequence[TensorAccess], unwritten: Tensor) -> Hint | None:
    """The grid, loop or mask that left elements of the output unwritten, judging by the one store to it.

    `unwritten` marks the elements. None where a simulator did not see how far the programs reach.
    """
    stores = [one for one in seen if one.layout.is_output and one.access.access == "store"]
    if len(stores) != 1 or not stores[0].access.even or stores[0].unsteady or any(
        apart is None for _, apart, _ in stores[0].dimensions
    ):
        return None
    if bool(unwritten.flatten()[0]):
        # Too few programs, and a mask that ends too early, leave out ends. A beginning has another cause.
        return None
    one = stores[0]
    parts = list(_reach(one))
    short = [part for part in parts if part.covered < part.size]
    # A mask may end before the programs do.
    if not short or (one.flat and int(unwritten.flatten().int().argmax()) < parts[0].covered):
        return _masked(one, unwritten)
    if len(parts) == 2:
        down, across = parts
        if (down.programs, across.programs) == (across.needed, down.needed) != (down.needed, across.needed):
            # Of an input of the output's size each program loads what it stores.
            loads = [load for load in seen if load.access.access == "load" and load.layout.is_matrix and not load.flat
                     and load.layout.total == one.layout.total]
            if any(all(part.covered >= part.size for part in _reach(load)) for load in loads):
                return one.hint(
                    f"{one.where} counts blocks of rows of {one.layout.name} where blocks of columns are meant, and "
                    f"the other way round: {one.launched}, which the loads agree with.",
                    "Exchange the two offsets of the tile that is stored.", "grid axes exchanged")
            # A kernel may split one program's number into a row and a column of blocks.
            parts_of, split = ("", "") if one.access.grid[1:] != (1, 1) else (
                ", or the two parts of a program's number", " Of a number that is split, // and % by the number of "
                "blocks along the columns give row and column.")
            return one.hint(
                f"the grid's axes are exchanged{parts_of}: {one.launched}, as many along the rows of "
                f"{one.layout.name} as there are blocks along its columns, {across.needed:,}, and along the columns "
                f"{down.needed:,}.",
                "The grid's first size is that of {}, its second that of {}: grid and kernel must agree which of them "
                "counts rows.".format(*one.words.names.program_ids[:2]) + split, "grid axes exchanged")
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
    of = f"{part.unit}s of {one.layout.name}"
    count = part.name or one.count
    blocks = one.words.names.blocks.format(count=count, block=f"{part.block:,}") if part.block > 1 else count
    if part.axis is None:
        alone = math.prod(one.access.grid) == 1
        first = "the first" if part.block == 1 else f"the first {part.block:,}"
        if one.access.times > 1:
            return one.hint(f"in its loop {one.where} covers {first} of the {size} {of} alone.",
                            f"Where does the loop end? {part.name or 'Their number'} is another one in each case.",
                            "one block")
        found = one.hint(
            f"{one.launched}; of the {size} {of} {one.where} covers {first} alone, one block.",
            f"Loop over the {part.unit}s in steps of the block, or launch {blocks} programs along them."
            if alone or len(one.access.tile) < 2 else
            f"Which {one.words.names.program_id} is to move it along the {part.unit}s? They take {blocks} programs.",
            "one block")
        # A case with more programs tells how far each of them goes.
        return replace(found, fits=("one program", "grid")) if alone else found
    found = one.hint(
        f"{one.launched}; along axis {part.axis} each has {part.block:,} of the {size} {of}, {part.covered:,} in all.",
        f"Launch {blocks} = {part.needed:,} of them: the block that the grid is counted with must be the kernel's.",
        "grid")
    if part.programs != part.size // part.block:
        return found
    # If another case has fewer programs, the block is to blame.
    return replace(found, fits=(ROUNDED_DOWN, "grid"), look=spoken(
        f"The last, partial block is missing, as where a size is divided with //: launch {blocks} = {part.needed:,}.",
        one.words))


def _masked(one: TensorAccess, unwritten: Tensor) -> Hint:
    layout = one.layout
    missing = unwritten.reshape(layout.rows, layout.columns)
    lines = [("row", layout.down, missing.all(1)), ("column", layout.across, missing.all(0))]
    if one.flat:
        lines = [("element", "", missing.flatten())]
    ends = []
    for unit, name, bad in lines:
        first = int(bad.int().argmax())
        if first and bool(bad[first:].all()):
            ends.append(f"{unit} {one.named(first)} on" + (f", of {name} = {len(bad):,}" if name else ""))
    at = f", all from {' and from '.join(ends)}" if ends else ""
    look, rest = _mask_of(one), layout.total % one.several
    if one.words.sights.several and one.flat and int(unwritten.sum()) == rest:
        look = one.words.sights.several.format(count=one.several, rest=plural(rest, "element"))
    elif one.flat and (first := int(missing.flatten().int().argmax())) in NARROW:
        look = f"{first:,} is 2 to the power of {first.bit_length() - 1}: is an index or a size kept in 16 bits?"
    return one.hint(
        f"the programs of the launch reach further in {layout.name}: it is the mask of {one.where} that leaves "
        f"{int(unwritten.sum()):,} of {layout.total:,} elements out{at}.", look, "mask")
