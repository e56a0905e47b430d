"""Executors take the zygotes that their lane has started, and others once those are taken."""

from __future__ import annotations

from grader.judge import zygotes
from grader.judge.lane import close_lane


def test_what_was_started_ahead_is_taken_and_the_rest_ends_with_the_lane() -> None:
    ahead = zygotes.start_ahead()
    assert len(set(map(id, ahead))) == zygotes.AHEAD
    taken = [zygotes.executor_zygote() for _ in range(zygotes.AHEAD - 1)]
    try:
        (left,) = (zygote for zygote in ahead if zygote not in taken)
        close_lane()
        assert not left.alive
        taken.append(zygotes.executor_zygote())
        assert taken[-1] not in ahead
    finally:
        for zygote in taken:
            zygote.close()
