"""Points come from positive evidence for each expected check, and from nothing else."""

from dataclasses import replace

import pytest

from grader.course.course import Course, PointsTable, Policy, Threshold
from grader.course.scoring import (
    EarlierShare,
    contest,
    correctness_points,
    earlier_shares,
    performance_points,
    previous_share,
    speedup,
    verdict_of,
)
from grader.results.result import CheckResult, Detail, Interval, Outcome, Performance, Stage, Timing
from grader.results.verdicts import FailureKind
from tests.pages import samples
from tests.rows import each_row

EXPECTED = ("source", "case-1x1", "case-5x9", "record")
CASES = EXPECTED[1:3]


def check(name: str, outcome: Outcome = "passed", kind: FailureKind | None = None) -> CheckResult:
    stage: Stage = "case" if name.startswith("case") else "target" if name == "target" else "source"
    return CheckResult(
        id=name, stage=stage, outcome=outcome, detail=Detail(kind=kind, message="") if kind else None)


def checks(**changed: CheckResult | None) -> list[CheckResult]:
    found = {name: check(name) for name in EXPECTED} | {k.replace("_", "-"): v for k, v in changed.items()}
    return [c for c in found.values() if c is not None]


def test_all_passed_is_accepted_with_full_points() -> None:
    course = Course()
    assert verdict_of(checks(), EXPECTED) == "accepted"
    assert correctness_points("accepted", checks(), CASES, course.points_of("x"), course) == 60


@each_row("name", EXPECTED)
@each_row("missing", [None, "not_run"])
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


@each_row(("kind", "verdict"), [
    ("wrong_values", "wrong_answer"), ("unwritten", "wrong_answer"), ("race", "wrong_answer"),
    ("crash", "runtime_error"), ("time_out", "time_limit"), ("out_of_memory", "memory_limit"),
    ("policy", "policy_violation"), ("missing_file", "missing"), ("infrastructure", "infrastructure_error"),
])
def test_kinds_of_failure_and_their_verdicts(kind: FailureKind, verdict: str) -> None:
    assert verdict_of(checks(case_5x9=check("case-5x9", "failed", kind)), EXPECTED) == verdict


def test_what_only_a_gpu_can_judge_is_left_open() -> None:
    unjudged = check("case-5x9", "not_run", "needs_gpu")
    assert verdict_of(checks(case_5x9=unjudged), EXPECTED) == "needs_gpu"
    wrong = check("case-1x1", "failed", "wrong_values")
    assert verdict_of(checks(case_1x1=wrong, case_5x9=unjudged), EXPECTED) == "wrong_answer"
    assert verdict_of(checks(record=check("record", "failed", "infrastructure"), case_5x9=unjudged), EXPECTED) == (
        "infrastructure_error")
    shared = Course(points=PointsTable(credit="per_case"))
    points = shared.points_of("x")
    assert correctness_points("needs_gpu", checks(case_5x9=unjudged), CASES, points, shared) == 0
    # Of three cases one is right, one wrong, and one is nobody's: it earns nothing.
    found = [*checks(case_1x1=wrong, case_5x9=unjudged), check("case-2x2")]
    assert correctness_points("wrong_answer", found, (*CASES, "case-2x2"), points, shared) == 20


@pytest.mark.parametrize("unjudged", [False, True])
def test_a_target_that_fails_is_a_case_that_failed_and_no_unjudged_case_makes_up_for_it(unjudged: bool) -> None:
    """A kernel that is right for one element, needs a GPU for all other cases and raises at large sizes had it all."""
    found = [*checks(**({"case_5x9": check("case-5x9", "not_run", "needs_gpu")} if unjudged else {})),
             check("target", "failed", "exception")]
    assert verdict_of(found, (*EXPECTED, "target")) == "runtime_error"
    strict, shared = Course(), Course(points=PointsTable(credit="per_case"))
    assert correctness_points("runtime_error", found, CASES, strict.points_of("x"), strict) == 0
    assert correctness_points("runtime_error", found, CASES, shared.points_of("x"), shared) == (20 if unjudged else 40)


def test_foreign_code_that_is_only_flagged_costs_no_points() -> None:
    found, flag = [*checks(), check("target", "failed", "policy")], Course(policy=Policy(violation="flag"))
    assert correctness_points("policy_violation", found, CASES, flag.points_of("x"), flag) == 60


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
    interval = Interval(median=1, low=1, high=1)
    return Timing(case="x", sizes={}, slots=4, student_us=1, baseline_us=1, ratios=list(ratios), speedup=interval)


@pytest.mark.parametrize(("median", "points"), [(0.1, 0), (0.2, 0), (0.55, 20), (0.9, 40), (3, 40)])
def test_performance_points_are_linear_between_floor_and_target(median: float, points: float) -> None:
    ratio = speedup([timing(*[median] * 6)])
    got = performance_points(ratio, Threshold(floor=0.2, target=0.9), Course().points_of("x"))
    assert got == pytest.approx(points)


THRESHOLD, ONE = Threshold(floor=0.2, target=1.2), Interval(median=1, low=1, high=1)
SPEED = Performance(status="measured", max_points=40, points=20.4, speedup=ONE, floor=0.2, target=1.2, baseline="eager",
                    timings=[timing(*[0.7] * 6)])
HELD = contest("ab", "H200", SPEED)


@each_row(("ratio", "previous", "points"), [
    (0.70, None, 20), (0.70, 0.50, 20), (0.70, 0.51, 20.4), (0.70, 0.49, 19.6),
    # The interval has clearly left what was given before.
    (0.70, 0.52, 20), (0.70, 0.48, 20), (0.70, 0.0, 20), (0.70, 1.0, 20), (5, 0.5, 40), (0.1, 0.5, 0),
])
def test_the_share_given_before_is_kept_unless_the_interval_has_left_it(
    ratio: float, previous: float | None, points: float
) -> None:
    steady = [timing(*[ratio] * 6)]
    assert performance_points(speedup(steady), THRESHOLD, Course().points_of("x"), previous) == pytest.approx(points)


def test_the_same_contest_gives_what_it_gave_before() -> None:
    assert HELD is not None
    earlier = EarlierShare(HELD, 0.51)
    # Other times, the same contest.
    again = SPEED.model_copy(update={"timings": [timing(*[0.69] * 9)], "points": 0, "max_points": 10})
    assert previous_share(earlier, contest("ab", "H200", again)) == 0.51
    assert previous_share(None, HELD) is None and previous_share(earlier, None) is None


@each_row("changed", [
    {"floor": 0.3}, {"target": 1.1}, {"baseline": "other"}, {"timings": []},
    {"timings": [timing(0.7).model_copy(update={"case": "y"})]},
    {"timings": [timing(0.7).model_copy(update={"sizes": {"M": 4}})]},
    {"timings": [timing(0.7), timing(0.7)]},
    {"status": "not_measured"}, {"speedup": None}, {"floor": None},
], ids=str)
def test_another_contest_starts_anew(changed: dict[str, object]) -> None:
    assert HELD is not None
    assert previous_share(EarlierShare(HELD, 0.51), contest("ab", "H200", SPEED.model_copy(update=changed))) is None


def test_another_source_or_device_is_another_contest_and_no_source_is_none() -> None:
    assert HELD is not None
    for now in (contest("cd", "H200", SPEED), contest("ab", "H100", SPEED)):
        assert now is not None and previous_share(EarlierShare(HELD, 0.51), now) is None
    assert contest("", "H200", SPEED) is None
    assert replace(HELD, source_sha256="cd") == contest("cd", "H200", SPEED)


def test_shares_given_earlier_are_those_of_what_was_right_and_measured() -> None:
    result = samples.result("Ada", {"gemm": "wrong_answer"}, speed=True)
    result.assignments["silu"].performance = SPEED
    result.assignments["transpose"].performance = Performance(max_points=40)
    for name, points, most in (("copy_first_column", 50.0, 40.0), ("rmsnorm_vector", float("nan"), 40.0),
                               ("rmsnorm_matrix", 0.0, 0.0)):
        result.assignments[name].performance = SPEED.model_copy(update={"points": points, "max_points": most})
    found = earlier_shares(result)
    assert list(found) == ["silu"] and found["silu"].share == 0.51
    assert found["silu"].contest == contest("ab" * 32, "NVIDIA H200", SPEED)


def test_points_that_were_rounded_give_the_whole_step() -> None:
    result = samples.result("Ada", speed=True)
    for step in range(101):
        points = round(7 * step / 100, 2)
        result.assignments["silu"].performance = SPEED.model_copy(update={"points": points, "max_points": 7})
        assert earlier_shares(result)["silu"].share == step / 100
