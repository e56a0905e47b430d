"""What the numbers of elements written in all cases say about the grid: one case alone fits many explanations."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from grader.assignment import Assignment
from grader.judge.evidence import article
from grader.result import CheckResult

FEWEST_CASES = 2
BLOCKS = tuple(1 << power for power in range(2, 14))


@dataclass(frozen=True)
class Written:
    """One case: the sides of its output (a vector is one row) and how many of its elements were written."""

    rows: int
    columns: int
    sizes: dict[str, int]
    count: int

    @property
    def total(self) -> int:
        return self.rows * self.columns


Theory = tuple[Callable[[Written], int], str]
"""How many elements of a case a faulty grid or mask covers, and the hint."""


def explain_grid(assignment: Assignment, failed: Sequence[CheckResult], passed: Sequence[CheckResult]) -> str | None:
    """The hint of the simplest theory that gives the number of elements written in every case; None if none does.

    `failed` are the cases that left elements unwritten, `passed` those that are right. A single failed case, or failed
    cases that wrote nothing, tell too little.
    """
    partial = [_written(assignment, c, c.detail.unwritten or 0) for c in failed if c.detail is not None]
    whole = [_written(assignment, check, 0) for check in passed]
    if len(partial) < FEWEST_CASES or len({case.total for case in partial}) < FEWEST_CASES:
        return None
    if not any(case.count for case in partial):
        return None
    for covers, hint in _theories(assignment, partial):
        if all(covers(case) == case.count for case in (*partial, *whole)):
            return hint
    return None


def _written(assignment: Assignment, check: CheckResult, missing: int) -> Written:
    shape = [check.sizes[name] for name in assignment.output.shape]
    columns = shape[-1] if shape else 1
    rows = math.prod(shape[:-1])
    return Written(rows, columns, check.sizes, rows * columns - missing)


def _theories(assignment: Assignment, partial: list[Written]) -> Iterator[Theory]:
    yield from _same_everywhere(partial)
    yield from _sizes(assignment)
    is_matrix = len(assignment.output.shape) == 2
    for block in reversed(BLOCKS):
        for covered in (_down, _down_but_one):
            yield lambda c, b=block, f=covered: f(c.total, b), (  # type: ignore[misc]
                f"In every case just the whole blocks of {block:,} are written, and the last, partial one is missing: "
                "a size divided with // rounds down. Use triton.cdiv, and mask the end.")
    if is_matrix:
        yield from _tiles()


def _same_everywhere(partial: list[Written]) -> Iterator[Theory]:
    first = min(partial, key=lambda c: c.count)
    count = first.count
    if count == 1:
        yield lambda c: 1, (
            "Only element 0 is written, whatever the size: what are the offsets multiplied by, do they contain "
            "tl.program_id(0) * BLOCK + tl.arange(0, BLOCK), and what does the mask compare them with?")
    one = ("one block: the grid has one program, or the offsets lack tl.program_id(0) * BLOCK. Launch "
           "triton.cdiv(number of {unit}s, BLOCK) programs")
    for unit, covers in (
        ("element", lambda c: min(c.total, count)),
        ("row", lambda c: min(c.rows, max(1, count // first.columns)) * c.columns),
        ("column", lambda c: min(c.columns, max(1, count // first.rows)) * c.rows),
    ):
        number = {"element": count, "row": count // first.columns, "column": count // first.rows}[unit]
        if number == 0:
            continue
        seen = f"The same first {number:,} {unit}s are written in every case, whatever the size"
        if number == 1:
            seen = f"Just the first {unit} is written in every case, whatever the size"
        if number & (number - 1) == 0 and unit == "element":
            why = f": {one.format(unit=unit)}."
        elif unit == "column":
            why = (": a program works on one block of a row. Loop over the row in steps of BLOCK, launch programs "
                   "along the columns too, or take BLOCK = triton.next_power_of_2(columns).")
        elif number == 1:
            why = f": the grid has one program, or the {unit} is not taken from tl.program_id(0)."
        else:
            why = f": the grid, or the loop of a program, ends at {article(unit)} that does not depend on the sizes."
        yield covers, seen + why


def _sizes(assignment: Assignment) -> Iterator[Theory]:
    names = list(dict.fromkeys(name for p in assignment.parameters if hasattr(p, "shape") for name in p.shape))
    output = " * ".join(assignment.output.shape)
    for i, a in enumerate(names):
        yield lambda c, a=a: min(c.total, c.sizes[a]), (  # type: ignore[misc]
            f"In every case just {a} elements are written: the grid or the mask counts {a} elements, where the output "
            f"has {output}.")
        for b in names[i:]:
            yield lambda c, a=a, b=b: min(c.total, c.sizes[a] * c.sizes[b]), (  # type: ignore[misc]
                f"In every case just the first {a} * {b} elements are written: the grid or the mask counts {a} * {b} "
                f"elements, where the output has {output}.")


def _tiles() -> Iterator[Theory]:
    swapped = ("The grid's axes are exchanged: as many blocks are written down as should be written across. "
               "tl.program_id(0) counts along the grid's first size and tl.program_id(1) along its second: kernel and "
               "grid must agree which of them are rows.")
    edges = ("In every case just whole {0} x {1} blocks are written, and the partial ones at the right and bottom "
             "edges are missing: the grid needs triton.cdiv in both directions, and a mask for rows and columns.")
    for down in BLOCKS:
        for across in BLOCKS:
            yield lambda c, d=down, a=across: (  # type: ignore[misc]
                min(c.rows, -(-c.columns // a) * d) * min(c.columns, -(-c.rows // d) * a)), swapped
            for covered in (_down, _down_but_one):
                yield lambda c, d=down, a=across, f=covered: (  # type: ignore[misc]
                    f(c.rows, d) * f(c.columns, a)), edges.format(down, across)
            yield lambda c, d=down, a=across: min(c.rows, d) * min(c.columns, a), (  # type: ignore[misc]
                f"Just the top left {down} x {across} is written in every case, whatever the size: the grid has one "
                "program, or the offsets lack tl.program_id(0) * BLOCK_M and tl.program_id(1) * BLOCK_N.")


def _down(size: int, block: int) -> int:
    return size // block * block


def _down_but_one(size: int, block: int) -> int:
    """As many whole blocks, but one at least, masked."""
    return min(size, max(1, size // block) * block)
