"""A lane: one process in which gradings run one after another, with zygotes for each kind of device.

Light to import, so that a new lane can have its zygote importing torch while it imports torch itself.
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
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from types import FrameType
from typing import NoReturn

from grader.confine import processes
from grader.confine.cgroup import create
from grader.forkserver import isolation
from grader.forkserver.handle import OWN_MB, OWN_TASKS, InfrastructureError, Zygote
from grader.forkserver.isolation import Isolation
from grader.judge.baselines import Baselines

# Where a submission's kernels are compiled, one assignment needs one core, and so much device memory at most.
MOST_AT_ONCE = 6
CORES_EACH = 2
DEVICE_BYTES_EACH = 8 << 30
# A lane that is told to end has so long to clear away what it has begun: a zygote that does not answer has 15.
END_SECONDS = 60
# As a shell says of what a signal has ended.
_TERMINATED = 128 + signal.SIGTERM

_zygotes: dict[tuple[str, int], Zygote] = {}
_baselines: dict[str, Baselines] = {}
_isolations: dict[str, Isolation] = {}
# Whether something is under way that has to be cleared away, and whether this process was told to end meanwhile.
_busy = _told = False


def start_lane(device: str = "cpu", measured: Isolation | None = None, speed: bool = True) -> None:
    """Prepares a process of its own for gradings: it ends with the one that started it, and whatever a submission
    leaves behind falls to it. `measured` spares it from measuring the isolation again; on a GPU `speed` has it start
    the baselines' process."""
    signal.signal(signal.SIGTERM, _end)
    parent = multiprocessing.parent_process()
    processes.die_with_parent()
    if parent is not None and os.getppid() != parent.pid:
        # It was gone before.
        os._exit(_TERMINATED)
    with at_work():
        processes.adopt_orphans()
        if measured is not None:
            layers = measured.layers
            if layers.uid is not None:
                # The processes of a user are counted together, and one lane's are nothing to another.
                layers = layers.model_copy(update={"uid": isolation.spare_uid()})
            _isolations[device] = replace(measured, layers=layers)
        lane_zygote(device)
        if device == "cuda" and speed:
            # It takes seconds to start, and is wanted later.
            lane_baselines(device)
        import torch

        for number in range(1, at_once(device)):
            lane_zygote(device, number)
        # pytest collects garbage after every run, ten times: what is imported by now never becomes any.
        gc.collect()
        gc.freeze()
        if device == "cpu":
            # A lane is one core: oracles that spread over all of them would slow the other lanes' workers.
            torch.set_num_threads(1)


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
    """While open, a lane that is told to end (SIGTERM) is interrupted, and ends when what it has begun is cleared away.
    """
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
    # No exception: a pool would hand it to somebody, and have the process wait for more work.
    try:
        close_lane()
    finally:
        os._exit(_TERMINATED)


def lane_isolation(device: str = "cpu") -> Isolation:
    """What keeps the workers of this process apart: measured when first needed."""
    if device not in _isolations:
        _isolations[device] = isolation.measure(cuda=device == "cuda")
    return _isolations[device]


def at_once(device: str) -> int:
    """How many assignments of a submission are judged at the same time, each with a zygote of its own.

    On a GPU most of the time goes into compiling; interpreted kernels have a core to themselves already. One by one
    where workers could reach each other.
    """
    layers = lane_isolation(device).layers
    if device == "cpu" or not (layers.namespaces or layers.uid not in (None, isolation.NOBODY)):
        return 1
    from grader.judge.device import total_memory

    return max(1, min(MOST_AT_ONCE, len(os.sched_getaffinity(0)) // CORES_EACH, total_memory() // DEVICE_BYTES_EACH))


def lane_zygote(device: str = "cpu", number: int = 0) -> Zygote:
    """This process's zygotes for a device: started when first needed, replaced when lost, kept for every submission."""
    zygote = _zygotes.get((device, number))
    if zygote is None or not zygote.alive:
        if threading.current_thread() is not threading.main_thread():
            # It would end with the thread.
            raise InfrastructureError("the zygote was lost")
        if zygote is not None:
            zygote.close()
        _prepare()
        measured = lane_isolation(device)
        layers = measured.layers
        if number and layers.uid is not None:
            layers = layers.model_copy(update={"uid": isolation.spare_uid()})
        zygote = _zygotes[device, number] = Zygote(
            interpret=device == "cpu", layers=layers,
            cgroup=create(OWN_MB, OWN_TASKS) if measured.cgroup else None)
    return zygote


def lane_baselines(device: str) -> Baselines:
    """This process's baselines on a device: started when first needed, replaced when lost, kept for every submission.
    """
    baselines = _baselines.get(device)
    if baselines is None or not baselines.alive:
        if baselines is not None:
            baselines.close()
        _prepare()
        baselines = _baselines[device] = Baselines(
            cuda=device == "cuda", history=None if baselines is None else baselines.history)
    return baselines


def close_lane() -> None:
    """Ends this process's zygotes, and with them their workers."""
    while _baselines:
        _baselines.popitem()[1].close()
    while _zygotes:
        _zygotes.popitem()[1].close()


@cache
def _prepare() -> None:
    # What it knows of inputs and answers is nobody's business.
    processes.hide()
    atexit.register(close_lane)
