"""Trial pages of a made-up result. They are drawn before anyone is graded, so that a broken template is found at
once."""

from __future__ import annotations

from grader.pages.load import Entry
from grader.pages.pages import TEMPLATES, class_page, student_page
from grader.results.result import (
    AssignmentResult,
    CheckResult,
    Correctness,
    Detail,
    Environment,
    Interval,
    Performance,
    Result,
    Timing,
)

__all__ = ["TEMPLATES", "draw"]


def draw() -> None:
    """Draw a student's report and a class page with all kinds of charts except the error map.

    Raises whatever a missing or broken template, file or chart raises.
    """
    even = Interval(median=1, low=1, high=1)
    result = Result(
        student="", score=0, max_score=2, measured_max=2, graded_at="", seconds=0, environment=Environment(
            device="", python="", torch="", triton="", numpy="", platform="", isolation="", seed=""),
        assignments={"one": AssignmentResult(
            title="", signature="", verdict="wrong_answer", score=0, max_score=2, message="",
            correctness=Correctness(max_points=1, checks=[CheckResult(
                id="1", stage="case", outcome="failed", detail=Detail(kind="wrong_values", message=""))]),
            performance=Performance(
                status="measured", max_points=1, speedup=even, floor=0.5, target=2, timings=[Timing(
                    case="1", sizes={}, slots=1, student_us=1, baseline_us=1, ratios=[1, 1], speedup=even)]))})
    student_page(result)
    class_page([Entry("", result)])
