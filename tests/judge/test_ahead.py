"""Tasks prepared ahead by another thread, while simulators of the one before are at work."""

from __future__ import annotations

import os
from pathlib import Path
from threading import Event, Thread

import pytest

from grader.home import ROOT
from grader.judge.checks import SOURCE, expected_checks, results
from grader.judge.judge import judge
from grader.judge.lane import CORES, Station, close_lane, lane_stations, still
from grader.judge.prepared import Ahead, Prepared, Task
from grader.model.catalogue import assignments
from grader.model.course import Course
from grader.model.job import Job, read
from grader.model.submission import Submission
from grader.plan import wire
from grader.run import grading

LIMITS = wire.Limits(memory_mb=256, file_mb=16, processes=8, cpu_seconds=60)
NAMES = ("silu", "transpose", "rmsnorm_vector")


def test_what_is_planned_ahead_is_judged_as_ever(tmp_path: Path) -> None:
    (tmp_path / "silu.py").write_text((ROOT / "reference" / "silu.py").read_text())
    (tmp_path / "transpose.py").write_text("import no_such_module\n")
    handed_in = read(tmp_path, NAMES, Course())
    # What was handed in is judged, not what has become of it since.
    (tmp_path / "silu.py").unlink()
    tasks = {name: Prepared(Task(assignments()[name], handed_in.sources[name], Course(), bytes(32), "cpu"))
             for name in NAMES}
    ahead = Ahead(list(tasks.values()))
    silu = expected_checks(assignments()["silu"], "cpu")[1:-1]
    assert {check.outcome for check in results(judge(tasks["silu"], silu))} == {"passed"}
    ahead.wait()
    found = [check for one in tasks.values() for check in results(judge(one, [SOURCE]))]
    assert [check.outcome for check in found] == ["passed", "failed", "failed"]
    assert [check.detail and check.detail.kind for check in found] == [None, "missing_function", "missing_file"]


def test_stations_prepare_side_by_side_and_stand_still_for_a_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: range(2 * CORES))
    handed_in = read(ROOT / "reference", NAMES, Course())
    stations = lane_stations(3)
    tasks = [Prepared(Task(assignments()[name], handed_in.sources[name], Course(), bytes(32), "cpu"), station)
             for name, station in zip(NAMES, stations, strict=False)]
    asked = Event()
    try:
        under_way = [station.converse("triton/planner", LIMITS) for station in stations]
        assert len(stations) == 2 and not any(one.over for one in under_way)
        with still():
            def ask() -> None:
                stations[1].hang_up()
                asked.set()

            other = Thread(target=ask)
            other.start()
            assert not asked.wait(0.2) and not under_way[1].over
        other.join()
        Ahead(tasks).wait()
        assert all(one.over for one in under_way)
        for task in tasks:
            judged = results(judge(task, expected_checks(task.task.assignment, "cpu")))
            assert {one.outcome for one in judged} == {"passed"}
    finally:
        close_lane()


def test_the_job_that_follows_is_prepared_once(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[str] = []

    def noted(task: Task, station: Station) -> Prepared:
        made.append(task.assignment.name)
        return Prepared(task, station)

    monkeypatch.setattr(grading, "Prepared", noted)
    handed_in = read(ROOT / "reference", NAMES, Course())
    first, second, third = (Job(Submission(name, ROOT / "reference", name), handed_in, Course(), NAMES[:1], seed=number)
                            for number, name in enumerate(("one", "two", "three")))
    try:
        for job, following in ((first, second), (second, third), (first, None)):
            graded = grading.grade(job, following=following)
            assert graded.result is not None and graded.result.assignments["silu"].right
        # The third was prepared for nothing, since another job came.
        assert len(made) == 4
    finally:
        close_lane()
