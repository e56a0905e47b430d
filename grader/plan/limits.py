"""The limits of a simulator's run, and of what it knows."""

from __future__ import annotations

from math import inf
from time import monotonic

from grader.plan.messages import Reached


class Unsupported(Exception):
    """Something that a simulator does not know, though a GPU may run it."""


class Limit(Exception):
    """A limit was reached. `what`, `resident` and `rounds` are those of `messages.Exhausted`."""

    def __init__(self, what: Reached) -> None:
        super().__init__(what)
        self.what: Reached = what
        self.resident = self.rounds = 0


class Budget:
    """The element operations that are left for all launches of a plan, and the time of `monotonic` when they end."""

    def __init__(self, operations: int, seconds: float = inf) -> None:
        self.operations = self.left = operations
        self.until = monotonic() + seconds

    @property
    def used(self) -> int:
        return min(self.operations, self.operations - self.left)
