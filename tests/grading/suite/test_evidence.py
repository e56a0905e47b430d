"""A grade needs evidence for every expected check, whatever becomes of pytest's items."""

import os
import select
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from grader.course.cases import Case
from grader.course.catalogue import assignments
from grader.course.course import Course
from grader.course.submission import Submission
from grader.errors import InfrastructureError
from grader.grading import grading
from grader.grading.grading import grade
from grader.grading.job import read_job
from grader.grading.suite.adapter import Adapter
from grader.home import ROOT
from grader.judging.running.machine import SimulatedMachine
from grader.judging.running.simulation import CallResult
from grader.plan.messages import Simulate
from grader.results.result import AssignmentResult
from grader.sandbox.forkserver.conversation import Conversation

CASE = assignments()["transpose"].cases[3]


def graded() -> AssignmentResult:
    submission = Submission("reference", ROOT / "reference", "reference")
    result = grade(read_job(submission, Course(), ("transpose",))).result
    assert result is not None
    return result.assignments["transpose"]


def spoil(monkeypatch: pytest.MonkeyPatch, instead: Callable[[], CallResult]) -> None:
    """Replaces the run of one case."""
    run = SimulatedMachine.run

    def spoiled(self: SimulatedMachine, case: Case, *more: Any) -> Any:
        return instead() if case == CASE else run(self, case, *more)

    monkeypatch.setattr(SimulatedMachine, "run", spoiled)


def test_an_untouched_run_is_accepted() -> None:
    assert graded().verdict == "accepted"


@pytest.mark.parametrize("error", [ValueError("a fault of ours"), InfrastructureError("no memory"), SystemExit(0)],
                         ids=lambda error: type(error).__name__)
def test_an_exception_in_the_judge_is_never_the_students(
    monkeypatch: pytest.MonkeyPatch, error: BaseException
) -> None:
    def instead() -> CallResult:
        raise error

    spoil(monkeypatch, instead)
    result = graded()
    assert (result.verdict, result.score) == ("infrastructure_error", 0)
    assert type(error).__name__ in result.message or "was not run" in result.message


@pytest.mark.parametrize(("deaths", "verdict"), [(1, "accepted"), (2, "runtime_error")])
def test_a_kernel_that_ends_its_simulators_says_nothing_about_the_grader(
    monkeypatch: pytest.MonkeyPatch, deaths: int, verdict: str
) -> None:
    ask, left = Conversation.ask, [*range(deaths)]

    def dying(self: Conversation, request: Any, *more: Any, **others: Any) -> Any:
        if isinstance(request, Simulate) and left:
            os.kill(self.worker.pid, signal.SIGKILL)
            # The process inside the namespace can answer until its init is dead.
            *_, pidfd = self.worker.descriptors()
            assert select.select([pidfd], [], [], 30)[0]
            left.pop()
        return ask(self, request, *more, **others)

    monkeypatch.setattr(Conversation, "ask", dying)
    result = graded()
    assert result.verdict == verdict and bool(result.score) == (verdict == "accepted"), result.message
    assert [flag.what for flag in result.flags] == ["unsupported"] * (verdict != "accepted")


def test_a_check_that_skips_itself_has_not_passed(monkeypatch: pytest.MonkeyPatch) -> None:
    def instead() -> CallResult:
        pytest.skip("not today")

    spoil(monkeypatch, instead)
    result = graded()
    assert (result.verdict, result.score) == ("infrastructure_error", 0)


def test_a_check_that_is_not_collected_has_not_passed(monkeypatch: pytest.MonkeyPatch) -> None:
    selected = Adapter.pytest_collection_finish

    def without_one(self: Adapter, session: pytest.Session) -> None:
        session.items[:] = [item for item in session.items if CASE.name not in item.name]
        selected(self, session)

    monkeypatch.setattr(Adapter, "pytest_collection_finish", pytest.hookimpl(without_one))
    result = graded()
    assert (result.verdict, result.score) == ("infrastructure_error", 0)
    assert "The check was not run." in result.message


def test_a_grader_that_hangs_is_ended_by_pytest_timeout(monkeypatch: pytest.MonkeyPatch) -> None:
    def instead() -> CallResult:
        time.sleep(60)
        raise AssertionError("not reached")

    # A timeout of a second.
    monkeypatch.setattr(grading, "MOST_EXCUSED", -1)
    monkeypatch.setattr(grading, "GUARD_SECONDS", 1)
    spoil(monkeypatch, instead)
    result = graded()
    assert result.verdict == "infrastructure_error" and "Timeout" in result.message


OWN = """
def test_more_than_points_tell(judgements):
    transpose = judgements["transpose"]
    assert [check.stage for check in transpose.checks if check.outcome == "passed"] == ["source", "case"]
    assert len(transpose.checks) > 2 and transpose.seconds > 0
"""


def test_a_tas_own_tests_run_behind_the_checks(tmp_path: Path) -> None:
    own, handed_in = tmp_path / "own", tmp_path / "student"
    own.mkdir()
    (own / "test_own.py").write_text(OWN)
    shutil.copytree(ROOT / "examples" / "class" / "alice", handed_in)
    by_hand = [sys.executable, "-m", "pytest", f"--submission={handed_in}", "-k",
               "source and transpose or transpose-1x1 or own", "-v"]
    done = subprocess.run([*by_hand, own], capture_output=True, text=True, timeout=120, cwd=tmp_path, check=False)
    assert done.returncode == 0 and "3 passed" in done.stdout, done
    done = subprocess.run([*by_hand, handed_in], capture_output=True, text=True, timeout=120, cwd=tmp_path, check=False)
    assert done.returncode == 4 and "is the submission's own" in done.stderr


def test_a_submissions_own_tests_are_not_collected(tmp_path: Path) -> None:
    for name in ("test_mine.py", "silu_test.py"):
        (tmp_path / name).write_text("def test_it():\n    raise SystemExit('collected')\n")
    (tmp_path / "transpose.py").write_text((ROOT / "reference" / "transpose.py").read_text())
    outcome = grade(read_job(Submission("mallory", tmp_path, "mallory"), Course(), ("transpose",)))
    assert outcome.result is not None and outcome.result.assignments["transpose"].verdict == "accepted", outcome.log
    assert "test_mine" not in outcome.log
