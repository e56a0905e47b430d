"""How far all cases reach outside their tensors tells which stride or comparison is wrong."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import pytest

from grader.assignment import Case
from grader.judge.explain import explain_assignment
from grader.result import CheckResult, Detail, Reach
from tests.judge.toys import TURN

Far = dict[Literal["load", "store", "atomic", "wrong"], int]
"""By what a faulty kernel does in a case: elements past the end; {"wrong": 0} for a wrong answer, {} for a right one.
Loads are of x (M, N), stores of out (N, M)."""
Reaches = Callable[[int, int], Far]

SIZES = ((1, 1), (1, 37), (41, 1), (5, 9), (31, 33), (103, 3), (7, 52), (64, 64))


def last(access: Literal["load", "store"], rows: int, columns: int, apart: int) -> Far:
    """As a kernel whose rows of a matrix are `apart` elements apart, in the one load or store that is wrong."""
    far = (rows - 1) * apart + columns - rows * columns
    return {access: far} if far > 0 else {"wrong": 0} if rows > 1 and apart != columns else {}


@pytest.mark.parametrize(
    ("reaches", "words"),
    [
        (lambda m, n: last("store", n, m, n), ("Right for square", "rows of out lie N elements apart", "i * M + j")),
        (lambda m, n: last("load", m, n, m), ("Right for square", "rows of x lie M elements apart", "i * N + j")),
        (lambda m, n: last("load", m, n, m) | last("store", n, m, n), ("the load", "And the store")),
        (lambda m, n: last("store", n, m, 64), ("rows of out lie 64 elements apart",)),
        (lambda m, n: {"load": 1}, ("One element too far",)),
        (lambda m, n: {"load": 1, "store": 1}, ("One element too far",)),
        (lambda m, n: {"load": n}, ("One row of x too far",)),
        (lambda m, n: {"store": m}, ("One row of out too far",)),
        (lambda m, n: {"load": n, "store": m}, ("One row of x and of out too far",)),
        (lambda m, n: {"load": 1024 - m * n % 1024}, ("Own hint",)),
        # Further than the wrong stride alone would reach.
        (lambda m, n: {"store": 7 * m * n} if n > m else {"wrong": 0} if n != m else {}, ("Own hint",)),
    ],
)
def test_how_far_all_cases_reach_tells_the_stride_or_the_comparison(reaches: Reaches, words: tuple[str, ...]) -> None:
    _, hint = explained(reaches)
    assert [word for word in words if word not in hint] == [], hint


@pytest.mark.parametrize("change", [
    {"given": ""}, {"given": "weight"}, {"access": "atomic"}, {"before": 3}], ids=["own", "other", "atomic", "before"])
def test_no_stride_is_blamed_for_an_access_of_another_kind(change: dict[str, str | int]) -> None:
    """The same distances, but of another tensor, by another access, or at the other end too."""
    _, hint = explained(lambda m, n: last("load", m, n, m), change)
    assert hint.endswith("Own hint.") and "elements apart" not in hint


def explained(reaches: Reaches, change: dict[str, str | int] | None = None) -> tuple[str, str]:
    cases = tuple(Case(name=f"{m}x{n}", sizes={"M": m, "N": n}) for m, n in SIZES)
    checks = [check(case, reaches(*case.sizes.values()), change or {}) for case in cases]
    summary = explain_assignment(TURN.model_copy(update={"cases": cases}), checks)
    return summary.message, summary.hint


def check(case: Case, far: Far, change: dict[str, str | int]) -> CheckResult:
    detail = None
    if far:
        detail = Detail(kind="wrong_values", message="3 wrong.", total=9)
        given = {"load": "x", "store": "out"}
        reach = [Reach.model_validate({"access": access, "tensor": "p", "given": given[access], "past": past, **change})
                 for access, past in far.items() if access in given]
        if reach:
            detail = Detail(kind="out_of_bounds", hint="Own hint.", message="The load reaches far.", reach=reach)
    return CheckResult(
        id=f"case-{case.name}", stage="case", case=case.name, sizes=case.sizes, detail=detail,
        outcome="failed" if detail else "passed")
