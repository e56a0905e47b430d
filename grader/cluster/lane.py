"""The command `lane`: one process that has, for each GPU or each core, a worker of the engine's and a lane of ours.

The worker's one thread runs a job in the lane's own process, as on the commanding machine: a grading process that dies
is told of, and replaced, by the code that does so there.
"""

from __future__ import annotations

import asyncio
import os
import pickle
import socket
import tempfile
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from typing import Any

from distributed import Worker, get_worker
from distributed.comm.core import connect
from distributed.core import Status

from grader.cluster.key import LOOPBACK, ClusterError, Endpoint, quiet
from grader.cluster.own import own
from grader.cluster.scheduler import ending
from grader.engine.forkserver import isolation
from grader.engine.forkserver.handle import InfrastructureError
from grader.engine.forkserver.isolation import Isolation
from grader.model.job import Graded, Job
from grader.run import doctor, gpus
from grader.run.lanes import LocalLanes, Look
from grader.run.preflight import PlanError

CONNECT_SECONDS = 10.0
LEAVE_SECONDS = 1.0


@dataclass
class _Lane:
    """A worker's lane. Its processes live as long as the thread that started them: the worker's own."""

    name: str
    pool: LocalLanes
    measured: Isolation


# Of this process, by the worker's name.
_lanes: dict[str, _Lane] = {}
_leaving = threading.Event()


class Leaving(Exception):
    """The lane is told to end: its job is another lane's."""


def run(at: Endpoint, jobs: int, say: Callable[[str], None]) -> bool:
    """Grades for whoever asks the scheduler, until this process is told to end (True) or the lanes are told to leave
    (False). `jobs`: lanes on a machine without a GPU; 0: one a core. Raises ClusterError."""
    quiet()
    try:
        measured = isolation.measure()
    except InfrastructureError as error:
        raise ClusterError(str(error)) from None
    for number, environment in enumerate(_places(jobs)):
        name = f"{socket.gethostname()}-{os.getpid()}-{number}"
        _lanes[name] = _Lane(name, LocalLanes([environment], measured), measured)
    try:
        with tempfile.TemporaryDirectory(prefix="kernelmark-lane-") as folder:
            return asyncio.run(_run(at, folder, say))
    finally:
        _leaving.set()
        for lane in _lanes.values():
            lane.pool.end()


async def _run(at: Endpoint, folder: str, say: Callable[[str], None]) -> bool:
    told = ending()
    arguments = at.security.get_connection_args("worker") if at.security else {}
    try:
        (await connect(str(at), timeout=CONNECT_SECONDS, **arguments)).abort()
    except (OSError, TimeoutError) as error:
        # What went wrong first is the reason of what went wrong last.
        while error.__cause__ is not None:
            error = error.__cause__  # type: ignore[assignment]
        raise ClusterError(f"{at}: {error}; a scheduler with the same key expected") from None
    workers = [Worker(
        str(at), name=name, nthreads=1, memory_limit=0, security=at.security, local_directory=folder, dashboard=False,
        dashboard_address="127.0.0.1:0", executor=ThreadPoolExecutor(1), death_timeout=CONNECT_SECONDS,
        # Who reaches a worker without TLS owns it.
        host=at.host if at.host in LOOPBACK else None) for name in _lanes]
    try:
        await asyncio.gather(*workers)
        say(f"{len(workers)} lanes joined {at}: {', '.join(_lanes)}")
        ended = asyncio.ensure_future(asyncio.wait([asyncio.ensure_future(worker.finished()) for worker in workers]))
        await asyncio.wait([asyncio.ensure_future(told.wait()), ended], return_when=asyncio.FIRST_COMPLETED)
        return told.is_set()
    except (OSError, TimeoutError, ValueError) as error:
        raise ClusterError(f"{at}: {error}; a scheduler that lets lanes join expected") from None
    finally:
        _leaving.set()
        await asyncio.gather(*map(_leave, workers), return_exceptions=True)


async def _leave(worker: Worker) -> None:
    if worker.status == Status.running:
        # Otherwise it would have died over its job.
        await asyncio.wait_for(worker.scheduler.unregister(
            address=worker.address, stimulus_id="leaving", expected=True, close=False), LEAVE_SECONDS)
    await worker.close(timeout=LEAVE_SECONDS, executor_wait=False)


def _places(jobs: int) -> list[dict[str, str]]:
    """Of each lane the environment that shows it its own GPU; nothing special without one."""
    cards = [gpu.environment for gpu in gpus.present()]
    return cards or [{} for _ in range(jobs or len(os.sched_getaffinity(0)))]


def introduce(question: Look, asked: str, names: tuple[str, ...]) -> dict[str, Any]:
    """What a lane says of itself before it gets a job, in plain values that every version reads."""
    lane = _here()
    said: dict[str, Any] = {
        "name": lane.name, "own": own(), "level": lane.measured.level,
        "isolation": str(lane.measured), "missing": list(lane.measured.missing)}
    try:
        without, environment = lane.pool.look(question, asked, names).result()
    except (PlanError, InfrastructureError) as error:
        return said | {"trouble": str(error)}
    except BrokenProcessPool:
        return said | {"trouble": "no process to grade in could be started"}
    return said | {"without": without, "environment": environment.model_dump(mode="json")}


def grade(payload: bytes) -> bytes:
    """A pickled Job's pickled Graded. It comes from our own machines only."""
    job: Job = pickle.loads(payload)
    try:
        (graded,) = _here().pool.grade([job], 1, _leaving.is_set)
    except KeyboardInterrupt:
        raise Leaving from None
    except Exception as error:
        # No process could be started, say. What is raised here would be taken for the loss of the lane.
        graded = Graded(job.submission, None, error=f"{type(error).__name__}: {error}")
    return pickle.dumps(graded)


def examine() -> list[tuple[str, str]]:
    """What `doctor` finds wrong with the lane's machine and GPU so that nothing can be graded."""
    try:
        return [(one.what, one.found) for one in _here().pool.ask(doctor.findings).result() if one.fatal]
    except BrokenProcessPool:
        return [("grading", "the process died that looked at it")]


def _here() -> _Lane:
    return _lanes[str(get_worker().name)]
