"""What the counts of written elements in all cases say about the grid: one case alone fits many explanations."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from grader.assignment import Assignment, Scalar
from grader.result import CheckResult, Region

FEWEST_CASES = 2
BLOCKS = tuple(1 << power for power in range(2, 14))


@dataclass(frozen=True)
class Written:
    """One case: the sides of its output (a vector is one row), how many of its elements were written, and which
    were not: where the "tail" is missing, the first in memory were written."""

    rows: int
    columns: int
    sizes: dict[str, int]
    count: int
    missing: Region | None

    @property
    def total(self) -> int:
        return self.rows * self.columns

    def is_covered(self, extent: Extent) -> bool:
        """Whether a grid that covers `extent` writes exactly what was written."""
        count, missing = extent, "tail"
        if isinstance(count, tuple):
            down, across = count
            count = down * across
            if down > 1 and across < self.columns:
                missing = "columns" if down == self.rows else "corner"
        return count == self.count and (missing == self.missing or count in (0, self.total))


Extent = int | tuple[int, int]
"""So many elements from the start, or (rows, columns) from the top left corner."""

Covers = Callable[[Written], Extent]
Theory = tuple[Covers, str]
"""What a faulty grid or mask covers in a case, and the hint."""


def explain_grid(assignment: Assignment, failed: Sequence[CheckResult], passed: Sequence[CheckResult]) -> str | None:
    """The hint of the simplest theory that gives what was written in every case; None if none does.

    `failed` are the cases that left elements unwritten, `passed` those that are right. A single failed case, or failed
    cases that wrote nothing, tell too little.
    """
    partial = [_written(assignment, c, c.detail.unwritten or 0, c.detail.region) for c in failed if c.detail]
    right = [_written(assignment, check, 0, None) for check in passed]
    if len({case.total for case in partial}) < FEWEST_CASES or not any(case.count for case in partial):
        return None
    for covers, hint in _theories(assignment, partial):
        if all(case.is_covered(covers(case)) for case in (*partial, *right)):
            return hint
    return None


def _written(assignment: Assignment, check: CheckResult, missing: int, region: Region | None) -> Written:
    *outer, columns = (check.sizes[name] for name in assignment.output.shape)
    rows = math.prod(outer)
    return Written(rows, columns, check.sizes, rows * columns - missing, region)


def _theories(assignment: Assignment, partial: list[Written]) -> Iterator[Theory]:
    yield from _same_everywhere(min(partial, key=lambda case: case.count))
    yield from _sizes(assignment)
    for block in reversed(BLOCKS):
        for whole in (_whole, _whole_but_one):
            yield _flat(block, whole), (
                f"In every case only whole blocks of {block:,} are written, and the last, partial one is missing: a "
                "size divided with // rounds down. Use triton.cdiv, and mask the end.")
    if len(assignment.output.shape) == 2:
        yield from _tiles()


def _same_everywhere(first: Written) -> Iterator[Theory]:
    """The same number of elements, rows or columns in every case, that of the case `first`."""
    elements, rows, columns = first.count, first.count // first.columns, first.count // first.rows
    if elements == 1:
        yield lambda case: 1, (
            "Only element 0 is written, whatever the size: what are the offsets multiplied by, do they contain "
            "tl.program_id(0) * BLOCK + tl.arange(0, BLOCK), and what does the mask compare them with?")
    seen = "first {:,} {}s are written in every case, whatever the size"
    yield lambda case: min(case.total, elements), f"The same {seen.format(elements, 'element')}: " + (
        "that is one block. The grid has one program, or the offsets lack tl.program_id(0) * BLOCK. Launch "
        "triton.cdiv(number of elements, BLOCK) programs." if elements & (elements - 1) == 0 else
        "the grid or the mask ends at a number that does not depend on the size.")
    if rows:
        yield lambda case: (min(case.rows, rows), case.columns), (
            f"The same {seen.format(rows, 'row')}: the grid, or a program's loop, ends at a number of rows that does "
            "not depend on the size." if rows > 1 else
            "Only the first row is written in every case: the grid has one program, or every program works on row 0. "
            "The row is tl.program_id(0), and it starts at row * number of columns.")
    if columns:
        yield lambda case: (case.rows, min(case.columns, columns)), (
            f"In every row the same first {columns:,} are written, whatever the size: a program works on one block of "
            "a row. Loop over the row in steps of BLOCK, launch programs along the columns too, or take BLOCK = "
            "triton.next_power_of_2(columns).")


def _sizes(assignment: Assignment) -> Iterator[Theory]:
    names = sorted({name for p in assignment.parameters if not isinstance(p, Scalar) for name in p.size_names})
    output = " * ".join(assignment.output.shape)
    products = [[a] for a in names] + [[a, b] for i, a in enumerate(names) for b in names[i:]]
    for product in products:
        counted = " * ".join(product)
        yield _counting(product), (
            f"In every case only the first {counted} elements are written: the grid or the mask counts {counted} "
            f"elements, where the output has {output}.")
    if len(assignment.output.shape) == 2:
        a, b = assignment.output.shape
        yield lambda case: min(case.rows, case.columns) ** 2, (
            f"In every case as many elements are written as if the matrix were square: {a} and {b} are mixed up "
            "in the grid, the mask or a stride.")


def _tiles() -> Iterator[Theory]:
    for down in BLOCKS:
        for across in BLOCKS:
            yield _axes_exchanged(down, across), (
                "The grid's axes are exchanged: it has as many blocks of rows as it should have of columns. "
                "tl.program_id(0) counts along the grid's first size and tl.program_id(1) along its second: grid and "
                "kernel must agree which of them counts rows.")
            for whole in (_whole, _whole_but_one):
                yield _cornered(down, across, whole), (
                    "In every case only whole blocks are written, and the partial ones at the right and bottom edges "
                    "are missing: the grid needs triton.cdiv in both directions, and a mask for rows and columns.")
            yield _one_tile(down, across), (
                f"Only the top left {down} x {across} is written in every case, whatever the size: the grid has one "
                "program, or the offsets lack tl.program_id(0) * BLOCK_M and tl.program_id(1) * BLOCK_N.")


def _flat(block: int, whole: Callable[[int, int], int]) -> Covers:
    return lambda case: whole(case.total, block)


def _counting(names: list[str]) -> Covers:
    return lambda case: min(case.total, math.prod(case.sizes[name] for name in names))


def _axes_exchanged(down: int, across: int) -> Covers:
    return lambda case: (
        min(case.rows, -(-case.columns // across) * down), min(case.columns, -(-case.rows // down) * across))


def _cornered(down: int, across: int, whole: Callable[[int, int], int]) -> Covers:
    return lambda case: (whole(case.rows, down), whole(case.columns, across))


def _one_tile(down: int, across: int) -> Covers:
    return lambda case: (min(case.rows, down), min(case.columns, across))


def _whole(size: int, block: int) -> int:
    return size // block * block


def _whole_but_one(size: int, block: int) -> int:
    """Whole blocks, at least one, masked."""
    return min(size, max(1, size // block) * block)
