"""A grade needs evidence for every expected check, whatever becomes of pytest's items."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import pytest

from grader.engine.forkserver.handle import InfrastructureError
from grader.judge.attempt import Attempt
from grader.model.assignment import Case
from grader.model.catalogue import ROOT, assignments
from grader.model.course import Course
from grader.model.job import read_job
from grader.model.result import AssignmentResult, CheckResult
from grader.model.submission import Submission
from grader.run import grading
from grader.run.grading import grade
from grader.suite import plugin

CASE = assignments()["transpose"].cases[3]


def graded() -> AssignmentResult:
    submission = Submission("reference", ROOT / "reference", "reference")
    result = grade(read_job(submission, Course(), ("transpose",))).result
    assert result is not None
    return result.assignments["transpose"]


def spoil(monkeypatch: pytest.MonkeyPatch, instead: Callable[[Attempt, Case], CheckResult]) -> None:
    """Replaces the check of one case."""
    check = Attempt.check
    monkeypatch.setattr(
        Attempt, "check", lambda self, case: instead(self, case) if case == CASE else check(self, case))


def test_an_untouched_run_is_accepted() -> None:
    assert graded().verdict == "accepted"


@pytest.mark.parametrize("error", [ValueError("a fault of ours"), InfrastructureError("no memory"), SystemExit(0)],
                         ids=lambda error: type(error).__name__)
def test_an_exception_in_the_judge_is_never_the_students(
    monkeypatch: pytest.MonkeyPatch, error: BaseException
) -> None:
    def instead(attempt: Attempt, case: Case) -> CheckResult:
        raise error

    spoil(monkeypatch, instead)
    result = graded()
    assert (result.verdict, result.score) == ("infrastructure_error", 0)
    assert type(error).__name__ in result.message or "was not run" in result.message


def test_a_check_that_skips_itself_has_not_passed(monkeypatch: pytest.MonkeyPatch) -> None:
    def instead(attempt: Attempt, case: Case) -> CheckResult:
        pytest.skip("not today")

    spoil(monkeypatch, instead)
    result = graded()
    assert (result.verdict, result.score) == ("infrastructure_error", 0)


def test_a_check_that_is_not_collected_has_not_passed(monkeypatch: pytest.MonkeyPatch) -> None:
    collected = plugin.pytest_collection_modifyitems

    @pytest.hookimpl(trylast=True)
    def without_one(config: pytest.Config, items: list[pytest.Item]) -> None:
        collected(config, items)
        items[:] = [item for item in items if CASE.name not in item.name]

    monkeypatch.setattr(plugin, "pytest_collection_modifyitems", without_one)
    result = graded()
    assert (result.verdict, result.score) == ("infrastructure_error", 0)
    assert "The check was not run." in result.message


def test_a_grader_that_hangs_is_ended_by_pytest_timeout(monkeypatch: pytest.MonkeyPatch) -> None:
    def instead(attempt: Attempt, case: Case) -> CheckResult:
        time.sleep(60)
        raise AssertionError("not reached")

    monkeypatch.setattr(grading, "GUARD_SECONDS", 2 - Course().limits.assignment_seconds)
    spoil(monkeypatch, instead)
    result = graded()
    assert result.verdict == "infrastructure_error" and "Timeout" in result.message


def test_a_submissions_own_tests_are_not_collected(tmp_path: Path) -> None:
    for name in ("test_mine.py", "silu_test.py"):
        (tmp_path / name).write_text("def test_it():\n    raise SystemExit('collected')\n")
    (tmp_path / "transpose.py").write_text((ROOT / "reference" / "transpose.py").read_text())
    done = grade(read_job(Submission("mallory", tmp_path, "mallory"), Course(), ("transpose",)))
    assert done.result is not None and done.result.assignments["transpose"].verdict == "accepted"
    assert "test_mine" not in done.log
