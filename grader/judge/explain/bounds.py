"""What all loads and stores outside their tensors say together: how far each case reaches shows which stride is
wrong."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from grader.assignment import Assignment, Input, Output
from grader.judge.explain.runs import ONE_TOO_FAR
from grader.result import VERDICT_OF_KIND, CheckResult, Reach

FEWEST_FAILED = 2


@dataclass(frozen=True)
class Stride:
    """The theory that a kernel takes the rows of a matrix to be `taken` elements apart: a size's name, or a number."""

    matrix: Input | Output
    taken: str | int

    @property
    def action(self) -> str:
        return "store" if isinstance(self.matrix, Output) else "load"

    def is_wrong(self, sizes: dict[str, int]) -> bool:
        down, across = self.matrix.size_names
        return sizes[down] > 1 and self._apart(sizes) != sizes[across]

    def passes(self, sizes: dict[str, int]) -> int:
        """How many elements past the end the last element lies; 0 or less if it lies within."""
        rows, columns = (sizes[name] for name in self.matrix.size_names)
        return (rows - 1) * self._apart(sizes) + columns - rows * columns

    def _apart(self, sizes: dict[str, int]) -> int:
        return self.taken if isinstance(self.taken, int) else sizes[self.taken]

    @property
    def text(self) -> str:
        name, (down, across) = self.matrix.name, self.matrix.size_names
        return (f"the {self.action} seems to assume that rows of {name} lie {self.taken} elements apart, but they lie "
                f"{across} apart: element (i, j) of {name}, {down} x {across}, lies at i * {across} + j.")


def explain_bounds(
    assignment: Assignment, failed: Sequence[CheckResult], passed: Sequence[CheckResult]
) -> str | None:
    """The hint that fits how far every failed case reached; None if none does, or if a case failed otherwise."""
    if not all(_reach(check) or _is_answer(check) for check in failed):
        return None
    telling = [(check, reach) for check in failed if max(check.sizes.values()) > 1 for reach in _reach(check)]
    if not telling or any(reach.before for _, reach in telling):
        return None
    if all(reach.past == 1 for _, reach in telling):
        return ONE_TOO_FAR
    matrices = [
        p for p in assignment.parameters
        if isinstance(p, Input | Output) and len(p.shape) == len(p.size_names) == 2]
    if (names := _one_row(matrices, telling)) is not None:
        return f"One row of {' and of '.join(names)} too far: does the mask of the rows say <= where < is meant?"
    if len(failed) < FEWEST_FAILED:
        return None
    singles = [stride for matrix in matrices for stride in _strides(matrix, passed)]
    pairs = [(a, b) for a in singles for b in singles if a.action == "load" and b.action == "store"]
    for theory in (*((stride,) for stride in singles), *pairs):
        if all(_fits(theory, check) for check in failed) and not any(
            stride.is_wrong(check.sizes) for stride in theory for check in passed
        ):
            return _told(theory, passed)
    return None


def _one_row(
    matrices: Sequence[Input | Output], telling: Sequence[tuple[CheckResult, Reach]]
) -> list[str] | None:
    """The matrices, if every access outside lies at most one row beyond one of them, and some access exactly one
    row."""
    rows = {matrix.name: matrix.size_names[1] for matrix in matrices
            if any(_is_of(reach, matrix) for _, reach in telling)}
    # A mask along the row, or the end of the grid, may keep some cases from a whole row.
    if not all(any(_is_of(reach, m) and reach.past <= check.sizes[m.size_names[1]] for m in matrices)
               for check, reach in telling):
        return None
    whole = {reach.given for check, reach in telling if reach.past == check.sizes[rows[reach.given]] > 1}
    return list(rows) if whole == set(rows) else None


def _strides(matrix: Input | Output, passed: Sequence[CheckResult]) -> Iterator[Stride]:
    down, across = matrix.size_names
    names = sorted({name for check in passed for name in check.sizes} - {across})
    # The other size of the same matrix is what is mixed up most.
    for name in sorted(names, key=lambda name: name != down):
        yield Stride(matrix, name)
    right = {check.sizes[across] for check in passed if check.sizes[down] > 1}
    if len(right) == 1 and (number := right.pop()) > 1:
        yield Stride(matrix, number)


def _fits(theory: Sequence[Stride], check: CheckResult) -> bool:
    """Whether the theory predicts how a case failed: at these loads or stores and no further, or with a wrong
    answer."""
    wrong = [stride for stride in theory if stride.is_wrong(check.sizes)]
    if not _reach(check):
        return bool(wrong) and all(stride.passes(check.sizes) <= 0 for stride in theory)
    return all(
        any(_is_of(reach, stride.matrix) and reach.past <= stride.passes(check.sizes) for stride in wrong)
        for reach in _reach(check))


def _is_of(reach: Reach, matrix: Input | Output) -> bool:
    return reach.given == matrix.name and (reach.access != "load") == isinstance(matrix, Output)


def _told(theory: Sequence[Stride], passed: Sequence[CheckResult]) -> str:
    text = " And ".join(stride.text for stride in theory)
    down, across = theory[0].matrix.size_names
    square = any(check.sizes[down] == check.sizes[across] > 1 for check in passed)
    if square and not any(isinstance(stride.taken, int) for stride in theory):
        return f"Right for square matrices, wrong for the others: {text}"
    return text[:1].upper() + text[1:]


def _reach(check: CheckResult) -> list[Reach]:
    """How far its loads and stores go outside their tensors; nothing of a case that failed otherwise."""
    return [] if check.detail is None or check.detail.kind != "out_of_bounds" else check.detail.reach


def _is_answer(check: CheckResult) -> bool:
    return check.detail is not None and VERDICT_OF_KIND[check.detail.kind] == "wrong_answer"
