"""A lane whose fork server is closed or lost goes on with another, whatever was under way."""

import contextlib
import os
import signal
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event, Timer

import pytest

from grader.course.catalogue import assignments
from grader.course.course import read_course
from grader.course.submission import Source
from grader.grading import doctor
from grader.home import ROOT
from grader.judging.checks import case_check, results
from grader.judging.judge import judge
from grader.judging.prepared import PreparedTask, Task
from grader.judging.running import lane
from grader.judging.running.lane import LANE
from grader.judging.running.time_budget import TimeBudget
from grader.plan import wire

LIMITS = wire.Limits(memory_mb=256, file_mb=16, processes=8, cpu_seconds=60)
ENDS = 20


def test_what_was_under_way_in_a_closed_lane_is_no_failure_of_the_next_grading() -> None:
    before = LANE.fork_server.fork("triton/planner", LIMITS)
    assert not before.over
    LANE.close()
    assert before.over
    try:
        assert not LANE.fork_server.fork("triton/planner", LIMITS).over
    finally:
        LANE.close()


def test_what_was_under_way_in_a_lost_fork_server_is_no_failure_of_the_next_grading() -> None:
    before = LANE.fork_server.fork("triton/planner", LIMITS)
    lost = LANE.fork_server.handle
    lost.close()
    budget, begun = TimeBudget(60), time.monotonic()
    try:
        # Whoever asks first, for whatever, has it replaced, and pays for nothing.
        with budget.spend(60):
            assert LANE.fork_server.handle is not lost
        assert 60 - budget.left < (time.monotonic() - begun) / 2
        assert not LANE.fork_server.fork("triton/planner", LIMITS).over and before.over
    finally:
        LANE.close()


class Interrupted(BaseException):
    pass


def test_an_interruption_while_a_fork_server_is_asked_is_no_failure_of_the_next_grading() -> None:
    def interrupt(*_: object) -> None:
        raise Interrupted

    before = signal.signal(signal.SIGUSR1, interrupt)
    try:
        own = LANE.fork_server.handle
        assert own.ready
        # Not done in time, as on a machine that is busy.
        os.kill(own.pid, signal.SIGSTOP)
        Timer(0.3, os.kill, (os.getpid(), signal.SIGUSR1)).start()
        with pytest.raises(Interrupted):
            LANE.fork_server.fork("triton/planner", LIMITS)
        with contextlib.suppress(ProcessLookupError):
            os.kill(own.pid, signal.SIGCONT)
        assert not LANE.fork_server.fork("triton/planner", LIMITS).over
    finally:
        LANE.close()
        signal.signal(signal.SIGUSR1, before)


@pytest.mark.parametrize("variable", ["HOME", "XDG_CACHE_HOME"])
def test_where_nothing_can_be_kept_a_folder_of_the_lane_is_used_and_said(
    variable: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    LANE.close()
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    # Not even root makes a folder there.
    monkeypatch.setenv(variable, "/proc/nowhere")
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    try:
        _ = LANE.builders
        (used,) = tmp_path.glob("kernelmark-cache-*")
        assert used.is_dir()
    finally:
        LANE.close()
    assert not used.exists()
    (line,) = doctor.build_cache()
    assert not line.ok and "/proc/nowhere" in line.text and line.remedy.startswith("set XDG_CACHE_HOME")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    assert not doctor.build_cache() and not lane.cache_trouble()


def test_a_task_that_ends_while_the_next_is_planned_disturbs_nobody() -> None:
    found = assignments()
    silu = found["silu"]
    source = Source(content=(ROOT / "reference" / silu.file).read_bytes())
    prepared = PreparedTask(Task(silu, source, read_course(ROOT / "course.toml", frozenset(found)), bytes(32), "cpu"))
    enough, fork_server = Event(), LANE.fork_server

    def plan_ahead() -> int:
        done = 0
        while not enough.is_set():
            with fork_server.lock:
                fork_server.fork("triton/planner", LIMITS)
            done += 1
        return done

    with ThreadPoolExecutor(1) as ahead:
        try:
            prepared.plan()
            planned = ahead.submit(plan_ahead)
            for _ in range(ENDS):
                assert [check.outcome for check in results(judge(prepared, [case_check(silu.cases[0])]))] == ["passed"]
        finally:
            enough.set()
    assert planned.result() > ENDS
    LANE.close()
