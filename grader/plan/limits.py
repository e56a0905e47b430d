"""The limits of a simulator's run, and of what it knows."""

from __future__ import annotations

from math import inf
from time import monotonic

from grader.plan.messages import Reached


class Unsupported(Exception):
    """Something that a simulator does not know, though a GPU may run it."""


class Limit(Exception):
    """A limit that was reached. `what`, `resident` and `rounds` are those of `messages.Exhausted`."""

    def __init__(self, what: Reached) -> None:
        super().__init__(what)
        self.what: Reached = what
        self.resident = self.rounds = 0


class LaunchStopped(Exception):
    """A launch that could not be run to its end, and the line where it stopped."""

    def __init__(self, kernel: str, line: int, cause: Exception) -> None:
        super().__init__(str(cause))
        self.kernel, self.line, self.cause = kernel, line, cause


class Budget:
    """The element operations that are left for all launches of a plan, and the time of `monotonic` when they end."""

    def __init__(self, operations: int, seconds: float = inf) -> None:
        self.operations = self.left = operations
        self.until = monotonic() + seconds

    @property
    def used(self) -> int:
        return min(self.operations, self.operations - self.left)

    def charge(self, operations: int) -> None:
        """Take operations from the budget. Raises Limit where none are left, or the time is over."""
        self.left -= operations
        if self.left < 0:
            raise Limit("operations")
        if monotonic() > self.until:
            raise Limit("time")
