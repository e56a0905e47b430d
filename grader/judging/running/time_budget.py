"""Budgets: the seconds that processes of one submission may take in all, or for one kind of work. Waiting for a lock
and comparing answers take none of them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from grader.sandbox.forkserver import clock
from grader.sandbox.forkserver.conversation import LostAnswer

USED_UP = LostAnswer("time_out", "the time of this attempt was used up: all its cases take too long together")
NOT_COMPILED = LostAnswer("time_out", "the time to compile was used up before its kernels were compiled for a GPU")
OWN = 0.9
"""Share of a call's time at which the process itself is to end the call and report the line. At the full time the judge
ends the process."""


class TimeBudget:
    """A budget of `left` seconds; infinity means no bound."""

    def __init__(self, seconds: float) -> None:
        self.left = seconds

    @contextmanager
    def spend(self, most: float) -> Iterator[float]:
        """Charge the block's time to the budget. Yields the seconds that the block may take: at most `most`, and no
        more than are left."""
        started = clock.now()
        try:
            yield max(0.0, min(most, self.left))
        finally:
            self.left -= clock.now() - started
