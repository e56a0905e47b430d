"""A lane: one process in which gradings run one after another, with a fork server of its own.

Light to import, so that a new lane can have its fork server importing torch while it imports torch itself.
"""

from __future__ import annotations

import atexit
import contextlib
import faulthandler
import gc
import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import cache
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, NoReturn, get_args

from grader.engine.confine import processes
from grader.engine.confine.cgroup import create
from grader.engine.forkserver import isolation
from grader.engine.forkserver.conversation import Conversation
from grader.engine.forkserver.handle import OWN_MB, OWN_TASKS, Zygote
from grader.engine.forkserver.isolation import Isolation
from grader.plan import languages, wire

if TYPE_CHECKING:
    from grader.judge.execution import Executors
    from grader.judge.timing.baselines import Baselines

# Seconds that a lane has to clear away what it has begun once it is told to end; a zygote that does not answer has 15.
END_SECONDS = 60
# The exit status of a process that a signal has ended, as a shell gives it.
_TERMINATED = 128 + signal.SIGTERM

TURN = threading.RLock()
"""Lock that is held while a confined process answers: the next submission may be planned while one is judged."""

AHEAD = ThreadPoolExecutor(max_workers=1)
"""Thread that plans ahead. It lives as long as the lane, because the system ends a thread's child processes with the
thread."""

_zygotes: list[Zygote] = []
_conversations: list[Conversation] = []
_executors: list[Executors] = []
_baselines: list[Baselines] = []
_isolations: list[Isolation] = []
# Whether something is under way that has to be cleared away, and whether this process was told to end meanwhile.
_busy = _told = False


def start_lane(measured: Isolation | None = None) -> None:
    """Prepares this process for gradings. It ends with its parent, and adopts the processes that a submission leaves
    behind. `measured` is the isolation, if it has been measured before."""
    signal.signal(signal.SIGTERM, _end)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTERM})
    parent = multiprocessing.parent_process()
    processes.die_with_parent()
    if parent is not None and os.getppid() != parent.pid:
        # It was gone before.
        os._exit(_TERMINATED)
    open_lane(measured)


def open_lane(measured: Isolation | None = None) -> None:
    """Prepares this process for gradings, as `start_lane` does for one of a pool. Raises InfrastructureError."""
    with at_work():
        processes.adopt_orphans()
        if measured is not None:
            layers = measured.layers
            if layers.uid is not None:
                # The processes of a user are counted together, and one lane's are nothing to another.
                layers = layers.model_copy(update={"uid": isolation.spare_uid()})
            _isolations[:] = [replace(measured, layers=layers)]
        lane_zygote()
        # Objects that an import makes are kept: a search for garbage among them takes a fifth of the time.
        gc.disable()
        import torch

        gc.enable()
        # pytest collects garbage after every run, ten times: what is imported by now never becomes any.
        gc.collect()
        gc.freeze()
        # A lane is one core: oracles that spread over all of them would slow the other lanes.
        torch.set_num_threads(1)


def on_interruption(handler: Callable[[int, FrameType | None], None]) -> None:
    """Calls `handler` for what ends a command. What was to be ignored (nohup, a script's `&`) still is."""
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, handler)


def _end(number: int, frame: FrameType | None) -> None:
    global _told
    # Once is enough, and a pool says it again while there is something to clear away.
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    # Whatever was interrupted may hold a lock that the rest waits for.
    faulthandler.dump_traceback_later(END_SECONDS, exit=True, file=2)
    if not _busy:
        _close_and_exit()
    _told = True
    raise KeyboardInterrupt


@contextlib.contextmanager
def at_work() -> Iterator[None]:
    """Context in which a lane that is told to end (SIGTERM) is interrupted, and ends once it has cleared away what it
    has begun."""
    global _busy
    try:
        try:
            _busy = True
            yield
        finally:
            _busy = False
    finally:
        # Also where the interruption came in the line before.
        if _told:
            _close_and_exit()


def _close_and_exit() -> NoReturn:
    # No exception: a pool would pass it on, and have the process wait for more work.
    try:
        close_lane()
    finally:
        os._exit(_TERMINATED)


def lane_isolation() -> Isolation:
    """What keeps the confined processes of this lane apart: measured when first needed."""
    if not _isolations:
        _isolations.append(isolation.measure())
    return _isolations[0]


def lane_zygote() -> Zygote:
    """This process's fork server: started when first needed, replaced when lost, kept for every submission."""
    # If two threads saw that it is lost, one would close the other's replacement.
    with TURN:
        if not _zygotes or not _zygotes[0].alive:
            while _zygotes:
                _zygotes.pop().close()
            _prepare()
            measured = lane_isolation()
            _zygotes.append(Zygote(
                _roles(), layers=measured.layers,
                cgroup=create(OWN_MB, OWN_TASKS) if measured.cgroup else None))
        return _zygotes[0]


def _roles() -> list[wire.Role]:
    """Every part of every front end. None is imported: that would delay the fork server's start."""
    return [f"{name}/{part}" for name in languages.names() for part in get_args(wire.Part)]


def converse(role: wire.Role, limits: wire.Limits) -> Conversation:
    """Forks a confined process. The one before is ended, whichever attempt used it, since a zygote has one at a time.
    The caller holds the turn. Raises InfrastructureError."""
    hang_up()
    _conversations.append(Conversation(lane_zygote(), role, limits))
    return _conversations[0]


def hang_up() -> None:
    """Ends the confined process that is still there, whichever attempt used it."""
    with TURN:
        while _conversations:
            _conversations.pop().end()


def lane_executors() -> Executors:
    """This process's executors on its GPU: started when first needed, kept for every submission."""
    from grader.judge.execution import Executors

    if not _executors:
        _prepare()
        _executors.append(Executors(_cache()))
    return _executors[0]


def lane_baselines() -> Baselines:
    """This process's baselines on its GPU: started when first needed, kept for every submission."""
    from grader.judge.timing.baselines import Baselines

    if not _baselines:
        _prepare()
        _baselines.append(Baselines(_cache()))
    return _baselines[0]


def close_lane() -> None:
    """Ends this process's fork servers and what they have forked, all of them, whatever one of them raises."""
    _isolations.clear()
    with TURN, contextlib.ExitStack() as stack:
        stack.callback(hang_up)
        for one in (_zygotes, _executors, _baselines):
            while one:
                stack.callback(one.pop().close)


def _cache() -> Path:
    """Where compiled baselines are kept from one grading to the next: our own code alone is compiled into it."""
    folder = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "kernelmark"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


@cache
def _prepare() -> None:
    # It knows inputs and answers, which no other process may read.
    processes.hide()
    atexit.register(close_lane)
