"""The command `lane`: one process with a dask worker for each lane of ours, on each GPU or each core.

The worker's only thread runs each job in the lane's own process, with the same code as a grading on one machine. That
code reports a grading process that dies, and replaces it. A lane grades only for processes with the same versions and
code.
"""

from __future__ import annotations

import asyncio
import hashlib
import os
import pickle
import platform
import socket
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

from distributed import Worker, get_worker
from distributed.comm.core import connect
from distributed.core import Status

from grader import home, temporary
from grader.cluster.scheduler import Endpoint, ending, quiet
from grader.errors import InfrastructureError, UserError
from grader.grading import doctor, gpus
from grader.grading.job import Job, JobOutcome
from grader.grading.lanes import LocalLanes, Survey
from grader.plan import language_folders
from grader.sandbox.forkserver import isolation
from grader.sandbox.forkserver.isolation import Isolation

CONNECT_SECONDS = 10.0
LEAVE_SECONDS = 1.0


@dataclass
class _WorkerLane:
    """A lane of a dask worker. Its processes end with the worker's thread, which starts them."""

    name: str
    pool: LocalLanes
    measured: Isolation


# The lanes of this process, by their workers' names.
_lanes: dict[str, _WorkerLane] = {}
_leaving = threading.Event()


class LeaveNotice(Exception):
    """A lane's notice that it was asked to end; another lane takes over its job."""


def run(at: Endpoint, jobs: int, say: Callable[[str], None]) -> bool:
    """Grade for everyone who asks the scheduler, until this process is asked to end (returns True) or its lanes are
    dismissed (returns False). `jobs` is the number of lanes on a machine without a GPU; 0: one for each core. Raises
    UserError."""
    quiet()
    try:
        measured = isolation.measure()
    except InfrastructureError as error:
        raise UserError(str(error)) from None
    with temporary.folder("lane") as folder:
        places = _places(jobs, folder)
        for number, environment in enumerate(places):
            name = f"{socket.gethostname()}-{os.getpid()}-{number}"
            _lanes[name] = _WorkerLane(name, LocalLanes([environment], measured, sharing=len(places)), measured)
        try:
            return asyncio.run(_run(at, str(folder), say))
        finally:
            _leaving.set()
            for lane in _lanes.values():
                lane.pool.end()


async def _run(at: Endpoint, folder: str, say: Callable[[str], None]) -> bool:
    stop = ending()
    arguments = at.security.get_connection_args("worker")
    try:
        (await connect(str(at), timeout=CONNECT_SECONDS, **arguments)).abort()
    except (OSError, TimeoutError) as error:
        # The first error in the chain is the cause.
        while error.__cause__ is not None:
            error = error.__cause__  # type: ignore[assignment]
        raise UserError(f"{at}: {error}; start a scheduler there with the same key") from None
    workers = [Worker(
        str(at), name=name, nthreads=1, memory_limit=0, security=at.security, local_directory=folder, dashboard=False,
        dashboard_address="127.0.0.1:0", executor=ThreadPoolExecutor(1), death_timeout=CONNECT_SECONDS)
        for name in _lanes]
    try:
        await asyncio.gather(*workers)
        say(f"{len(workers)} lanes joined {at}: {', '.join(_lanes)}")
        ended = asyncio.ensure_future(asyncio.wait([asyncio.ensure_future(worker.finished()) for worker in workers]))
        await asyncio.wait([asyncio.ensure_future(stop.wait()), ended], return_when=asyncio.FIRST_COMPLETED)
        return stop.is_set()
    except (OSError, TimeoutError, ValueError) as error:
        raise UserError(f"{at}: {error}; lanes cannot join; check the scheduler's machine") from None
    finally:
        _leaving.set()
        await asyncio.gather(*map(_leave, workers), return_exceptions=True)


async def _leave(worker: Worker) -> None:
    if worker.status == Status.running:
        # Otherwise the scheduler would report the worker as killed by its job.
        await asyncio.wait_for(worker.scheduler.unregister(
            address=worker.address, stimulus_id="leaving", expected=True, close=False), LEAVE_SECONDS)
    await worker.close(timeout=LEAVE_SECONDS, executor_wait=False)


def _places(jobs: int, locks: Path) -> list[dict[str, str]]:
    """Return the environment of each lane: with GPUs, one that shows a lane only its own GPU; else an empty one. Lanes
    hold locks in the folder `locks`."""
    return gpus.lanes(gpus.present(), locks) or [{} for _ in range(jobs or len(os.sched_getaffinity(0)))]


def introduce(survey: Survey, device: str, names: tuple[str, ...]) -> dict[str, Any]:
    """Return a lane's description of itself, before it gets a job, as plain values that every version can read."""
    lane = _here()
    about: dict[str, Any] = {
        "name": lane.name, "own": own(), "level": lane.measured.level,
        "isolation": str(lane.measured), "missing": list(lane.measured.missing)}
    try:
        without, environment = lane.pool.survey(survey, device, names).result()
    except (UserError, InfrastructureError) as error:
        return about | {"trouble": str(error)}
    except BrokenProcessPool:
        return about | {"trouble": "no process to grade in could be started"}
    return about | {"without": without, "environment": environment.model_dump(mode="json")}


def grade(payload: bytes) -> bytes:
    """Grade a pickled Job and return a pickled JobOutcome. Jobs come from our own machines only."""
    job: Job = pickle.loads(payload)
    try:
        (outcome,) = _here().pool.grade([job], 1, _leaving.is_set)
    except KeyboardInterrupt:
        raise LeaveNotice from None
    except Exception as error:
        # For example, no process could be started. An exception would make the grading count the lane as lost.
        outcome = JobOutcome(job.submission, None, error=f"{type(error).__name__}: {error}")
    return pickle.dumps(outcome)


def examine() -> list[tuple[str, str]]:
    """Return the problems of the lane's machine and GPU that prevent grading, as `doctor` finds them: subject and
    description."""
    try:
        return [(line.subject, line.text) for line in _here().pool.ask(doctor.diagnoses).result() if line.fatal]
    except BrokenProcessPool:
        return [("grading", "the process that examined it died")]


def _here() -> _WorkerLane:
    return _lanes[str(get_worker().name)]


GRADER, ASSIGNMENTS = "grader", "assignments"
# Sentences to show in place of hashes that differ.
_REMEDIES = {GRADER: "its grader is not this one, so install the same there",
             ASSIGNMENTS: "its assignments are not this course's, so start it in a copy of the course's folder"}


def own() -> dict[str, str]:
    """Return the versions of this process, without build suffixes; sha256 of the grader's code, which includes front
    ends in other folders; and sha256 of the assignments."""
    packages = ("kernelmark", "torch", "triton", "numpy")
    versions = {name: metadata.version(name).partition("+")[0] for name in packages}
    return {**versions, "python": platform.python_version(),
            GRADER: _digest(home.PACKAGE, *map(Path, language_folders.homes()[1:])),
            ASSIGNMENTS: _digest(home.root() / "assignments")}


def _digest(*folders: Path) -> str:
    digest = hashlib.sha256()
    for folder in folders:
        for path in sorted(folder.rglob("*")):
            if home.IN_WHEEL not in path.parents and path.suffix in (".py", ".toml", ".j2") and path.is_file():
                name = f"{folder.name}/{path.relative_to(folder)}\0"
                digest.update(name.encode() + hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()


def unlike(versions: dict[str, str]) -> str:
    """Return in a sentence how another process's versions differ from this process's; "" if they are equal."""
    return "; ".join(_REMEDIES.get(name, f"{name} {versions.get(name, 'unknown')}, expected {value}")
                     for name, value in own().items() if versions.get(name) != value)
