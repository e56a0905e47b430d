"""Computation of points from results and course. No function uses a clock, a file or a device."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from grader.course.course import AssignmentPoints, Course, Threshold
from grader.results import estimate
from grader.results.result import (
    AssignmentResult,
    CheckResult,
    Correctness,
    Interval,
    Performance,
    Result,
    StructureResult,
    Timing,
    decisive,
)
from grader.results.verdicts import ACCEPTED, INFRASTRUCTURE_ERROR, VERDICTS, Verdict


@dataclass(frozen=True)
class Contest:
    """The conditions under which a share of the speed points was measured. `cases` has names with sizes."""

    source_sha256: str
    device: str
    baseline: str
    floor: float
    target: float
    cases: tuple[tuple[str, tuple[tuple[str, int], ...]], ...]


@dataclass(frozen=True)
class EarlierShare:
    """The share of the speed points, 0 to 1, that was given under these conditions."""

    contest: Contest
    share: float


def scored(
    name: str, unscored: AssignmentResult, course: Course, device: str, earlier: EarlierShare | None = None
) -> AssignmentResult:
    """Return `unscored`, the result of the assignment `name`, with the points that `course` gives for its checks and
    times.

    `earlier` is the share of the speed points that the same file was given before, if any.
    """
    points = course.points_of(name)
    checks = unscored.correctness.checks
    cases = [check.id for check in checks if check.stage in ("case", "speed")]
    earned = correctness_points(unscored.verdict, checks, cases, points, course)
    speed = _scored_speed(name, unscored, course, device, earlier)
    structure = _scored_structure(unscored, points)
    message, flags = unscored.message, []
    for flag in unscored.flags:
        if flag.what == "policy":
            message = message.removesuffix(_cost(flag.points)) + _cost(points.correctness - earned)
            flag = flag.model_copy(update={"points": points.correctness - earned})
        flags.append(flag)
    return unscored.model_copy(update={
        "score": round(earned + speed.points + structure.points, 2), "max_score": points.max_score,
        "message": message, "flags": flags, "performance": speed, "structure": structure,
        "correctness": Correctness(points=earned, max_points=points.correctness, checks=checks)})


def _scored_structure(unscored: AssignmentResult, points: AssignmentPoints) -> StructureResult:
    """Return the points for conditions: a share for each that is met, of those that are not required. No run could give
    them to a wrong answer."""
    earning = [condition for condition in unscored.structure.conditions if not condition.required]
    met = sum(condition.met is True for condition in earning)
    shown = sum(condition.met is not None for condition in earning)
    share = points.structure / len(earning) if earning else 0.0
    return unscored.structure.model_copy(update={
        "points": round(share * met, 2) if unscored.right else 0.0,
        "measured_max": round(share * shown, 2) if unscored.right else points.structure if unscored.judged else 0.0,
        "max_points": points.structure})


def _cost(lost: float) -> str:
    return f" That is against the rules of the course and costs {lost:g} points." if lost else ""


def _scored_speed(
    name: str, unscored: AssignmentResult, course: Course, device: str, earlier: EarlierShare | None
) -> Performance:
    points, threshold, speed = course.points_of(name), course.threshold_of(name), unscored.performance
    ratio = speed.speedup
    if ratio is None:
        return speed.model_copy(update={"points": 0.0, "max_points": points.performance})
    speed = speed.model_copy(update={"floor": threshold.floor, "target": threshold.target})
    fresh = kept = performance_points(ratio, threshold, points)
    previous = previous_share(earlier, contest(unscored.source_sha256, device, speed))
    if previous is not None:
        kept = performance_points(ratio, threshold, points, previous)
    note = (f"The same file was measured before and keeps its {kept:g} points: this time it came to {fresh:g}, which "
            "is no clear difference.")
    return speed.model_copy(update={
        "points": kept, "max_points": points.performance, "notes": [note] if kept != fresh else []})


def verdict_of(checks: Sequence[CheckResult], expected: Sequence[str]) -> Verdict:
    """Return the verdict of an assignment; `expected` are the ids of the checks that should have been made.

    An assignment is accepted only on positive evidence: every expected check exists and passed.
    """
    by_id = {check.id: check for check in checks}
    verdict, _ = decisive(checks)
    if verdict is not None:
        return verdict
    complete = all(name in by_id and by_id[name].outcome == "passed" for name in expected)
    return ACCEPTED if complete and expected else INFRASTRUCTURE_ERROR


def correctness_points(
    verdict: Verdict, checks: Sequence[CheckResult], expected: Sequence[str], points: AssignmentPoints, course: Course
) -> float:
    """Return the points for correctness, at most `points.correctness`. `expected` are the ids of the cases. A case that
    was not judged earns nothing. A failed check of the target counts as one more failed case."""
    rule = VERDICTS[verdict].points
    if rule != "share" and not (rule == "rules" and course.policy.violation == "flag"):
        return 0
    passed = {check.id for check in checks if check.outcome == "passed"}
    expected = [*expected, *(check.id for check in checks if check.stage == "target" and check.outcome == "failed"
                             and check.detail is not None and check.detail.kind != "policy")]
    share = sum(name in passed for name in expected) / len(expected) if expected else 0
    if course.points.credit == "all":
        share = float(share == 1)
    return round(points.correctness * share, 2)


def speedup(timings: Sequence[Timing]) -> Interval:
    """Return the geometric mean of the timed cases' ratios of baseline time to student time, with its bootstrap
    interval."""
    combined = estimate.combine([timing.ratios for timing in timings])
    return Interval(median=combined.median, low=combined.low, high=combined.high)


def performance_points(
    ratio: Interval, threshold: Threshold, points: AssignmentPoints, previous: float | None = None
) -> float:
    """Return the points for speed. They rise linearly from `threshold.floor` to `threshold.target`, in whole percents.
    If the interval straddles several steps, the highest counts. The share `previous` stays unless the interval has left
    it."""
    interval = estimate.Estimate(ratio.median, ratio.low, ratio.high, 0)
    share = estimate.points_share(interval, threshold.floor, threshold.target, previous=previous)
    return round(points.performance * share, 2)


def contest(source_sha256: str, device: str, performance: Performance) -> Contest | None:
    """Return the conditions of a measurement; None if it is incomplete."""
    floor, target = performance.floor, performance.target
    if performance.status != "measured" or performance.speedup is None or floor is None or target is None:
        return None
    cases = tuple((timing.case, tuple(sorted(timing.sizes.items()))) for timing in performance.timings)
    return Contest(source_sha256, device, performance.baseline, floor, target, cases) if source_sha256 else None


def earlier_shares(result: Result) -> dict[str, EarlierShare]:
    """Return the share of the speed points of each assignment that is right and measured."""
    shares = {}
    for name, assignment in result.assignments.items():
        speed = assignment.performance
        held = contest(assignment.source_sha256, result.environment.device, speed)
        if held is None or not assignment.right or not speed.max_points > 0:
            continue
        share = speed.points / speed.max_points
        # A NaN fails this comparison.
        if 0 <= share <= 1:
            # Points were rounded, so recover the step that was given.
            shares[name] = EarlierShare(held, round(share * estimate.STEPS) / estimate.STEPS)
    return shares


def previous_share(earlier: EarlierShare | None, now: Contest | None) -> float | None:
    """Return the share that was given earlier, if the conditions were the same; else None."""
    return earlier.share if earlier is not None and now is not None and earlier.contest == now else None
