"""A lane whose fork server is closed or lost goes on with another, whatever was under way."""

from __future__ import annotations

from grader.judge.lane import close_lane, converse, lane_zygote
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


def test_what_was_under_way_in_a_lost_fork_server_is_no_failure_of_the_next_grading() -> None:
    before = converse("planner", LIMITS)
    lost = lane_zygote()
    lost.close()
    try:
        # Whoever asks first, for whatever, has it replaced.
        assert lane_zygote() is not lost
        assert not converse("planner", LIMITS).over and before.over
    finally:
        close_lane()
