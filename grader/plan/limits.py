"""The limits of a simulator's run, and the errors that end it."""

from __future__ import annotations

from math import inf
from time import monotonic, process_time

from grader.plan.messages import Reached

MOST_EXCUSED = 3
"""Times the seconds of a request that a process may wait for a processor, since it can make itself wait longer."""


class Unsupported(Exception):
    """An error: a simulator does not know something that a GPU may run."""


class Limit(Exception):
    """An error: a limit is reached. The fields are those of `messages.Exhausted`."""

    def __init__(self, what: Reached) -> None:
        super().__init__(what)
        self.what: Reached = what
        self.resident = self.rounds = 0
        self.ended: int | None = None


class LaunchStopped(Exception):
    """An error: a launch stopped before its end, in this line, for this cause."""

    def __init__(self, kernel: str, line: int, cause: Exception) -> None:
        super().__init__(str(cause))
        self.kernel, self.line, self.cause = kernel, line, cause


class Budget:
    """The element operations that are left for all launches of a plan, and the time at which the run has to end: that
    of this process's processor (`process_time`), or of the clock, after which a judge waits no longer, however busy the
    machine is. A run that ends by itself knows its line."""

    def __init__(self, operations: int, seconds: float = inf) -> None:
        self.operations = self.left = operations
        self.until, self.end = process_time() + seconds, monotonic() + (1 + MOST_EXCUSED) * seconds

    @property
    def used(self) -> int:
        return min(self.operations, self.operations - self.left)

    def charge(self, operations: int) -> None:
        """Take operations from the budget. Raises Limit if none are left, or if the time is over."""
        self.left -= operations
        if self.left < 0:
            raise Limit("operations")
        if process_time() > self.until or monotonic() > self.end:
            raise Limit("time")
