"""A lane whose fork server is closed or lost goes on with another, whatever was under way."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from threading import Event

import pytest

from grader.home import ROOT
from grader.judge.checks import case_check, expected_checks, results
from grader.judge.judge import judge
from grader.judge.lane import CORES, close_lane, lane_station, lane_stations
from grader.judge.prepared import Prepared, Task, prepare_ahead
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


def test_tasks_are_prepared_side_by_side(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: range(2 * CORES))
    found = assignments()
    course, stations = read_course(ROOT / "course.toml", frozenset(found)), lane_stations(3)
    tasks = [Prepared(Task(one, Source(content=(ROOT / "reference" / one.file).read_bytes()), course, bytes(32), "cpu"),
                      station) for one, station in zip((found["silu"], found["transpose"]), stations, strict=True)]
    try:
        under_way = [station.converse("triton/planner", LIMITS) for station in stations]
        assert not any(one.over for one in under_way)
        prepare_ahead(tasks)()
        assert all(one.over for one in under_way)
        for task in tasks:
            judged = results(judge(task, expected_checks(task.task.assignment, "cpu")))
            assert {one.outcome for one in judged} == {"passed"}
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
