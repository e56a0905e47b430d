"""One message and one hint for an assignment: from the evidence that its cases share, never from one that misleads."""

from collections.abc import Sequence
from typing import Any

import pytest
import torch

from grader.course.assignment import Assignment, Mistake
from grader.course.cases import Case
from grader.judging.answers.answers import AnswerComparisons
from grader.judging.explain import explain_assignment, explain_case
from grader.judging.explain.evidence import UNKNOWN
from grader.results.result import CheckResult, Detail, Outcome, Stage
from grader.results.verdicts import FailureKind
from tests.judging import faults
from tests.judging.toys import GEMM, NORM, SILU, TURN, Fault, called, explain, judge
from tests.rows import each_row

SIZES = [(1, 1), (5, 9), (1, 1009), (1031, 1), (64, 64), (67, 127), (3, 2049)]
"""Sizes that tell grids and masks apart, as those of the assignments do."""


def _checks(
    assignment: Assignment, failed: set[str], detail: Detail | None = None, stage: Stage = "case"
) -> list[CheckResult]:
    def check(case: Case) -> CheckResult:
        outcome: Outcome = "failed" if case.name in failed else "passed"
        found = detail or Detail(kind="wrong_values", message="3 wrong.", hint="Own hint.")
        return CheckResult(
            id=f"case-{case.name}", stage=stage, case=case.name, sizes=case.sizes, outcome=outcome,
            detail=found if outcome == "failed" else None)

    return [check(case) for case in assignment.cases]


def _with_cases(assignment: Assignment, *cases: tuple[dict[str, int], str]) -> Assignment:
    made = tuple(
        Case(name=f"{'x'.join(map(str, sizes.values()))}-{values}", sizes=sizes, values=values)
        for sizes, values in cases
    )
    return assignment.model_copy(update={"cases": made})


def _squares(*sizes: tuple[int, ...], names: str = "MN") -> list[tuple[dict[str, int], str]]:
    return [(dict(zip(names, size, strict=True)), "mixed") for size in sizes]


@pytest.mark.parametrize(
    ("assignment", "sizes", "fails", "words"),
    [
        (TURN, [(8, 8), (33, 33), (5, 9), (129, 37)], lambda m, n: m != n, "N and M differ"),
        (GEMM, [(32, 64, 96), (64, 32, 32), (40, 64, 96), (32, 50, 96), (32, 32, 31)],
         lambda m, n, k: m % 16 or n % 16 or k % 16, "a size is not a multiple of 16;"),
        (SILU, [(7, 96), (64, 64), (5, 33), (64, 104), (300, 16)], lambda m, n: n % 16, "N is not a multiple of 16;"),
    ],
)
def test_what_failed_cases_have_in_common(
    assignment: Assignment, sizes: list[tuple[int, ...]], fails: Any, words: str
) -> None:
    with_cases = _with_cases(assignment, *_squares(*sizes, names="MNK"[: len(sizes[0])]))
    failed = {case.name for case in with_cases.cases if fails(*case.sizes.values())}
    message, hint = said(with_cases, [
        check.model_copy(update={"blocks": [16]}) for check in _checks(with_cases, failed)])
    assert f"in {len(failed)} of {len(sizes)} cases" in message
    assert f"exactly those where {words}" in message and hint == "Own hint."


@pytest.mark.parametrize(("blocks", "words"), [
    ([128, 16], ", exactly those where N is not a multiple of 16;"),
    ([1, 32, 512], ", exactly those where N is not a multiple of 32;"), ([4], "cases;"), ([], "cases;")])
def test_of_blocks_that_fit_the_cases_the_kernels_own_is_named(blocks: list[int], words: str) -> None:
    with_cases = _with_cases(SILU, *_squares((7, 96), (64, 64), (5, 33), (64, 100), (300, 192)))
    checks = [check.model_copy(update={"blocks": blocks}) for check in _checks(with_cases, {
        case.name for case in with_cases.cases if case.sizes["N"] % 32})]
    assert words in said(with_cases, checks)[0]


@pytest.mark.parametrize(("blocks", "words"), [
    ([128], ", exactly those where the number of elements is not a multiple of 128;"), ([256], "cases;")])
def test_blocks_of_a_flat_index_hold_elements(blocks: list[int], words: str) -> None:
    with_cases = _with_cases(SILU, *_squares((7, 9), (64, 66), (5, 33), (64, 104), (8, 16), (3, 128)))
    checks = [check.model_copy(update={"blocks": blocks}) for check in _checks(with_cases, {
        case.name for case in with_cases.cases if case.sizes["M"] * case.sizes["N"] % 128})]
    assert words in said(with_cases, checks)[0]


@each_row(("assignment", "sizes", "told", "blocks", "words"), [
    (SILU, [(5, 9), (67, 127), (64, 64), (32, 32)], None, [], ", exactly those where M and N differ;"),
    (SILU, [(5, 9), (67, 127), (64, 64), (32, 32)], [], [], " cases;"),
    (SILU, [(5, 9), (67, 127), (64, 64), (32, 32)], [], [16], ", exactly those where the number of elements is not a"),
    (SILU, [(5, 9), (67, 9), (64, 64), (32, 48)], None, [16], ", in each of which a size is not a multiple of 16;"),
    (GEMM, [(5, 5, 7), (3, 4, 6), (16, 16, 16), (32, 32, 64)], None, [16], ", in each of which a size is not a"),
    (GEMM, [(40, 64, 96), (32, 50, 96), (32, 64, 96), (64, 32, 32)], None, [16, 32],
     ", exactly those where a size is not a multiple of a block;")])
def test_no_condition_is_told_that_may_fit_by_chance(
    assignment: Assignment, sizes: list[tuple[int, ...]], told: list[str] | None, blocks: list[int], words: str
) -> None:
    with_cases = _with_cases(assignment, *_squares(*sizes, names="MNK"[: len(sizes[0])]))
    failed = {case.name for case in with_cases.cases[:2]}
    checks = [check.model_copy(update={"blocks": blocks, "told": told}) for check in _checks(with_cases, failed)]
    assert words in said(with_cases, checks)[0]


def test_cases_are_told_apart_by_what_their_names_say() -> None:
    values = ("mixed", "bf16-tiny", "mixed", "tiny", "bf16")
    assignment = _with_cases(SILU, *(({"M": size, "N": size + 1}, value) for size, value in enumerate(values)))
    message, _ = said(assignment, _checks(assignment, {c.name for c in assignment.cases if c.name.endswith("tiny")}))
    assert message.startswith("Wrong in 2 of 5 cases, exactly those where the name says -tiny; first 1x2-bf16-tiny:")


def test_without_a_common_condition_the_first_failure_speaks() -> None:
    sizes = [(64, 64), (33, 33), (5, 9), (3, 7), (100, 64)]
    assignment = _with_cases(SILU, *_squares(*sizes))
    message, hint = said(assignment, _checks(assignment, {"33x33-mixed", "64x64-mixed", "5x9-mixed"}))
    assert message == "Wrong in 3 of 5 cases; first 64x64-mixed: 3 wrong." and hint == "Own hint."
    everywhere = {case.name for case in assignment.cases}
    message, hint = said(assignment, _checks(assignment, everywhere))
    assert message.startswith("Wrong in all 5 cases") and hint == "Own hint."


def test_a_mistake_that_several_cases_show_is_told_before_the_first_hint() -> None:
    assignment = _with_cases(NORM, *_squares((1, 1), (5, 9), (7, 30), (2, 1)))
    checks = _checks(assignment, {"1x1-mixed", "5x9-mixed", "7x30-mixed"})
    for check in checks[1:3]:
        assert check.detail is not None
        check.detail.hint, check.detail.pattern = NORM.mistakes[0].hint, "mistake: eps_outside"
    assert said(assignment, checks)[1] == NORM.mistakes[0].hint


def test_what_one_case_of_many_shows_speaks_for_none_of_the_others() -> None:
    assignment = _with_cases(NORM, *_squares((5, 9), (7, 30), (9, 5), (33, 7), (2, 3)))
    checks = _checks(assignment, {case.name for case in assignment.cases})
    assert checks[-1].detail is not None
    # Each has a detail of its own, as cases have.
    checks[-1].detail = Detail(
        kind="wrong_values", message="1 wrong.", hint="A mistake.", pattern="mistake: eps_outside")
    assert said(assignment, checks)[1] == "Own hint."


def test_failures_before_any_case_and_success() -> None:
    source = CheckResult(
        id="source", stage="source", outcome="failed",
        detail=Detail(kind="syntax_error", message="line 3: '(' was never closed", hint="Look at line 3."))
    not_run = [CheckResult(id=f"case-{c.name}", stage="case", case=c.name, outcome="not_run") for c in SILU.cases]
    assert said(SILU, [source, *not_run]) == ("line 3: '(' was never closed", "Look at line 3.")
    assert said(SILU, not_run)[0] == "2 checks of 2 did not run."
    assert said(SILU, _checks(SILU, set())) == ("Right in all 2 cases.", "")
    crashed = Detail(kind="crash", message="killed by SIGSEGV")
    assert said(SILU, _checks(SILU, {"64x100"}, crashed))[0].startswith("Fails in 1 of 2 cases")


def test_a_case_of_one_element_does_not_speak() -> None:
    relu = Mistake(name="relu", hint="the ReLU", answer=lambda x: x.double().clamp(min=0))
    assignment = SILU.model_copy(update={"mistakes": (relu,)})
    message, hint = _told(assignment, faults.copies_x, SIZES)
    assert "in 5x9:" in message and "is x itself" in hint and "ReLU" not in hint
    positive = {"x": torch.ones(1, 1)}
    detail = explain(assignment, SILU.cases[0], faults.copies_x, inputs=positive)
    assert "cannot tell the cause" in detail.hint and detail.pattern == UNKNOWN


def test_the_hint_that_most_cases_agree_on_is_told_with_a_case_that_shows_it() -> None:
    message, hint = _told(SILU, faults.rounded_to_float16, SIZES)
    assert "rounded to float16" in hint
    shown = message.partition(" in ")[2].partition(": ")[0]
    assert not shown.endswith("1x1"), message


@pytest.mark.parametrize("fault", [faults.mean_over_padded_block, faults.eps_outside])
def test_a_recognised_mistake_needs_no_common_condition(fault: Fault) -> None:
    padded = Mistake(name="padded", hint="divide by N", answer=_padded_mean)
    assignment = NORM.model_copy(update={"mistakes": (*NORM.mistakes, padded)})
    message, hint = _told(assignment, fault, [(5, 9), (3, 257), (37, 64), (4, 32), (24, 100)])
    assert hint in ("divide by N", NORM.mistakes[0].hint) and "exactly those" not in message


def test_shapes_are_told() -> None:
    assignment = _with_cases(TURN, *_squares((1, 1), (1, 37), (41, 1), (5, 9), (31, 33), (64, 64), (32, 32)))
    everywhere = {case.name for case in assignment.cases if case.sizes["M"] != case.sizes["N"]}
    message, _ = said(assignment, _checks(assignment, everywhere))
    assert "exactly those where N and M differ" in message


@pytest.mark.parametrize("kind", ["exception", "policy", "syntax_error"])
def test_sizes_are_not_blamed_for_what_a_message_says(kind: FailureKind) -> None:
    assignment = _with_cases(SILU, *_squares((7, 64), (64, 64), (5, 33), (64, 100), (300, 128)))
    failed = {case.name for case in assignment.cases if case.sizes["N"] in (33, 100)}
    detail = Detail(kind=kind, message="no", hint="")
    message, hint = said(assignment, _checks(assignment, failed, detail))
    assert "exactly those" not in message and hint == ""


def test_the_failure_that_decides_the_verdict_speaks() -> None:
    target = CheckResult(
        id="target", stage="target", outcome="failed",
        detail=Detail(kind="exception", message="70,000 programs along y", hint="Larger blocks."))
    wrong = _checks(SILU, {case.name for case in SILU.cases})
    assert said(SILU, [*wrong, target]) == ("70,000 programs along y", "Larger blocks.")
    crashed = _checks(SILU, {SILU.cases[0].name}, Detail(kind="exception", message="IndexError: 1", hint="Look."))
    message, hint = said(SILU, [*crashed, target])
    assert message == "Fails in 1 of 2 cases; in 64x100: IndexError: 1" and hint == "Look."

    assignment = _with_cases(SILU, *_squares((5, 9), (1, 1), (64, 64)))
    mixed = _checks(assignment, {case.name for case in assignment.cases})
    for check in mixed:
        check.detail = Detail(kind="wrong_values", message="3 wrong.", hint="It is b.", pattern="mistake: b", total=9)
    mixed[1].detail = Detail(kind="exception", message="IndexError: 1", hint="Look.")
    message, hint = said(assignment, mixed)
    assert message == "Fails in 1 of 3 cases and is wrong in 2; in 1x1-mixed: IndexError: 1"
    assert hint == "Look."


def test_a_guess_from_another_case_goes_as_a_whole() -> None:
    assignment = _with_cases(SILU, *_squares((5, 9), (1, 7), (64, 64)))
    mixed = _checks(assignment, {case.name for case in assignment.cases}, Detail(
        kind="wrong_values", message="3 wrong.", hint="It is b.", guess="It is b.", pattern="mistake: b", total=9))
    mixed[1].detail = Detail(kind="out_of_bounds", message="Line 3 reaches outside.", hint="A mask.")
    summary = explain_assignment(assignment, mixed)
    assert summary.hint == summary.guess == "In 5x9-mixed: It is b."


def test_what_has_nothing_to_do_with_sizes_is_said_once() -> None:
    policy = Detail(kind="policy", message="Line 3 copies a tensor.", hint="In a kernel.")
    everywhere = {case.name for case in SILU.cases}
    assert said(SILU, _checks(SILU, everywhere, policy)) == (policy.message, policy.hint)
    message, _ = said(SILU, _checks(SILU, {SILU.cases[1].name}, policy))
    assert message == "Fails in 1 of 2 cases; in 37x129: Line 3 copies a tensor."


def test_cases_that_only_a_gpu_can_judge_are_counted() -> None:
    checks = _checks(SILU, set())
    checks[1].outcome = "not_run"
    checks[1].detail = Detail(kind="needs_gpu", message="The operation `x` needs a GPU.", hint="On a GPU.")
    assert said(SILU, checks) == (
        "1 of 2 cases can be judged on a GPU alone; first 37x129: The operation `x` needs a GPU.", "On a GPU.")
    target = checks[1].model_copy(update={"id": "target", "stage": "target", "case": ""})
    assert said(SILU, [*checks, target])[0].startswith("1 of 2 cases")


def test_cases_that_were_not_run_are_not_counted_as_right() -> None:
    checks = _checks(SILU, {SILU.cases[0].name}, Detail(kind="import_error", message="No module", hint="Alone."))
    checks[1].outcome = "not_run"
    assert said(SILU, checks) == ("No module", "Alone.")


def test_the_case_shown_and_what_all_have_in_common_are_told_apart() -> None:
    assignment = _with_cases(TURN, *_squares((8, 8), (33, 33), (5, 9), (129, 37)))
    checks = _checks(assignment, {"5x9-mixed", "129x37-mixed"}, Detail(kind="wrong_values", message="; in 8x8: a"))
    summary = explain_assignment(assignment, checks)
    assert summary.common == "Wrong in 2 of 4 cases, exactly those where N and M differ"
    assert summary.shown is checks[2] and summary.message == f"{summary.common}; first 5x9-mixed: ; in 8x8: a"
    whole = explain_assignment(SILU, _checks(SILU, set()))
    assert (whole.common, whole.shown) == ("", None)


def said(assignment: Assignment, checks: list[CheckResult]) -> tuple[str, str]:
    summary = explain_assignment(assignment, checks)
    return summary.message, summary.hint


def _told(assignment: Assignment, fault: Fault, sizes: Sequence[tuple[int, ...]]) -> tuple[str, str]:
    """What is said of a faulty kernel that was run on cases of these sizes."""
    names = "MNK" if assignment is GEMM else "MN"[: len(sizes[0])]
    cases = [Case(name="x".join(map(str, s)), sizes=dict(zip(names, s, strict=True))) for s in sizes]
    assignment = assignment.model_copy(update={"cases": tuple(cases)})
    return said(assignment, [_check(assignment, case, fault) for case in cases])


def _check(assignment: Assignment, case: Case, fault: Fault) -> CheckResult:
    inputs, got, comparison = judge(assignment, case, fault)
    detail = None
    if not comparison.passed:
        detail = explain_case(called(assignment, case, got), inputs, AnswerComparisons({"out": comparison}))
    return CheckResult(
        id=f"case-{case.name}", stage="case", case=case.name, sizes=case.sizes, detail=detail,
        outcome="failed" if detail else "passed")


def _padded_mean(x: torch.Tensor, weight: torch.Tensor, eps: float) -> torch.Tensor:
    out = torch.empty(x.shape, dtype=torch.float64)
    faults.mean_over_padded_block({"x": x.double(), "weight": weight.double()}, out, out)
    return out
