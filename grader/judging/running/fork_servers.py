"""Fork servers of a lane, each replaced when it is lost."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from grader.plan import wire
from grader.sandbox.forkserver import clock
from grader.sandbox.forkserver.conversation import Conversation
from grader.sandbox.forkserver.handle import ForkServer

KILL_SECONDS = 1.0
"""Seconds after which a fork server that is to close is killed again: the thread that uses it may have replaced it."""


class LaneForkServer:
    """A fork server of a lane, with at most one worker at a time. `start` starts it: on first use, and again when it
    was lost or closed. The same one serves all submissions."""

    def __init__(self, start: Callable[[], ForkServer]) -> None:
        self._start = start
        self.lock = threading.RLock()
        """The lock that is held while a worker answers, since a task may be prepared while another is judged."""
        # The thread lives as long as the lane: the system ends a thread's processes with the thread.
        self.background = ThreadPoolExecutor(max_workers=1)
        """A thread that prepares tasks with this fork server while others are judged."""
        self._handles: list[ForkServer] = []
        self._conversations: list[Conversation] = []

    @property
    def handle(self) -> ForkServer:
        """Return the living fork server."""
        # If two threads saw that the fork server is lost, one would close the other's replacement.
        with self.lock:
            if not self._handles or not self._handles[0].alive:
                while self._handles:
                    self._handles.pop().close()
                # A submission does not pay for its start, which takes many seconds on a busy machine.
                with clock.stopped():
                    self._handles.append(self._start())
            return self._handles[0]

    def fork(self, role: wire.Role, limits: wire.Limits) -> Conversation:
        """Fork a worker, after the one before is ended, whichever attempt used it. Raises InfrastructureError."""
        with self.lock:
            self.end_worker()
            self._conversations.append(Conversation(self.handle, role, limits))
            return self._conversations[0]

    def end_worker(self) -> None:
        """End the worker that still lives, if any."""
        with self.lock:
            while self._conversations:
                self._conversations.pop().end()

    def close(self) -> None:
        """End the fork server and its worker, whatever that does, and drop the tasks that wait to be prepared."""
        self.background.shutdown(wait=False, cancel_futures=True)
        self.background = ThreadPoolExecutor(max_workers=1)
        held = self.lock.acquire(blocking=False)
        while not held:
            # Another thread may await an answer for minutes, while kernels are compiled.
            for handle in [*self._handles]:
                handle.kill()
            held = self.lock.acquire(timeout=KILL_SECONDS)
        with contextlib.ExitStack() as stack:
            stack.callback(self.lock.release)
            stack.callback(self.end_worker)
            while self._handles:
                stack.callback(self._handles.pop().close)
