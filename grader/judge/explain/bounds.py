"""What loads and stores outside their tensors say together: how far each case reaches tells which stride is wrong."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from grader.assignment import Assignment, Input, Output
from grader.judge.explain.failures import ONE_TOO_FAR
from grader.result import VERDICT_OF_KIND, CheckResult

FEWEST_FAILED = 2

REACH = re.compile(r"(load|store) out of bounds: .* up to ([\d,]{1,18}) elements? past the end")


@dataclass(frozen=True)
class Stride:
    """The theory that rows of a matrix are taken to be `taken` elements apart, a size's name or a number."""

    matrix: Input | Output
    taken: str | int

    @property
    def action(self) -> str:
        return "store" if isinstance(self.matrix, Output) else "load"

    def is_wrong(self, sizes: dict[str, int]) -> bool:
        down, across = self.matrix.shape
        return sizes[down] > 1 and self._apart(sizes) != sizes[across]

    def passes(self, sizes: dict[str, int]) -> int:
        """How many elements past the end the last one comes to lie; 0 or less if it lies within."""
        rows, columns = (sizes[name] for name in self.matrix.shape)
        return (rows - 1) * self._apart(sizes) + columns - rows * columns

    def _apart(self, sizes: dict[str, int]) -> int:
        return self.taken if isinstance(self.taken, int) else sizes[self.taken]

    @property
    def text(self) -> str:
        name, (down, across) = self.matrix.name, self.matrix.shape
        return (f"the {self.action} seems to take the rows of {name} to be {self.taken} elements apart, and they are "
                f"{across}: element (i, j) of {name}, {down} x {across}, lies at i * {across} + j.")


def explain_bounds(
    assignment: Assignment, failed: Sequence[CheckResult], passed: Sequence[CheckResult]
) -> str | None:
    """The hint that fits how far every failed case reached; None if none does, or if a case failed otherwise."""
    reached = [(check, *_reach(check)) for check in failed]
    telling = [(check, action, far) for check, action, far in reached if action and max(check.sizes.values()) > 1]
    if not telling or any(not action and not _is_answer(check) for check, action, _ in reached):
        return None
    if all(far == 1 for _, _, far in telling):
        return ONE_TOO_FAR
    matrices = [p for p in assignment.parameters if isinstance(p, Input | Output) and len(p.shape) == 2]
    for matrix in matrices:
        row = matrix.shape[1]
        theirs = Stride(matrix, row).action
        # The first program that fails need not reach the row's end.
        if all(far <= check.sizes[row] and action == theirs for check, action, far in telling) and any(
            far == check.sizes[row] > 1 for check, _, far in telling
        ):
            return f"One row of {matrix.name} too far: does the mask of the rows say <= where < is meant?"
    if len(failed) < FEWEST_FAILED:
        return None
    singles = [stride for matrix in matrices for stride in _strides(matrix, passed)]
    pairs = [(a, b) for a in singles for b in singles if a.action == "load" and b.action == "store"]
    for theory in (*((stride,) for stride in singles), *pairs):
        if all(_fits(theory, *case) for case in reached) and not any(
            stride.is_wrong(check.sizes) for stride in theory for check in passed
        ):
            return _told(theory, passed)
    return None


def _strides(matrix: Input | Output, passed: Sequence[CheckResult]) -> Iterator[Stride]:
    down, across = matrix.shape
    names = sorted({name for check in passed for name in check.sizes} - {across})
    # The other size of the same matrix is what is mixed up most.
    for name in sorted(names, key=lambda name: name != down):
        yield Stride(matrix, name)
    right = {check.sizes[across] for check in passed if check.sizes[down] > 1}
    if len(right) == 1 and (number := right.pop()) > 1:
        yield Stride(matrix, number)


def _fits(theory: Sequence[Stride], check: CheckResult, action: str, far: int) -> bool:
    """Whether a case should fail just as it did: at such a load or store and no further, or with a wrong answer."""
    if not action:
        return any(s.is_wrong(check.sizes) for s in theory) and all(s.passes(check.sizes) <= 0 for s in theory)
    return any(s.action == action and s.is_wrong(check.sizes) and far <= s.passes(check.sizes) for s in theory)


def _told(theory: Sequence[Stride], passed: Sequence[CheckResult]) -> str:
    text = " And ".join(stride.text for stride in theory)
    down, across = theory[0].matrix.shape
    square = any(check.sizes[down] == check.sizes[across] > 1 for check in passed)
    if square and not any(isinstance(stride.taken, int) for stride in theory):
        return f"Right for square matrices, wrong for the others: {text}"
    return text[:1].upper() + text[1:]


def _reach(check: CheckResult) -> tuple[str, int]:
    """("load" or "store", how far past the end), or ("", 0) for a case that failed otherwise."""
    if check.detail is None or check.detail.kind != "out_of_bounds":
        return "", 0
    found = REACH.search(check.detail.message)
    return (found[1], int(found[2].replace(",", "") or 0)) if found else ("", 0)


def _is_answer(check: CheckResult) -> bool:
    return check.detail is not None and VERDICT_OF_KIND[check.detail.kind] == "wrong_answer"
