"""A lane: a process in which gradings run one after another, with fork servers of its own.

This module is light to import, so that a new lane's fork server imports torch while the lane does so itself: modules
that need torch are imported inside functions.
"""

from __future__ import annotations

import atexit
import contextlib
import faulthandler
import gc
import multiprocessing
import os
import signal
import tempfile
import time
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, NoReturn

from grader import temporary
from grader.judging.running.fork_servers import LaneForkServer
from grader.plan import wire
from grader.sandbox.confine import processes
from grader.sandbox.forkserver import isolation
from grader.sandbox.forkserver.handle import ForkServer
from grader.sandbox.forkserver.isolation import Isolation

if TYPE_CHECKING:
    from grader.judging.running.builders import Builders
    from grader.judging.running.execution import Executors
    from grader.judging.speed.baselines import Baselines

# Seconds in which a lane has to clean up after SIGTERM; a fork server that does not answer takes 15 of them.
END_SECONDS = 60
# A shell's exit status for a process that a signal has ended.
_TERMINATED = 128 + signal.SIGTERM

CORES, MOST_FORK_SERVERS = 4, 4
"""Processors for each fork server, since compilers use several, and the most fork servers, for tasks of a GPU, which
are prepared side by side."""


def _confined_server(measured: Isolation) -> ForkServer:
    _prepare()
    return measured.fork_server("planner", "simulator", "compiler")


def executor_server() -> ForkServer:
    """Start a fork server for executors: unconfined, since on the host they run only code of ours."""
    _prepare()
    return ForkServer(("executor",), layers=wire.Layers())


class Lane:
    """The resources of a process in which gradings run one after another: its isolation, its fork servers and what
    they fork. Each is started on first use, the same for all submissions, and started anew after `close`.

    `sharing` lanes share this machine's processors where no GPU is used.
    """

    def __init__(self) -> None:
        self.sharing = 1
        self._isolation: Isolation | None = None
        self._fork_servers = [LaneForkServer(lambda: _confined_server(self.isolation))]
        # Two for executors of submissions, one for baselines.
        self._executor_servers = [LaneForkServer(executor_server) for _ in range(3)]
        self._builders: Builders | None = None
        self._executors: Executors | None = None
        self._baselines: Baselines | None = None
        self._own_cache: Path | None = None
        # Work is under way that has to be cleaned up; SIGTERM has come meanwhile.
        self._busy = self._interrupted = False

    def open(self, measured: Isolation | None = None, *, gpu: bool = False) -> None:
        """Prepare this process for gradings; with `gpu`, on the machine's GPU. `measured` is the isolation, if it was
        measured before. Raises InfrastructureError."""
        processes.adopt_orphans()
        if measured is not None:
            self._isolation = measured.of_another_user()
        for fork_server in (self.fork_server, *(self._executor_servers if gpu else ())):
            # Each takes seconds to import torch.
            _ = fork_server.handle
        # Objects that an import makes stay: collecting garbage among them would take a fifth of the import's time.
        gc.disable()
        # Imported here, so that the fork server starts meanwhile.
        import torch

        gc.enable()
        # Imported modules never become garbage, so later collections, ten by pytest after each run, skip them. Garbage
        # of the imports stays: collecting it takes a fifth of a second, and frees no memory.
        gc.freeze()
        # Oracles on all cores would slow the other lanes.
        torch.set_num_threads(1)
        if gpu:
            # Baselines take longest to start.
            _ = self.baselines

    @property
    def isolation(self) -> Isolation:
        """Return the isolation of confined processes: measured on first use."""
        if self._isolation is None:
            self._isolation = isolation.measure()
        return self._isolation

    @property
    def fork_server(self) -> LaneForkServer:
        """Return the first fork server, which serves everything that is judged one after another."""
        return self._fork_servers[0]

    def fork_servers(self, tasks: int, device: str) -> list[LaneForkServer]:
        """Return fork servers for `tasks` tasks: as many as the processors allow. For the device "cuda" they prepare
        tasks side by side; for "cpu" the first simulates a task while the second, if there is one, prepares the next.
        New fork servers start now; the call does not wait for them."""
        processors = len(os.sched_getaffinity(0))
        most = (MOST_FORK_SERVERS, processors // CORES) if device == "cuda" else (2, processors // self.sharing)
        allowed = min(tasks, *most)
        while len(self._fork_servers) < allowed:
            # Each has its own user: the system counts a user's processes together.
            self._fork_servers.append(LaneForkServer(lambda: _confined_server(self.isolation.of_another_user())))
            _ = self._fork_servers[-1].handle
        return self._fork_servers[: max(1, allowed)]

    @property
    def builders(self) -> Builders:
        """Return the builders of compiled languages."""
        # Late: a lane starts from a light module.
        from grader.judging.running.builders import Builders

        if self._builders is None:
            _prepare()
            self._builders = Builders(self.isolation, self._cache())
        return self._builders

    @property
    def executors(self) -> Executors:
        """Return the executors on this process's GPU."""
        # Late: a lane starts from a light module.
        from grader.judging.running.execution import Executors

        if self._executors is None:
            self._executors = Executors(self._cache(), self._executor_servers[:2])
        return self._executors

    @property
    def baselines(self) -> Baselines:
        """Return the baselines on this process's GPU."""
        # Late: a lane starts from a light module.
        from grader.judging.speed.baselines import Baselines

        if self._baselines is None:
            self._baselines = Baselines(self._cache(), self._executor_servers[2])
        return self._baselines

    @contextlib.contextmanager
    def still(self) -> Iterator[float]:
        """Hold the locks of all confined processes for the block: requests under way end before, and those of other
        threads wait. Yields the seconds that the locks took."""
        begun = time.monotonic()
        with contextlib.ExitStack() as stack:
            for fork_server in self._fork_servers:
                stack.enter_context(fork_server.lock)
            if self._builders is not None:
                stack.enter_context(self._builders.still())
            yield time.monotonic() - begun

    def end_workers(self) -> None:
        """End the confined processes that still live, if any."""
        for fork_server in self._fork_servers:
            fork_server.end_worker()

    def close(self) -> None:
        """End the fork servers and all their workers, even if one of them raises."""
        self._isolation = None
        with contextlib.ExitStack() as stack:
            # Runs last, when no process writes there.
            if self._own_cache is not None:
                stack.callback(temporary.remove, self._own_cache)
            for fork_server in (*self._fork_servers, *self._executor_servers):
                stack.callback(fork_server.close)
            for owner in (self._builders, self._executors, self._baselines):
                if owner is not None:
                    stack.callback(owner.close)
            self._builders = self._executors = self._baselines = self._own_cache = None

    @contextlib.contextmanager
    def at_work(self) -> Iterator[None]:
        """Mark the block as work that SIGTERM interrupts: the lane then cleans up and ends. Outside such a block
        SIGTERM ends the lane at once."""
        try:
            try:
                self._busy = True
                yield
            finally:
                self._busy = False
        finally:
            # In an outer `finally`, since the interruption may come inside the inner one.
            if self._interrupted:
                self._close_and_exit()

    def end(self, number: int, frame: FrameType | None) -> None:
        """Handle SIGTERM: end this process, after the work under way is interrupted."""
        # A pool sends the signal again during the cleanup.
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        # The interrupted code may hold a lock that the cleanup waits for.
        faulthandler.dump_traceback_later(END_SECONDS, exit=True, file=2)
        if not self._busy:
            self._close_and_exit()
        self._interrupted = True
        raise KeyboardInterrupt

    def _close_and_exit(self) -> NoReturn:
        # No exception: a pool would pass it on and let the process wait for more work.
        try:
            self.close()
        finally:
            os._exit(_TERMINATED)

    def _cache(self) -> Path:
        """Return the folder that caches compiled code: the user's, or else a temporary one of this process. No process
        of a submission sees the folder."""
        if not cache_trouble():
            return user_cache()
        if self._own_cache is None:
            self._own_cache = temporary.make("cache")
        return self._own_cache


LANE = Lane()
"""The lane of this process. A pool's process gets jobs as calls of functions, so these find it here."""


def start_lane(measured: Isolation | None = None, sharing: int = 1, *, gpu: bool = False) -> None:
    """Prepare a pool's process for gradings, as `Lane.open` does. The process ends with its parent, and adopts the
    processes that a submission leaves behind. `sharing` lanes share the processors where no GPU is used."""
    LANE.sharing = sharing
    signal.signal(signal.SIGTERM, LANE.end)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTERM})
    parent = multiprocessing.parent_process()
    processes.die_with_parent()
    if parent is not None and os.getppid() != parent.pid:
        # The parent had ended before.
        os._exit(_TERMINATED)
    with LANE.at_work():
        LANE.open(measured, gpu=gpu)


def user_cache() -> Path:
    """Return the user's folder for builds, which need not exist. Raises RuntimeError for a user without a home."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "kernelmark"


def cache_trouble() -> str:
    """Return the reason why builds are not retained for the next command, and what to do; "" if they are."""
    try:
        folder = user_cache()
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return ""
    except RuntimeError:
        why = "this user has no home"
    except OSError as error:
        why = f"{folder}: {error.strerror}"
    return (f"compiled code is not kept for the next command: {why}; set XDG_CACHE_HOME to a folder that can be "
            "written")


@cache
def _prepare() -> None:
    # This process holds inputs and answers, which other processes may not read.
    processes.hide()
    atexit.register(LANE.close)
