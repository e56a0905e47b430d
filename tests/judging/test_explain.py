"""Hints follow from evidence: real faults get the right one, unrelated errors get no confident claim."""

from typing import Any

import pytest
import torch

from grader.course.assignment import Assignment, Mistake
from grader.course.cases import Case
from grader.judging.answers.answers import AnswerComparisons
from grader.judging.explain import evidence, explain_case
from grader.results.verdicts import FailureKind
from tests.judging import faults
from tests.judging.toys import GEMM, LINE, NORM, SILU, TURN, Fault, called, explain, judge
from tests.rows import each_row

# (fault, assignments, kind of failure, words that the hint must hold)
SEEN: list[tuple[Fault, tuple[Assignment, ...], FailureKind, tuple[str, ...]]] = [
    (faults.writes_nothing, (SILU, LINE, GEMM), "unwritten", ("Nothing was written", "tl.store")),
    (faults.one_program, (SILU, LINE), "unwritten", ("Nothing stores out",)),
    (faults.doubled, (SILU, LINE, NORM), "wrong_values", ("Every wrong value is 2 times the right one",)),
    (faults.all_nan, (SILU, NORM, GEMM), "not_finite", ("Every element is NaN", "0 / 0")),
    (faults.mean_over_padded_block, (NORM,), "wrong_values", ("a constant factor of its own", "such as a sum")),
    (faults.zeros, (SILU, LINE, GEMM, TURN, NORM), "wrong_values", ("is 0.",)),
    (faults.zero_after_first_block, (SILU, LINE), "wrong_values", ("Every wrong element is 0.",)),
    (faults.copies_x, (SILU, LINE, NORM), "wrong_values", ("Every wrong value is x itself",)),
    (faults.eps_outside, (NORM,), "wrong_values", ("eps belongs under the root",)),
    (faults.rounded_to_float16, (SILU, LINE, NORM, TURN), "wrong_values", ("converted to float16",)),
]
EACH = [
    pytest.param(fault, assignment, case, kind, words, id=f"{fault.__name__}-{assignment.name}-{case.name}")
    for fault, assignments, kind, words in SEEN for assignment in assignments for case in assignment.cases
]
UNKNOWN = [
    pytest.param(fault, assignment, case, id=f"{fault.__name__}-{assignment.name}-{case.name}")
    for fault in (faults.noise, faults.some_noise, faults.large_relative_noise, faults.nan_row)
    for assignment in (SILU, LINE, NORM, GEMM, TURN) for case in assignment.cases
]


@each_row(("fault", "assignment", "case", "kind", "words"), EACH)
def test_a_fault_is_recognised(
    fault: Fault, assignment: Assignment, case: Case, kind: FailureKind, words: tuple[str, ...]
) -> None:
    detail = explain(assignment, case, fault)
    assert detail.kind == kind
    assert [word for word in words if word not in detail.hint] == [], detail.hint
    assert detail.wrong and detail.error_map is not None and detail.worst is not None


@each_row(("fault", "assignment", "case"), UNKNOWN)
def test_other_errors_get_no_confident_claim(fault: Fault, assignment: Assignment, case: Case) -> None:
    detail = explain(assignment, case, fault)
    assert detail.kind in ("wrong_values", "not_finite")
    assert detail.pattern == evidence.UNKNOWN and "cannot tell the cause" in detail.hint


@pytest.mark.parametrize("size", [2, 3, 5, 8, 17])
def test_noise_in_tiny_outputs_is_no_pattern_of_values(size: int) -> None:
    detail = explain(LINE, Case(name="tiny", sizes={"N": size}), faults.noise)
    assert detail.pattern == evidence.UNKNOWN and detail.wrong == size


def test_overflow_is_traced_to_the_inputs_that_cause_it() -> None:
    case = Case(name="wide", sizes={"M": 30, "N": 50})
    x = torch.linspace(-60, 100, 1500)[torch.randperm(1500, generator=torch.Generator().manual_seed(0))].reshape(30, 50)
    detail = explain(SILU, case, faults.exp_of_large_x, inputs={"x": x})
    assert detail.kind == "not_finite"
    assert "x is far above 0" in detail.hint and "exp overflows" in detail.hint
    # A row of NaN is where it is whatever x holds.
    elsewhere = explain(SILU, case, faults.nan_row, inputs={"x": x})
    assert elsewhere.kind == "not_finite" and "exp" not in elsewhere.hint


def test_a_mistake_that_leaves_only_zeros_is_not_claimed() -> None:
    nothing_left = Mistake(name="nothing", hint="nothing is left", answer=lambda x: torch.zeros_like(x.double()))
    detail = explain(SILU.model_copy(update={"mistakes": (nothing_left,)}), SILU.cases[0], faults.zeros)
    assert "nothing is left" not in detail.hint and "Every element is 0" in detail.hint


def test_a_mistake_is_known_where_its_answer_overflows_the_output() -> None:
    huge = Mistake(name="huge", hint="4,096 times", answer=lambda a, b: 4096 * (a.double() @ b.double()))
    with_mistake = GEMM.model_copy(update={"mistakes": (huge,)})
    detail = explain(with_mistake, GEMM.cases[0], faults.far_too_large)
    assert detail.kind == "not_finite" and detail.hint == "4,096 times"


def test_one_element_is_spoken_of_in_the_singular() -> None:
    case = Case(name="1", sizes={"N": 1})
    assert explain(LINE, case, faults.writes_nothing).message == (
        "out was never written: its one element has not changed in the call.")
    assert explain(LINE, case, faults.noise).message.startswith("The only element is wrong; out[0] is ")


def test_the_message_has_the_figures() -> None:
    detail = explain(LINE, LINE.cases[0], faults.one_program)
    assert detail.message == (
        "4,744 of 5,000 elements were never written (the first is out[256]); its other elements are right.")
    assert (detail.wrong, detail.total, detail.unwritten) == (4744, 5000, 4744)


def test_an_input_that_changed_is_named() -> None:
    right = explain(SILU, SILU.cases[0], _answers_rightly, changed=("x",))
    assert right.kind == "input_changed" and "x changed" in right.message and right.wrong == 0
    astray = explain(SILU, SILU.cases[0], faults.writes_nothing, changed=("x",))
    assert astray.kind == "unwritten" and "wrong pointer" in astray.hint
    both = explain(SILU, SILU.cases[0], faults.zeros, changed=("x",))
    assert "Every element is 0" in both.hint and "x changed as well" in both.hint


def test_a_right_answer_needs_no_explanation() -> None:
    inputs, got, comparison = judge(SILU, SILU.cases[0], _answers_rightly)
    assert comparison.passed
    assert explain_case(called(SILU, SILU.cases[0], got), inputs, AnswerComparisons({"out": comparison})) is None


def _answers_rightly(inputs: Any, right: torch.Tensor, out: torch.Tensor) -> None:
    out.copy_(right)
