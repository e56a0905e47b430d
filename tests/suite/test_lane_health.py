"""A lane whose GPU does not answer any more ends, and its submission is graded again by another."""

from __future__ import annotations

from pathlib import Path

import pytest

from grader import grading
from grader.course import Course
from grader.grading import Graded, Job, grade_in_lane
from grader.submission import Submission


class Ended(Exception):
    pass


@pytest.fixture
def ends(monkeypatch: pytest.MonkeyPatch) -> None:
    def end(status: int) -> None:
        raise Ended(status)

    monkeypatch.setattr("os._exit", end)
    monkeypatch.setattr(grading, "grade", lambda job: Graded(job.submission, None, "log"))


def job(device: str) -> Job:
    return Job(Submission("carol", Path("carol"), "carol"), Course(), device=device)


def test_a_lane_that_is_well_goes_on(ends: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(grading, "sane", lambda: True)
    assert grade_in_lane(job("cuda")).log == "log"


def test_a_lane_whose_device_is_lost_ends(ends: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(grading, "sane", lambda: False)
    with pytest.raises(Ended):
        grade_in_lane(job("cuda"))
    # Without a GPU nothing is asked of one.
    assert grade_in_lane(job("cpu")).log == "log"
