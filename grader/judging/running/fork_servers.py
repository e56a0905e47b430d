"""Fork servers of the executors on a GPU. A lane can start them at its own start, since each takes seconds to import
torch."""

from __future__ import annotations

from grader.plan import wire
from grader.sandbox.forkserver.handle import ForkServer

AHEAD = 3
"""Fork servers that a lane needs: two for submissions, one for baselines. At first no more are taken, so each is there
when it is needed."""

_started: list[ForkServer] = []


def start_ahead() -> list[ForkServer]:
    """Start as many fork servers as a lane needs, and return them."""
    started = [_start() for _ in range(AHEAD)]
    _started.extend(started)
    return started


def executor_fork_server() -> ForkServer:
    """Return a fork server for executors: unconfined, since on the host they run only code of ours."""
    return _started.pop() if _started else _start()


def close_unused() -> None:
    """End the fork servers that were started and not taken."""
    while _started:
        _started.pop().close()


def _start() -> ForkServer:
    return ForkServer(("executor",), layers=wire.Layers())
