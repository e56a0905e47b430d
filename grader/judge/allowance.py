"""Time that processes of one submission may take in all: waiting for a turn and judging between take nothing of it."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

from grader.engine.forkserver.conversation import Lost

USED_UP = Lost("time_out", "the time of this attempt was used up: all its cases take too long together")


class Allowance:
    """`left` seconds; infinity for no bound."""

    def __init__(self, seconds: float) -> None:
        self.left = seconds

    @contextmanager
    def spend(self, most: float) -> Iterator[float]:
        """Takes what passes meanwhile off. Gives how many seconds there are: `most`, or what is left of all."""
        started = time.monotonic()
        try:
            yield max(0.0, min(most, self.left))
        finally:
            self.left -= time.monotonic() - started
