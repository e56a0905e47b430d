"""Points come from positive evidence for each expected check, and from nothing else."""

import pytest

from grader.course import Course, PointsTable, Policy, Threshold
from grader.result import CheckResult, Detail, FailureKind, Interval, Outcome, Stage, Timing
from grader.scoring import correctness_points, performance_points, speedup, verdict_of

EXPECTED = ("source", "case-1x1", "case-5x9", "record")
CASES = EXPECTED[1:3]


def check(name: str, outcome: Outcome = "passed", kind: FailureKind | None = None) -> CheckResult:
    stage: Stage = "case" if name.startswith("case") else "source"
    return CheckResult(
        id=name, stage=stage, outcome=outcome, detail=Detail(kind=kind, message="") if kind else None)


def checks(**changed: CheckResult | None) -> list[CheckResult]:
    found = {name: check(name) for name in EXPECTED} | {k.replace("_", "-"): v for k, v in changed.items()}
    return [c for c in found.values() if c is not None]


def test_all_passed_is_accepted_with_full_points() -> None:
    course = Course()
    assert verdict_of(checks(), EXPECTED) == "accepted"
    assert correctness_points("accepted", checks(), CASES, course.points_of("x"), course) == 60


@pytest.mark.parametrize("name", EXPECTED)
@pytest.mark.parametrize("missing", [None, "not_run"])
def test_a_check_without_evidence_is_no_pass(name: str, missing: Outcome | None) -> None:
    found = [c for c in checks() if c.id != name]
    if missing:
        found.append(check(name, missing))
    verdict = verdict_of(found, EXPECTED)
    assert verdict == "infrastructure_error"
    course = Course()
    assert correctness_points(verdict, found, CASES, course.points_of("x"), course) == 0


def test_nothing_expected_is_nothing_accepted() -> None:
    assert verdict_of([], ()) == "infrastructure_error"


@pytest.mark.parametrize(("kind", "verdict"), [
    ("wrong_values", "wrong_answer"), ("unwritten", "wrong_answer"), ("late_write", "wrong_answer"),
    ("crash", "runtime_error"), ("time_out", "time_limit"), ("out_of_memory", "memory_limit"),
    ("policy", "policy_violation"), ("missing_file", "missing"), ("infrastructure", "infrastructure_error"),
])
def test_kinds_of_failure_and_their_verdicts(kind: FailureKind, verdict: str) -> None:
    assert verdict_of(checks(case_5x9=check("case-5x9", "failed", kind)), EXPECTED) == verdict


def test_a_failure_of_ours_speaks_first_and_a_violation_before_a_wrong_answer() -> None:
    wrong = check("case-5x9", "failed", "wrong_values")
    assert verdict_of(checks(case_5x9=wrong, record=check("record", "failed", "policy")), EXPECTED) == (
        "policy_violation")
    assert verdict_of(checks(case_5x9=wrong, record=check("record", "failed", "infrastructure")), EXPECTED) == (
        "infrastructure_error")


def test_one_wrong_case_costs_all_points_or_its_share() -> None:
    found = checks(case_5x9=check("case-5x9", "failed", "wrong_values"))
    strict, shared = Course(), Course(points=PointsTable(credit="per_case"))
    assert correctness_points("wrong_answer", found, CASES, strict.points_of("x"), strict) == 0
    assert correctness_points("wrong_answer", found, CASES, shared.points_of("x"), shared) == 30


def test_a_violation_costs_all_points_unless_the_course_only_flags_it() -> None:
    found = checks(record=check("record", "failed", "policy"))
    zero, flag = Course(), Course(policy=Policy(violation="flag"))
    assert correctness_points("policy_violation", found, CASES, zero.points_of("x"), zero) == 0
    assert correctness_points("policy_violation", found, CASES, flag.points_of("x"), flag) == 60


def timing(*ratios: float) -> Timing:
    one = Interval(median=1, low=1, high=1)
    return Timing(case="x", sizes={}, slots=4, student_us=1, baseline_us=1, ratios=list(ratios), speedup=one,
                  round_trip_us=0, exposed_us=0)


@pytest.mark.parametrize(("median", "points"), [(0.1, 0), (0.2, 0), (0.55, 20), (0.9, 40), (3, 40)])
def test_performance_points_are_linear_between_floor_and_target(median: float, points: float) -> None:
    got = performance_points([timing(*[median] * 6)], Threshold(floor=0.2, target=0.9), Course().points_of("x"))
    assert got == pytest.approx(points)


def test_cases_weigh_the_same_whatever_their_size() -> None:
    cases = [timing(*[0.5] * 6), timing(*[2.0] * 24)]
    assert speedup(cases).median == pytest.approx(1)
    assert performance_points(cases, Threshold(floor=0.5, target=1.5), Course().points_of("x")) == pytest.approx(20)


def test_an_interval_across_a_step_gets_the_higher_points() -> None:
    noisy = timing(0.69, 0.70, 0.71, 0.69, 0.70, 0.71, 0.70)
    points = performance_points([noisy], Threshold(floor=0.2, target=1.2), Course().points_of("x"))
    assert 40 * 0.50 <= points <= 40 * 0.51 and points > 40 * 0.495
