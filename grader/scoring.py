"""Results and course to points. Pure: no clock, no file, no device."""

from __future__ import annotations

from collections.abc import Sequence

from grader import statistics
from grader.course import AssignmentPoints, Course, Threshold
from grader.result import CheckResult, Interval, Performance, Timing, Verdict, decisive


def verdict_of(checks: Sequence[CheckResult], expected: Sequence[str]) -> Verdict:
    """The verdict of an assignment whose checks should have been `expected` (ids).

    Accepted only on positive evidence: every expected check is there and passed.
    """
    by_id = {check.id: check for check in checks}
    verdict, _ = decisive(checks)
    if verdict is not None:
        return verdict
    complete = all(name in by_id and by_id[name].outcome == "passed" for name in expected)
    return "accepted" if complete and expected else "infrastructure_error"


def correctness_points(
    verdict: Verdict, checks: Sequence[CheckResult], expected: Sequence[str], points: AssignmentPoints, course: Course
) -> float:
    """Points for being right, of at most `points.correctness`. `expected` are the ids of the cases."""
    flagged = verdict == "policy_violation" and course.policy.violation == "flag"
    if verdict not in ("accepted", "wrong_answer", "runtime_error", "time_limit", "memory_limit") and not flagged:
        return 0
    passed = {check.id for check in checks if check.outcome == "passed"}
    share = sum(name in passed for name in expected) / len(expected) if expected else 0
    if course.points.credit == "all":
        share = float(share == 1)
    return round(points.correctness * share, 2)


def speedup(timings: Sequence[Timing]) -> Interval:
    """The geometric mean over the timed cases of baseline ÷ student, with its bootstrap interval."""
    found = statistics.combine([timing.ratios for timing in timings])
    return Interval(median=found.median, low=found.low, high=found.high)


def performance_points(timings: Sequence[Timing], threshold: Threshold, points: AssignmentPoints) -> float:
    """Linear from `threshold.floor` to `threshold.target` in whole percents, with the benefit of the doubt: of the
    steps that the interval straddles the highest."""
    found = statistics.combine([timing.ratios for timing in timings])
    return round(points.performance * statistics.points_share(found, threshold.floor, threshold.target), 2)


def measured_max(points: AssignmentPoints, performance: Performance) -> float:
    """The points that the machine at hand could have given."""
    return points.correctness + (points.performance if performance.status == "measured" else 0)
