"""Results and course to points. Pure: no clock, no file, no device."""

from __future__ import annotations

from collections.abc import Sequence

from grader.course import AssignmentPoints, Course, Threshold
from grader.result import CheckResult, Interval, Performance, Verdict

_VERDICT_OF_KIND: dict[str, Verdict] = {
    "missing_file": "missing",
    "missing_function": "missing",
    "not_attempted": "missing",
    "unreadable_source": "runtime_error",
    "syntax_error": "runtime_error",
    "import_error": "runtime_error",
    "wrong_signature": "runtime_error",
    "exception": "runtime_error",
    "crash": "runtime_error",
    "protocol": "runtime_error",
    "too_many_programs": "runtime_error",
    "out_of_bounds": "runtime_error",
    "time_out": "time_limit",
    "out_of_memory": "memory_limit",
    "wrong_values": "wrong_answer",
    "unwritten": "wrong_answer",
    "not_finite": "wrong_answer",
    "input_changed": "wrong_answer",
    "late_write": "wrong_answer",
    "policy": "policy_violation",
    "no_kernel": "policy_violation",
    "infrastructure": "infrastructure_error",
}

# Where checks of one assignment disagree, the first of these speaks for it: ours before theirs, then what says most.
_ORDER: tuple[Verdict, ...] = (
    "infrastructure_error", "missing", "policy_violation", "memory_limit", "time_limit", "runtime_error",
    "wrong_answer",
)


def verdict_of(checks: Sequence[CheckResult], expected: Sequence[str]) -> Verdict:
    """The verdict of an assignment whose checks should have been `expected` (ids).

    Accepted only on positive evidence: every expected check is there and passed.
    """
    by_id = {check.id: check for check in checks}
    failed = {_VERDICT_OF_KIND[c.detail.kind] for c in checks if c.outcome == "failed" and c.detail is not None}
    for verdict in _ORDER:
        if verdict in failed:
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


def performance_points(speedup: Interval, threshold: Threshold, points: AssignmentPoints) -> float:
    """Linear from `threshold.floor` to `threshold.target` in the ratio baseline ÷ student, within 0 and the maximum."""
    share = (speedup.median - threshold.floor) / (threshold.target - threshold.floor)
    return round(points.performance * min(1.0, max(0.0, share)), 2)


def measured_max(points: AssignmentPoints, performance: Performance) -> float:
    """The points that the machine at hand could have given."""
    return points.correctness + (points.performance if performance.status == "measured" else 0)
