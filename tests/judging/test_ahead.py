"""Tasks prepared ahead by another thread, while simulators of the one before are at work."""

import os
import time
from dataclasses import replace
from pathlib import Path
from threading import Event, Thread

import pytest
from torch import ones

from grader.course.catalogue import assignments
from grader.course.course import Course
from grader.course.submission import Submission
from grader.grading import grading
from grader.grading.job import Job, read, seed_bytes
from grader.home import ROOT
from grader.judging import prepared
from grader.judging.checks import SOURCE, expected_checks, results
from grader.judging.judge import judge
from grader.judging.plans.preparing import Preparing
from grader.judging.prepared import Ahead, Prepared, Task
from grader.judging.running.device import turn
from grader.judging.running.lane import CORES, LANE, Station
from grader.judging.running.simulation import Simulation
from grader.plan import wire
from grader.plan.device import TARGETS
from grader.plan.plan import Plan
from grader.sandbox.forkserver.conversation import Conversation, Lost
from grader.sandbox.forkserver.handle import InfrastructureError

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
    stations = LANE.stations(3, "cuda")
    tasks = [Prepared(Task(assignments()[name], handed_in.sources[name], Course(), bytes(32), "cpu"), station)
             for name, station in zip(NAMES, stations, strict=False)]
    asked = Event()
    try:
        under_way = [station.converse("triton/planner", LIMITS) for station in stations]
        assert len(stations) == 2 and not any(one.over for one in under_way)
        with LANE.still():
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
        LANE.close()


@pytest.mark.parametrize(("cores", "sharing", "first"), [
    (2, 1, [False, True]), pytest.param(2, 2, [True, True], marks=pytest.mark.full),
    pytest.param(1, 1, [True, True], marks=pytest.mark.full)])
def test_a_core_to_spare_prepares_what_another_simulates(
    monkeypatch: pytest.MonkeyPatch, cores: int, sharing: int, first: list[bool]
) -> None:
    at: dict[str, set[bool]] = {"triton/planner": set(), "triton/simulator": set()}
    converse = Station.converse

    def noted(station: Station, role: wire.Role, limits: wire.Limits) -> Conversation:
        at.setdefault(role, set()).add(station is LANE.station)
        return converse(station, role, limits)

    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: range(cores))
    monkeypatch.setattr(LANE, "sharing", sharing)
    monkeypatch.setattr(Station, "converse", noted)
    handed_in = read(ROOT / "reference", NAMES, Course())
    # The look at a timed case, for its facts, is part of what is prepared.
    monkeypatch.setattr(prepared, "look_at_timed", lambda *given: None)
    try:
        graded = grading.grade(Job(Submission("one", ROOT / "reference", "one"), handed_in, Course(), NAMES, seed=0))
        assert graded.result is not None and all(one.right for one in graded.result.assignments.values())
    finally:
        LANE.close()
    assert [at["triton/planner"], at["triton/simulator"]] == [{one} for one in first]


def test_a_lane_ends_at_once_while_a_submission_that_hangs_is_prepared(monkeypatch: pytest.MonkeyPatch) -> None:
    began, converse = Event(), Station.converse

    def noted(station: Station, role: wire.Role, limits: wire.Limits) -> Conversation:
        conversation = converse(station, role, limits)
        began.set()
        return conversation

    monkeypatch.setattr(Station, "converse", noted)
    source = replace(read(ROOT / "reference", NAMES, Course()).sources["silu"], content=b"while True:\n    pass\n")
    ahead = Ahead([Prepared(Task(assignments()["silu"], source, Course(), bytes(32), "cpu"))])
    try:
        assert began.wait(60)
    finally:
        started = time.monotonic()
        LANE.close()
        ahead.wait()
    assert time.monotonic() - started < 0.5 * Course().limits.call_seconds


def test_a_station_at_work_holds_up_nobody_who_prepares_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: range(2 * CORES))
    try:
        second = LANE.stations(2, "cuda")[1]
        second.turn.acquire()
        found: list[Station] = []
        other = Thread(target=lambda: found.extend(LANE.stations(2, "cuda")))
        other.start()
        other.join(5)
        second.turn.release()
        assert found[1:] == [second]
    finally:
        LANE.close()


def test_nothing_runs_on_the_gpu_ahead_while_a_replay_is_timed(monkeypatch: pytest.MonkeyPatch) -> None:
    began = Event()

    def run(*given: object) -> Lost:
        began.set()
        return Lost("crash", "")

    monkeypatch.setattr(Simulation, "_run", run)
    silu = assignments()["silu"]
    simulation = Simulation(Preparing(silu, b"", Course().limits, TARGETS["sm_90"]), seconds=1)
    plan = Plan(buffers=[], kernels=[], first=[])
    other = Thread(target=lambda: simulation.run(silu, silu.cases[0], plan, [{"x": ones(1)}]))
    with turn():
        other.start()
        assert not began.wait(0.2)
    other.join()
    assert began.is_set()


def test_a_job_is_graded_if_the_next_cannot_be_prepared(monkeypatch: pytest.MonkeyPatch) -> None:
    def prepared(task: Task, *stations: Station) -> Prepared:
        if task.seed != seed_bytes(0):
            raise InfrastructureError("no")
        return Prepared(task, *stations)

    monkeypatch.setattr(grading, "Prepared", prepared)
    handed_in = read(ROOT / "reference", NAMES, Course())
    first, second = (Job(Submission("one", ROOT / "reference", "one"), handed_in, Course(), NAMES[:1], seed=number)
                     for number in (0, 1))
    try:
        graded = grading.grade(first, following=second)
        assert graded.result is not None and graded.result.assignments["silu"].right
        with pytest.raises(InfrastructureError):
            grading.grade(second)
    finally:
        LANE.close()


def test_the_job_that_follows_is_prepared_once(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[str] = []

    def noted(task: Task, *stations: Station) -> Prepared:
        made.append(task.assignment.name)
        return Prepared(task, *stations)

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
        LANE.close()
