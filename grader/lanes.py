"""Many submissions side by side: each lane is a process of its own, which this one keeps supplied with jobs.

Nothing here imports torch, so that lanes start at once, and import it while this process does what it has to do.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import secrets
import signal
import time
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, MutableSequence, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol, Self, TypeVar

from grader import catalogue, desk, scoring
from grader.calibration import Calibration
from grader.course import Course
from grader.forkserver.isolation import Isolation
from grader.judge.lane import END_SECONDS, at_work, start_lane
from grader.result import Environment, Result
from grader.submission import HandedIn, Submission, read_sources

# Seconds between two looks at whether grading was interrupted.
GLANCE_SECONDS = 0.2

T = TypeVar("T")

Look = Callable[[str, Sequence[str]], tuple[str, Environment]]
"""Of the device asked for and the names of assignments: why a lane grades without a GPU, "" if it has one, and what it
grades on."""


def draw_seed() -> int:
    """A secret seed from the system; `--seed` with this number repeats its inputs."""
    return secrets.randbits(63)


@dataclass(frozen=True)
class Job:
    """All that grading one submission takes: nobody opens its folder any more. Every input follows from `seed`. Without
    a GPU `speed` is not measured.

    `earlier` are the shares of the points for speed of an earlier grading, by assignment. `notes` are what the student
    should know of how the submission arrived. `place` is its own among those that are graded at a time.
    """

    submission: Submission
    handed_in: HandedIn
    course: Course
    only: tuple[str, ...] = ()
    device: str = "cpu"
    speed: bool = True
    seed: int = field(default_factory=draw_seed)
    command: str = ""
    calibrations: tuple[Calibration, ...] = ()
    earlier: Mapping[str, scoring.Earlier] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    place: int = 0


def read(folder: Path, names: Iterable[str], course: Course) -> HandedIn:
    """What a student's folder holds of these assignments."""
    return desk.handed_in(folder, read_sources(folder, names, course.source_bytes), catalogue.files())


def read_job(submission: Submission, course: Course, only: tuple[str, ...] = (), *more: Any, **named: Any) -> Job:
    """A job for the files of `only`, or of all assignments, as they are now; `more` and `named` as of Job."""
    names = catalogue.select(catalogue.files(), only)
    return Job(submission, read(submission.folder, names, course), course, only, *more, **named)


@dataclass(frozen=True)
class At:
    """A grading under way: its assignment, "" if it is beginning, since when (time.time), and, on another machine, its
    lane, which does not tell of assignments."""

    student: str
    assignment: str
    since: float
    lane: str = ""


@dataclass(frozen=True)
class _Flight:
    job: Job
    since: float


@dataclass(frozen=True)
class Graded:
    """What a job gave: a result and the log of its checks, or a failure of ours."""

    submission: Submission
    result: Result | None
    log: str = ""
    error: str = ""


class LanesLostError(Exception):
    """No lane can be reached any more; one line that says how to go on."""

    def __init__(self, message: str) -> None:
        super().__init__(" ".join(message.split()))


class Lanes(Protocol):
    """Where jobs are graded: processes of this machine, or of others. They are there while the block is open."""

    def __enter__(self) -> Self: ...

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None: ...

    def look(self, question: Look, asked: str, names: Sequence[str]) -> Future[tuple[str, Environment]]:
        """What is graded on: an answer to the question that every lane is asked before it grades."""
        ...

    def running(self) -> list[At]:
        """The gradings under way, the oldest first."""
        ...

    def told(self) -> str:
        """What there is to know of the lanes, in a few words."""
        ...

    def grade(
        self, jobs: Iterable[Job], side_by_side: int, interrupted: Callable[[], bool] = lambda: False
    ) -> Iterator[Graded]:
        """Grades every job, at most so many of them at a time; yields as they finish. Raises KeyboardInterrupt as soon
        as it is `interrupted`, and LanesLostError."""
        ...


class LocalLanes:
    """At most `most` processes, started when there is something to do, and ended with the block.

    They keep submissions apart as `measured` says, or measure that themselves. `environment` is added to theirs.
    """

    def __init__(
        self, most: int, measured: Isolation | None = None, environment: Mapping[str, str] | None = None
    ) -> None:
        self._most = most
        self._measured = measured
        self._environment = dict(environment or {})
        # Of each grading at a time the number of its assignment: bytes that a lane writes and this process reads, with
        # no lock that a killed lane could keep.
        self._places = multiprocessing.get_context("spawn").RawArray("i", most)
        self._flying: dict[Future[Graded], _Flight] = {}
        self._executor = self._start()

    def _start(self) -> ProcessPoolExecutor:
        # Spawned: a lane must not inherit the terminal's threads, and starts as clean as by hand.
        context = multiprocessing.get_context("spawn")
        with _held_back():
            # It starts a process that looks after its locks.
            return ProcessPoolExecutor(
                self._most, mp_context=context, initializer=_start_lane,
                initargs=(self._measured, self._places, self._environment))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is not None:
            # Otherwise the pool waits for the jobs in flight.
            _end_lanes()
        self._executor.shutdown()

    def end(self) -> None:
        """Ends its processes, whatever they are at."""
        self.__exit__(KeyboardInterrupt)

    def look(self, question: Look, asked: str, names: Sequence[str]) -> Future[tuple[str, Environment]]:
        return self.ask(question, asked, names)

    def told(self) -> str:
        return ""

    def ask(self, question: Callable[..., T], *arguments: object) -> Future[T]:
        """A lane's answer to come; its `result` raises BrokenProcessPool if a lane has died or did not start."""
        with _held_back():
            return self._executor.submit(question, *arguments)

    def running(self) -> list[At]:
        """The gradings under way, the oldest first."""
        found = [(one, self._places[one.job.place]) for one in list(self._flying.values())]
        return [At(one.job.submission.student, one.job.only[at] if 0 <= at < len(one.job.only) else "", one.since)
                for one, at in found]

    def grade(
        self, jobs: Iterable[Job], side_by_side: int, interrupted: Callable[[], bool] = lambda: False
    ) -> Iterator[Graded]:
        """Grades every job, so many of them at a time; yields as they finish. Raises KeyboardInterrupt as soon as it
        is `interrupted`.

        When a lane dies, the jobs in flight are graded again, one at a time. A submission whose lane dies again is
        given up, as a failure of ours.
        """
        waiting = deque(jobs)
        while waiting:
            for job in (yield from self._grade(waiting, side_by_side, interrupted)):
                if (yield from self._grade(deque([job]), 1, interrupted)):
                    yield Graded(job.submission, None, error="the grading process died, twice")

    def _grade(
        self, waiting: deque[Job], side_by_side: int, interrupted: Callable[[], bool]
    ) -> Generator[Graded, None, list[Job]]:
        """Takes jobs from `waiting`. Returns those that were in flight when a lane died, and all with it."""
        flying = self._flying
        try:
            while waiting or flying:
                if interrupted():
                    raise KeyboardInterrupt
                while waiting and len(flying) < side_by_side:
                    place = min(set(range(side_by_side)) - {one.job.place for one in flying.values()})
                    self._places[place] = -1
                    job = replace(waiting[0], place=place)
                    flying[self.ask(grade_in_lane, job)] = _Flight(job, time.time())
                    waiting.popleft()
                for future in wait(flying, GLANCE_SECONDS, FIRST_COMPLETED).done:
                    try:
                        graded = future.result()
                    except BrokenProcessPool:
                        raise
                    except Exception as error:
                        graded = Graded(flying[future].job.submission, None, error=f"{type(error).__name__}: {error}")
                    del flying[future]
                    yield graded
        except BrokenProcessPool:
            self._executor.shutdown()
            self._executor = self._start()
            dead = [one.job for one in flying.values()]
            flying.clear()
            return dead
        return []


# In a lane: where it writes what it is at.
_places: MutableSequence[int] | None = None


def _start_lane(measured: Isolation | None, places: MutableSequence[int], environment: Mapping[str, str]) -> None:
    global _places
    _places = places
    os.environ.update(environment)
    start_lane(measured)


def tell(job: Job, assignment: str) -> None:
    """Says which assignment of a job is judged now."""
    if _places is not None and assignment in job.only:
        _places[job.place] = job.only.index(assignment)


def grade_in_lane(job: Job) -> Graded:
    """Ends the process where the GPU does not answer any more: another process takes its place."""
    # Here, where torch is wanted.
    from grader.grading import grade
    from grader.judge.device import sane

    if job.device == "cuda" and not sane():
        os._exit(1)
    with at_work():
        return grade(job)


def _end_lanes() -> None:
    lanes = multiprocessing.active_children()
    for lane in lanes:
        lane.terminate()
    until = time.monotonic() + END_SECONDS + 1
    for lane in lanes:
        lane.join(max(0, until - time.monotonic()))
        # For a lane that SIGTERM has not ended.
        lane.kill()


@contextlib.contextmanager
def _held_back() -> Iterator[None]:
    """While open, no signal interrupts this process: a process that it is starting would be left half started.
    Processes started meanwhile ignore Ctrl-C and the end of the terminal, which reach all of them: this process ends
    them by SIGTERM, which `start_lane` lets through.
    """
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGHUP, signal.SIGTERM})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
