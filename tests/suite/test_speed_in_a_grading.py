"""A whole grading with speed in it. Without a GPU nobody is graded so: here it is switched on, on cases of its own."""

from __future__ import annotations

from pathlib import Path

import pytest

from grader import catalogue
from grader.assignment import Case, TimedCase
from grader.catalogue import ROOT
from grader.course import AssignmentPoints, Threshold, read_course
from grader.grading import Job, grade
from grader.judge import speed
from grader.judge.placing import Placing
from grader.judge.session import Refused
from grader.result import AssignmentResult
from grader.submission import find_submissions
from grader.suite.context import Context

KERNEL = (ROOT / "reference" / "silu.py").read_text()
ALL = catalogue.assignments()
SILU = ALL["silu"].model_copy(update={
    "cases": (Case(name="5x9", sizes={"M": 5, "N": 9}),),
    "timed": (TimedCase(name="48x64", sizes={"M": 48, "N": 64}), TimedCase(name="64x32", sizes={"M": 64, "N": 32}))})


@pytest.fixture(autouse=True)
def _measured(monkeypatch: pytest.MonkeyPatch) -> None:
    # Interpreted kernels take their time.
    monkeypatch.setattr(speed, "MOST_SLOTS", speed.FEWEST_SLOTS)
    monkeypatch.setattr(Context, "speed", property(lambda context: True))
    monkeypatch.setattr(catalogue, "assignments", lambda root=ROOT: {**ALL, "silu": SILU})


def graded(folder: Path, source: str, floor: float = 1e-6, target: float = 2e-6) -> AssignmentResult:
    """Graded by thresholds that an interpreted kernel can reach."""
    (folder / "silu.py").write_text(source)
    course = read_course(ROOT / "course.toml", frozenset(ALL))
    course = course.model_copy(update={"thresholds": course.thresholds.model_copy(
        update={"assignments": {"silu": Threshold(floor=floor, target=target)}})})
    assert course.points_of("silu") == AssignmentPoints(correctness=60, performance=40)
    (submission,) = find_submissions(folder, ["silu.py"])
    done = grade(Job(submission, course, ("silu",)))
    assert done.result is not None, done.error
    return done.result.assignments["silu"]


def test_points_for_being_right_and_for_being_fast(tmp_path: Path) -> None:
    result = graded(tmp_path, KERNEL)
    performance = result.performance
    assert (result.verdict, result.score, performance.points) == ("accepted", 100, 40), result.message
    assert performance.status == "measured" and [t.case for t in performance.timings] == ["48x64", "64x32"]
    assert performance.speedup is not None and performance.speedup.median > 0
    assert (performance.floor, performance.target) == (1e-6, 2e-6)


def test_who_is_slower_than_the_floor_keeps_the_points_for_being_right(tmp_path: Path) -> None:
    result = graded(tmp_path, KERNEL, floor=50, target=100)
    assert (result.verdict, result.score, result.performance.points) == ("accepted", 60, 0)


HONEST_WHEN_SMALL = KERNEL + """

_right = silu


def silu(x, out):
    if x.numel() < 1000:
        _right(x, out)
"""


def test_a_wrong_answer_in_a_timed_call_costs_what_any_does(tmp_path: Path) -> None:
    result = graded(tmp_path, HONEST_WHEN_SMALL)
    assert (result.verdict, result.score) == ("wrong_answer", 0)
    assert "In a timed call" in result.message
    assert result.performance.points == 0 and result.performance.reason == "speed counts once every case is right"


@pytest.mark.parametrize("bursts", [1, 99])
def test_work_that_goes_on_is_believed_when_it_is_there_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, bursts: int
) -> None:
    left = [bursts]

    def await_quiet(self: Placing) -> None:
        # The GPU is at work; when the submission has been ended it is not: a burst of another program looks so, too.
        # In the second batch of the student's.
        if left[0] and self.ring._drawn > 2:
            left[0] -= 1
            raise Refused(self.student.lose("late_write", "Work was still running."))

    monkeypatch.setattr(Placing, "await_quiet", await_quiet)
    result = graded(tmp_path, KERNEL)
    assert (result.verdict, result.score) == (("accepted", 100) if bursts == 1 else ("wrong_answer", 0)), result.message


def test_a_time_that_cannot_be_taken_costs_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("grader.judge.baselines.baseline_source", lambda name: b"raise RuntimeError('no baseline')")
    from grader.judge.lane import close_lane

    close_lane()
    result = graded(tmp_path, KERNEL)
    close_lane()
    assert (result.verdict, result.score) == ("accepted", 60)
    assert result.performance.status == "not_measured" and "no baseline" in result.performance.reason
