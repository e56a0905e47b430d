"""A lane that is closed can be opened again, whatever was under way in it."""

from __future__ import annotations

from grader.judge.lane import close_lane, converse
from grader.plan import wire

LIMITS = wire.Limits(memory_mb=256, file_mb=16, processes=8, cpu_seconds=60)


def test_what_was_under_way_in_a_closed_lane_is_no_failure_of_the_next_grading() -> None:
    before = converse("planner", LIMITS)
    assert not before.over
    close_lane()
    assert before.over
    try:
        assert not converse("planner", LIMITS).over
    finally:
        close_lane()
