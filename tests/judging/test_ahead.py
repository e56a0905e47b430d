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
from grader.errors import InfrastructureError
from grader.grading import grading
from grader.grading.job import Job, read, seed_bytes
from grader.home import ROOT
from grader.judging import prepared
from grader.judging.checks import SOURCE, expected_checks, results
from grader.judging.judge import judge
from grader.judging.plans.toolchain import Toolchain
from grader.judging.prepared import Prefetch, PreparedTask, Task
from grader.judging.running.device import working
from grader.judging.running.fork_servers import LaneForkServer
from grader.judging.running.lane import CORES, LANE
from grader.judging.running.simulation import Simulation
from grader.plan import wire
from grader.plan.device import TARGETS
from grader.plan.plan import Plan
from grader.sandbox.forkserver.conversation import Conversation, LostAnswer

LIMITS = wire.Limits(memory_mb=256, file_mb=16, processes=8, cpu_seconds=60)
NAMES = ("silu", "transpose", "rmsnorm_vector")


def test_what_is_planned_ahead_is_judged_as_ever(tmp_path: Path) -> None:
    (tmp_path / "silu.py").write_text((ROOT / "reference" / "silu.py").read_text())
    (tmp_path / "transpose.py").write_text("import no_such_module\n")
    handed_in = read(tmp_path, NAMES, Course())
    # What was handed in is judged, not what has become of it since.
    (tmp_path / "silu.py").unlink()
    tasks = {name: PreparedTask(Task(assignments()[name], handed_in.sources[name], Course(), bytes(32), "cpu"))
             for name in NAMES}
    ahead = Prefetch(list(tasks.values()))
    silu = expected_checks(assignments()["silu"], "cpu")[1:-1]
    assert {check.outcome for check in results(judge(tasks["silu"], silu))} == {"passed"}
    ahead.wait()
    checks = [check for task in tasks.values() for check in results(judge(task, [SOURCE]))]
    assert [check.outcome for check in checks] == ["passed", "failed", "failed"]
    assert [check.detail and check.detail.kind for check in checks] == [None, "missing_function", "missing_file"]


def test_stations_prepare_side_by_side_and_stand_still_for_a_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: range(2 * CORES))
    handed_in = read(ROOT / "reference", NAMES, Course())
    fork_servers = LANE.fork_servers(3, "cuda")
    tasks = [PreparedTask(Task(assignments()[name], handed_in.sources[name], Course(), bytes(32), "cpu"), fork_server)
             for name, fork_server in zip(NAMES, fork_servers, strict=False)]
    asked = Event()
    try:
        under_way = [fork_server.fork("triton/planner", LIMITS) for fork_server in fork_servers]
        assert len(fork_servers) == 2 and not any(conversation.over for conversation in under_way)
        with LANE.still():
            def ask() -> None:
                fork_servers[1].end_worker()
                asked.set()

            other = Thread(target=ask)
            other.start()
            assert not asked.wait(0.2) and not under_way[1].over
        other.join()
        Prefetch(tasks).wait()
        assert all(conversation.over for conversation in under_way)
        for task in tasks:
            checks = results(judge(task, expected_checks(task.task.assignment, "cpu")))
            assert {check.outcome for check in checks} == {"passed"}
    finally:
        LANE.close()


@pytest.mark.parametrize(("cores", "sharing", "first"), [
    (2, 1, [False, True]), pytest.param(2, 2, [True, True], marks=pytest.mark.full),
    pytest.param(1, 1, [True, True], marks=pytest.mark.full)])
def test_a_core_to_spare_prepares_what_another_simulates(
    monkeypatch: pytest.MonkeyPatch, cores: int, sharing: int, first: list[bool]
) -> None:
    at: dict[str, set[bool]] = {"triton/planner": set(), "triton/simulator": set()}
    fork = LaneForkServer.fork

    def noted(fork_server: LaneForkServer, role: wire.Role, limits: wire.Limits) -> Conversation:
        at.setdefault(role, set()).add(fork_server is LANE.fork_server)
        return fork(fork_server, role, limits)

    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: range(cores))
    monkeypatch.setattr(LANE, "sharing", sharing)
    monkeypatch.setattr(LaneForkServer, "fork", noted)
    handed_in = read(ROOT / "reference", NAMES, Course())
    # The look at a timed case, for its facts, is part of what is prepared.
    monkeypatch.setattr(prepared, "inspect_timed", lambda *given: None)
    try:
        graded = grading.grade(Job(Submission("one", ROOT / "reference", "one"), handed_in, Course(), NAMES, seed=0))
        assert graded.result is not None and all(assignment.right for assignment in graded.result.assignments.values())
    finally:
        LANE.close()
    assert [at["triton/planner"], at["triton/simulator"]] == [{one} for one in first]


def test_a_lane_ends_at_once_while_a_submission_that_hangs_is_prepared(monkeypatch: pytest.MonkeyPatch) -> None:
    began, fork = Event(), LaneForkServer.fork

    def noted(fork_server: LaneForkServer, role: wire.Role, limits: wire.Limits) -> Conversation:
        conversation = fork(fork_server, role, limits)
        began.set()
        return conversation

    monkeypatch.setattr(LaneForkServer, "fork", noted)
    source = replace(read(ROOT / "reference", NAMES, Course()).sources["silu"], content=b"while True:\n    pass\n")
    ahead = Prefetch([PreparedTask(Task(assignments()["silu"], source, Course(), bytes(32), "cpu"))])
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
        second = LANE.fork_servers(2, "cuda")[1]
        second.lock.acquire()
        servers: list[LaneForkServer] = []
        other = Thread(target=lambda: servers.extend(LANE.fork_servers(2, "cuda")))
        other.start()
        other.join(5)
        second.lock.release()
        assert servers[1:] == [second]
    finally:
        LANE.close()


def test_nothing_runs_on_the_gpu_ahead_while_a_replay_is_timed(monkeypatch: pytest.MonkeyPatch) -> None:
    began = Event()

    def run(*given: object) -> LostAnswer:
        began.set()
        return LostAnswer("crash", "")

    monkeypatch.setattr(Simulation, "_run", run)
    silu = assignments()["silu"]
    simulation = Simulation(Toolchain(silu, b"", Course().limits, TARGETS["sm_90"]), seconds=1)
    plan = Plan(buffers=[], kernels=[], first=[])
    other = Thread(target=lambda: simulation.run(silu, silu.cases[0], plan, [{"x": ones(1)}]))
    with working():
        other.start()
        assert not began.wait(0.2)
    other.join()
    assert began.is_set()


def test_a_job_is_graded_if_the_next_cannot_be_prepared(monkeypatch: pytest.MonkeyPatch) -> None:
    def prepared(task: Task, *fork_servers: LaneForkServer) -> PreparedTask:
        if task.seed != seed_bytes(0):
            raise InfrastructureError("no")
        return PreparedTask(task, *fork_servers)

    monkeypatch.setattr(grading, "PreparedTask", prepared)
    handed_in = read(ROOT / "reference", NAMES, Course())
    first, second = (Job(Submission("one", ROOT / "reference", "one"), handed_in, Course(), NAMES[:1], seed=number)
                     for number in (0, 1))
    try:
        outcome = grading.grade(first, following=second)
        assert outcome.result is not None and outcome.result.assignments["silu"].right
        with pytest.raises(InfrastructureError):
            grading.grade(second)
    finally:
        LANE.close()


def test_the_job_that_follows_is_prepared_once(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[str] = []

    def noted(task: Task, *fork_servers: LaneForkServer) -> PreparedTask:
        made.append(task.assignment.name)
        return PreparedTask(task, *fork_servers)

    monkeypatch.setattr(grading, "PreparedTask", noted)
    handed_in = read(ROOT / "reference", NAMES, Course())
    first, second, third = (Job(Submission(name, ROOT / "reference", name), handed_in, Course(), NAMES[:1], seed=number)
                            for number, name in enumerate(("one", "two", "three")))
    try:
        for job, following in ((first, second), (second, third), (first, None)):
            outcome = grading.grade(job, following=following)
            assert outcome.result is not None and outcome.result.assignments["silu"].right
        # The third was prepared for nothing, since another job came.
        assert len(made) == 4
    finally:
        LANE.close()
