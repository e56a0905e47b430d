"""A lane: a process in which gradings run one after another, with its own fork server.

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
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, NoReturn

from grader import temporary
from grader.judging.running import fork_servers
from grader.plan import wire
from grader.sandbox.confine import processes
from grader.sandbox.forkserver import isolation
from grader.sandbox.forkserver.conversation import Conversation
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

CORES, MOST_STATIONS = 4, 4
"""Processors for each station, since compilers use several, and the most stations, for tasks of a GPU, which are
prepared side by side."""

_builders: list[Builders] = []
_executors: list[Executors] = []
_baselines: list[Baselines] = []
_isolations: list[Isolation] = []
_caches: list[Path] = []
# `_busy`: work is under way that has to be cleaned up; `_told`: SIGTERM has come meanwhile.
_busy = _told = False
# Number of lanes that share this machine's processors where no GPU is used.
_sharing = 1


def start_lane(measured: Isolation | None = None, sharing: int = 1, *, gpu: bool = False) -> None:
    """Prepare a pool's process for gradings; with `gpu`, on the machine's GPU. The process ends with its parent, and
    adopts the processes that a submission leaves behind. `measured` is the isolation, if it was measured before;
    `sharing` lanes share the processors where no GPU is used."""
    global _sharing
    _sharing = sharing
    signal.signal(signal.SIGTERM, _end)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTERM})
    parent = multiprocessing.parent_process()
    processes.die_with_parent()
    if parent is not None and os.getppid() != parent.pid:
        # The parent had ended before.
        os._exit(_TERMINATED)
    open_lane(measured, gpu=gpu)


def open_lane(measured: Isolation | None = None, *, gpu: bool = False) -> None:
    """Prepare this process for gradings, as `start_lane` does in a pool. Raises InfrastructureError."""
    with at_work():
        processes.adopt_orphans()
        if measured is not None:
            _isolations[:] = [measured.of_another_user()]
        _ = lane_station().fork_server
        if gpu:
            _prepare()
            fork_servers.start_ahead()
        # Objects that an import makes stay: collecting garbage among them would take a fifth of the import's time.
        gc.disable()
        # Imported here, so that the fork server starts meanwhile.
        import torch

        gc.enable()
        # Imported modules never become garbage, so later collections, ten by pytest after each run, skip them. Garbage
        # of the imports stays: collecting it takes a fifth of a second, and frees no memory.
        gc.freeze()
        # A lane has one core: oracles on all cores would slow the other lanes.
        torch.set_num_threads(1)


def on_interruption(handler: Callable[[int, FrameType | None], None]) -> None:
    """Call `handler` on signals that end a command, except those that are ignored (nohup, a script's `&`)."""
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, handler)


def _end(number: int, frame: FrameType | None) -> None:
    global _told
    # A pool sends the signal again during the cleanup.
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    # The interrupted code may hold a lock that the cleanup waits for.
    faulthandler.dump_traceback_later(END_SECONDS, exit=True, file=2)
    if not _busy:
        _close_and_exit()
    _told = True
    raise KeyboardInterrupt


@contextlib.contextmanager
def at_work() -> Iterator[None]:
    """Mark the block as work that SIGTERM interrupts: the lane then cleans up and ends. Outside such a block SIGTERM
    ends the lane at once."""
    global _busy
    try:
        try:
            _busy = True
            yield
        finally:
            _busy = False
    finally:
        # In an outer `finally`, since the interruption may come inside the inner one.
        if _told:
            _close_and_exit()


def _close_and_exit() -> NoReturn:
    # No exception: a pool would pass it on and let the process wait for more work.
    try:
        close_lane()
    finally:
        os._exit(_TERMINATED)


def lane_isolation() -> Isolation:
    """Return the isolation of this lane's confined processes: measured on first use."""
    if not _isolations:
        _isolations.append(isolation.measure())
    return _isolations[0]


class Station:
    """A fork server with at most one confined process at a time, and a thread that prepares tasks with it ahead of
    their turn."""

    def __init__(self, isolation: Callable[[], Isolation]) -> None:
        self._isolation = isolation
        self.turn = threading.RLock()
        """The lock that is held while a confined process answers, since a task may be prepared while another is
        judged."""
        # The thread lives as long as the lane: the system ends a thread's processes with the thread.
        self.ahead = ThreadPoolExecutor(max_workers=1)
        self._fork_servers: list[ForkServer] = []
        self._conversations: list[Conversation] = []

    @property
    def fork_server(self) -> ForkServer:
        """Return the station's fork server: started on first use, replaced when lost, the same for all submissions."""
        # If two threads saw that the fork server is lost, one would close the other's replacement.
        with self.turn:
            if not self._fork_servers or not self._fork_servers[0].alive:
                while self._fork_servers:
                    self._fork_servers.pop().close()
                _prepare()
                self._fork_servers.append(self._isolation().fork_server("planner", "simulator", "compiler"))
            return self._fork_servers[0]

    def converse(self, role: wire.Role, limits: wire.Limits) -> Conversation:
        """Fork a confined process. The process before is ended, whichever attempt used it, since a fork server has one
        at a time. The caller holds the lock `turn`. Raises InfrastructureError."""
        self.hang_up()
        self._conversations.append(Conversation(self.fork_server, role, limits))
        return self._conversations[0]

    def hang_up(self) -> None:
        """End the confined process that still lives, if any."""
        with self.turn:
            while self._conversations:
                self._conversations.pop().end()

    def close(self) -> None:
        """End the fork server and its process, whatever that does, and drop the tasks that wait to be prepared."""
        self.ahead.shutdown(wait=False, cancel_futures=True)
        self.ahead = ThreadPoolExecutor(max_workers=1)
        if not self.turn.acquire(blocking=False):
            # Another thread may await an answer for minutes, while kernels are compiled.
            for fork_server in [*self._fork_servers]:
                fork_server.kill()
            self.turn.acquire()
        with contextlib.ExitStack() as stack:
            stack.callback(self.turn.release)
            stack.callback(self.hang_up)
            while self._fork_servers:
                stack.callback(self._fork_servers.pop().close)


def lane_station() -> Station:
    """Return this process's first station, which serves everything that is judged one after another."""
    return _stations[0]


def lane_stations(tasks: int, device: str) -> list[Station]:
    """Return this process's stations for `tasks` tasks: as many as the processors allow. For the device "cuda" they
    prepare tasks side by side; for "cpu" the first simulates a task while the second, if there is one, prepares the
    next. The fork servers of new stations start now; the call does not wait for them."""
    processors = len(os.sched_getaffinity(0))
    allowed = min(tasks, *((MOST_STATIONS, processors // CORES) if device == "cuda" else (2, processors // _sharing)))
    while len(_stations) < allowed:
        # Each station has its own user: the system counts a user's processes together.
        _stations.append(Station(lambda: lane_isolation().of_another_user()))
        _ = _stations[-1].fork_server
    return _stations[: max(1, allowed)]


@contextlib.contextmanager
def still() -> Iterator[float]:
    """Hold the locks of all this lane's confined processes for the block: requests under way end before, and those of
    other threads wait. Yields the seconds that the locks took."""
    begun = time.monotonic()
    with contextlib.ExitStack() as stack:
        for station in _stations:
            stack.enter_context(station.turn)
        for builders in _builders:
            stack.enter_context(builders.still())
        yield time.monotonic() - begun


def hang_up() -> None:
    """End the confined processes that still live, if any."""
    for station in _stations:
        station.hang_up()


_stations = [Station(lane_isolation)]


def lane_builders() -> Builders:
    """Return this process's builders: started on first use, the same for all submissions."""
    # Late: a lane starts from a light module.
    from grader.judging.running.builders import Builders

    if not _builders:
        _prepare()
        _builders.append(Builders(lane_isolation(), _cache()))
    return _builders[0]


def lane_executors() -> Executors:
    """Return this process's executors on its GPU: started on first use, the same for all submissions."""
    # Late: a lane starts from a light module.
    from grader.judging.running.execution import Executors

    if not _executors:
        _prepare()
        _executors.append(Executors(_cache()))
    return _executors[0]


def lane_baselines() -> Baselines:
    """Return this process's baselines on its GPU: started on first use, the same for all submissions."""
    # Late: a lane starts from a light module.
    from grader.judging.speed.baselines import Baselines

    if not _baselines:
        _prepare()
        _baselines.append(Baselines(_cache()))
    return _baselines[0]


def close_lane() -> None:
    """End this process's fork servers and all their workers, even if one of them raises."""
    _isolations.clear()
    with contextlib.ExitStack() as stack:
        # Runs last, when nobody writes there any more.
        while _caches:
            stack.callback(temporary.remove, _caches.pop())
        for station in _stations:
            stack.callback(station.close)
        for owners in (_builders, _executors, _baselines):
            while owners:
                stack.callback(owners.pop().close)
        stack.callback(fork_servers.close_unused)


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
    return (f"what is compiled is not kept for the next command: {why}; set XDG_CACHE_HOME to a folder that can be "
            "written")


def _cache() -> Path:
    """Return the folder that caches compiled code: the user's, or else a temporary one of this process. No process of a
    submission sees the folder."""
    if not cache_trouble():
        return user_cache()
    if not _caches:
        _caches.append(temporary.make("cache"))
    return _caches[0]


@cache
def _prepare() -> None:
    # This process holds inputs and answers, which no other process may read.
    processes.hide()
    atexit.register(close_lane)
