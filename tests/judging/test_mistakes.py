"""Mistakes are claimed where an output shows them, and never one for another."""

import inspect
import math
from collections.abc import Callable
from functools import cache, wraps
from typing import Any

import pytest
import torch
from torch import Tensor

from grader.course.assignment import Assignment, Mistake
from grader.course.cases import Case, shape_of
from grader.course.catalogue import assignments, right_answer
from grader.course.parameters import Inputs
from grader.judging.answers.answers import AnswerComparisons
from grader.judging.answers.compare import compare, poison_
from grader.judging.explain import explain_case
from grader.judging.explain.wording import mistaken, say
from grader.results.result import Detail
from tests.judging import faults
from tests.judging.toys import BLEND, GEMM, NORM, called, explain
from tests.rows import each_row

SMALL, LARGEST = 10_000, 50_000
"""Elements of an output: larger cases than the first are for mistakes that those do not show."""


def _once(answer: Callable[..., Any]) -> Callable[..., Any]:
    """The same answer, worked out once for the same tensors: each mistake is held against each other's."""
    kept: dict[tuple[int, ...], tuple[Any, Any]] = {}

    @wraps(answer)
    def once(**given: Any) -> Any:
        key = tuple(map(id, given.values()))
        if "out" in given:
            return answer(**given)
        if key not in kept:
            # What is kept keeps its number.
            kept[key] = given, answer(**given)
        return kept[key][1]

    once.__signature__ = inspect.signature(answer)  # type: ignore[attr-defined]
    return once


REAL = {name: assignment.model_copy(update={"mistakes": tuple(
    mistake.model_copy(update={"answer": _once(mistake.answer)}) for mistake in assignment.mistakes)})
    for name, assignment in assignments().items()}
EACH = [
    pytest.param(assignment, mistake, id=f"{assignment.name}-{number}-{mistake.name}")
    for assignment in REAL.values() for number, mistake in enumerate(assignment.mistakes)
]


@cache
def drawn(name: str) -> list[tuple[Case, Inputs]]:
    """The cases of an assignment that are small enough, the smallest first, with inputs."""
    cases = [case for case in REAL[name].cases_for("cpu") if 1 < _elements(REAL[name], case) <= LARGEST]
    cases.sort(key=lambda case: _elements(REAL[name], case))
    return [(case, REAL[name].make_inputs(case, torch.Generator().manual_seed(3))) for case in cases]


def _elements(assignment: Assignment, case: Case) -> int:
    return math.prod(shape_of(assignment.output, case))


@pytest.mark.parametrize(("assignment", "mistake"), EACH)
def test_each_mistake_is_told_from_the_others(assignment: Assignment, mistake: Mistake) -> None:
    seen, shown = 0, False
    for case, inputs in drawn(assignment.name):
        if seen and _elements(assignment, case) > SMALL:
            break
        answer = mistake.answer(**inputs)
        if answer is None:
            continue
        shown = True
        detail = _explained(assignment, case, inputs, answer)
        if detail is not None and detail.pattern.startswith("mistake: "):
            seen += 1
            assert detail.pattern == f"mistake: {mistake.name}", (case.name, detail.hint)
            assert detail.hint == say(assignment.front_end.phrases, mistaken(mistake.hint))
    # Some mistakes show in cases for a GPU only.
    assert seen or not shown


@pytest.mark.parametrize(("rows", "hint"), [(1, "cannot tell the cause"), (7, "is x itself")])
def test_two_mistakes_together_are_claimed_only_where_nothing_else_is(rows: int, hint: str) -> None:
    # A copy of x is what two mistakes of silu give together.
    x = torch.linspace(-2, -1, rows)[:, None]
    detail = _explained(REAL["silu"], Case(name="column", sizes={"M": rows, "N": 1}), {"x": x}, x)
    assert detail is not None and hint in detail.hint


def test_where_two_mistakes_give_one_answer_neither_is_claimed() -> None:
    twin = Mistake(name="twin", hint="the twin", answer=NORM.mistakes[0].answer)
    both = NORM.model_copy(update={"mistakes": (*NORM.mistakes, twin)})
    detail = explain(both, both.cases[0], faults.eps_outside)
    assert "More than one mistake gives this answer: eps_outside and twin." in detail.hint and not detail.pattern
    assert detail.fits == [f"mistake: {NORM.mistakes[0].name}", "mistake: twin"] and twin.hint not in detail.hint


def test_a_mistake_may_be_the_one_that_is_nearest_to_what_was_answered() -> None:
    def tenfold(a: Tensor, b: Tensor, out: Tensor | None = None) -> Tensor:
        right = a.double() @ b.double()
        return 10 * right if out is None else torch.where(out.double().abs() > 5 * right.abs(), out.double(), right)

    with_mistake = GEMM.model_copy(update={"mistakes": (Mistake(name="far", hint="far too large", answer=tenfold),)})

    def times(factor: int) -> Callable[..., None]:
        return lambda inputs, right, out: out.copy_(right.double() * factor)

    assert explain(with_mistake, GEMM.cases[0], times(7)).hint == "far too large"
    assert explain(with_mistake, GEMM.cases[0], times(3)).hint != "far too large"


def test_a_mistake_that_is_nearly_right_is_not_claimed_for_another_small_error() -> None:
    nearly = Mistake(name="nearly", hint="nearly", answer=lambda a, b: (a.double() @ b.double()) * (1 + 2.0**-11))
    with_mistake = GEMM.model_copy(update={"mistakes": (nearly,)})

    def a_little_too_large(inputs: Any, right: torch.Tensor, out: torch.Tensor) -> None:
        out.copy_(right.double() * (1 + 2.0**-8) + 0.01)

    assert "nearly" not in explain(with_mistake, GEMM.cases[0], a_little_too_large).hint


STORED: dict[str, Callable[..., Tensor]] = {
    "cut off": lambda x, y: (0.6 * x.double() + 0.4 * y.double()).floor(),
    "rounded": lambda x, y: (0.6 * x.double() + 0.4 * y.double()).round(),
    "in integers": lambda x, y: (154 * x.int() + 102 * y.int()) >> 8,
}


@each_row("stored", STORED)
@each_row("case", BLEND.cases, ids=lambda case: case.name)
def test_bytes_that_a_mistake_gives_are_known_however_they_are_rounded(stored: str, case: Case) -> None:
    def mistaken(inputs: Any, right: Tensor, out: Tensor) -> None:
        out.copy_(STORED[stored](**inputs))

    detail = explain(BLEND, case, mistaken)
    assert (detail.kind, detail.pattern, detail.hint) == ("wrong_values", "mistake: swapped", "0.4 is for x")


def test_bytes_are_not_nearly_right() -> None:
    def two_more(inputs: Any, right: Tensor, out: Tensor) -> None:
        out.copy_(right)[(right > 100) & (right < 250)] += 2

    nothing_known = BLEND.model_copy(update={"mistakes": ()})
    detail = explain(nothing_known, BLEND.cases[0], two_more)
    assert not [word for word in ("digits", "precision", "times") if word in detail.hint], detail.hint


def test_infinities_alone_are_no_likeness() -> None:
    endless = Mistake(name="endless", hint="endless", answer=lambda a, b: (a.double() @ b.double()).sign() * torch.inf)
    with_mistake = GEMM.model_copy(update={"mistakes": (endless,)})

    def infinite(inputs: Any, right: torch.Tensor, out: torch.Tensor) -> None:
        out.copy_(right.sign() * torch.inf)

    assert "endless" not in explain(with_mistake, GEMM.cases[0], infinite).hint


def _explained(assignment: Assignment, case: Case, inputs: Any, answer: torch.Tensor) -> Detail | None:
    """What is said of an output that holds `answer`; None if it passes."""
    expected = right_answer(assignment, inputs)
    got = torch.empty(expected.shape, dtype=getattr(torch, assignment.output.dtype))
    poison_(got)
    got.copy_(answer)
    tolerance = assignment.tolerance
    comparison = compare(got, expected, None if tolerance is None else tolerance(inputs, expected))
    return None if comparison.passed else explain_case(
        called(assignment, case, got), inputs, AnswerComparisons({assignment.output.name: comparison}))
