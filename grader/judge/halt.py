"""A submission's processes, kept from running for a while."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from grader.confine import processes

STOP_SECONDS = 0.05


class Halt:
    """Of all that the zygote `root` has started: its one worker, and what that started. What runs on a GPU goes on.

    `woken` tells when they were let go on the last time (by time.perf_counter).
    """

    def __init__(self, root: int) -> None:
        self.woken = 0.0
        self._root = root
        self._stopped: set[int] = set()

    @contextmanager
    def frozen(self) -> Iterator[None]:
        """None of their threads runs on a processor meanwhile."""
        try:
            self.stop()
            yield
        finally:
            self.go_on()

    def stop(self) -> None:
        """Stops every thread until `go_on`."""
        if self._stopped:
            return
        while new := set(processes.tree(self._root)) - self._stopped:
            for pid in new:
                _signal(pid, signal.SIGSTOP)
            self._stopped |= new
        for pid in self._stopped:
            _await_stop(pid)

    def go_on(self) -> None:
        self.woken = time.perf_counter()
        for pid in self._stopped:
            _signal(pid, signal.SIGCONT)
        self._stopped.clear()


def _signal(pid: int, number: int) -> None:
    with suppress(ProcessLookupError):
        os.kill(pid, number)


def _await_stop(pid: int) -> None:
    """A signal is delivered a moment after it is sent; what is in the kernel for longer computes nothing."""
    deadline = time.monotonic() + STOP_SECONDS
    while time.monotonic() < deadline:
        try:
            states = [Path(f"/proc/{pid}/task/{task}/stat").read_text().rpartition(")")[2].split()[0]
                      for task in os.listdir(f"/proc/{pid}/task")]
        except OSError:
            continue
        if not any(state == "R" for state in states):
            return
