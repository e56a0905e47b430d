"""A lane whose fork server is closed or lost goes on with another, whatever was under way."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Event

from grader.home import ROOT
from grader.judge.checks import case_check, results
from grader.judge.judge import judge
from grader.judge.lane import close_lane, lane_station
from grader.judge.prepared import Prepared, Task
from grader.model.catalogue import assignments
from grader.model.course import read_course
from grader.model.submission import Source
from grader.plan import wire

LIMITS = wire.Limits(memory_mb=256, file_mb=16, processes=8, cpu_seconds=60)
ENDS = 20


def test_what_was_under_way_in_a_closed_lane_is_no_failure_of_the_next_grading() -> None:
    before = lane_station().converse("triton/planner", LIMITS)
    assert not before.over
    close_lane()
    assert before.over
    try:
        assert not lane_station().converse("triton/planner", LIMITS).over
    finally:
        close_lane()


def test_what_was_under_way_in_a_lost_fork_server_is_no_failure_of_the_next_grading() -> None:
    before = lane_station().converse("triton/planner", LIMITS)
    lost = lane_station().zygote
    lost.close()
    try:
        # Whoever asks first, for whatever, has it replaced.
        assert lane_station().zygote is not lost
        assert not lane_station().converse("triton/planner", LIMITS).over and before.over
    finally:
        close_lane()


def test_a_task_that_ends_while_the_next_is_planned_disturbs_nobody() -> None:
    found = assignments()
    silu = found["silu"]
    source = Source(content=(ROOT / "reference" / silu.file).read_bytes())
    prepared = Prepared(Task(silu, source, read_course(ROOT / "course.toml", frozenset(found)), bytes(32), "cpu"))
    enough, station = Event(), lane_station()

    def plan_ahead() -> int:
        done = 0
        while not enough.is_set():
            with station.turn:
                station.converse("triton/planner", LIMITS)
            done += 1
        return done

    with ThreadPoolExecutor(1) as ahead:
        try:
            prepared.plan()
            planned = ahead.submit(plan_ahead)
            for _ in range(ENDS):
                assert [one.outcome for one in results(judge(prepared, [case_check(silu.cases[0])]))] == ["passed"]
        finally:
            enough.set()
    assert planned.result() > ENDS
    close_lane()
