"""Many submissions side by side: each lane is a process of its own, which this one keeps supplied with jobs.

Nothing here imports torch, so that lanes start at once, and import it while this process does what it has to do.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, MutableSequence, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from functools import partial
from typing import Protocol, Self, TypeVar

from grader.engine.forkserver.isolation import Isolation
from grader.judge.lane import END_SECONDS, at_work, start_lane
from grader.model.job import Graded, Job
from grader.model.result import Environment

# Seconds between two looks at whether grading was interrupted.
GLANCE_SECONDS = 0.2

T = TypeVar("T")

Look = Callable[[str, Sequence[str]], tuple[str, Environment]]
"""Of the device asked for and the names of assignments: why a lane grades without a GPU, "" if it has one, and what it
grades on."""


@dataclass(frozen=True)
class At:
    """A grading under way: its assignment, since when (time.time), and its lane, where there are several to tell apart.
    One that is beginning has no assignment, and one on another machine tells of none."""

    student: str
    assignment: str
    since: float
    lane: str = ""


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


@dataclass
class _Lane:
    """One process, started when it is first asked for something; `environment` is added to its own."""

    number: int
    executor: ProcessPoolExecutor
    environment: Mapping[str, str]
    job: Job | None = None
    answer: Future[Graded] | None = None
    since: float = 0.0
    died: bool = False


class LocalLanes:
    """A process for each of these environments, which are added to theirs, started when there is something to do, and
    ended with the block.

    They keep submissions apart as `measured` says, or measure that themselves.
    """

    def __init__(self, environments: Sequence[Mapping[str, str]], measured: Isolation | None = None) -> None:
        self._measured = measured
        # Of each lane the number of the assignment it is at: bytes that it writes and this process reads, with no lock
        # that a killed lane could keep.
        self._places = multiprocessing.get_context("spawn").RawArray("i", len(environments))
        self._lanes = [_Lane(number, self._start(number, one), one) for number, one in enumerate(environments)]

    def _start(self, number: int, environment: Mapping[str, str]) -> ProcessPoolExecutor:
        # Spawned: a lane must not inherit the terminal's threads, and starts as clean as by hand.
        context = multiprocessing.get_context("spawn")
        with _held_back():
            # It starts a process that looks after its locks.
            return ProcessPoolExecutor(
                1, mp_context=context, initializer=_start_lane,
                initargs=(self._measured, self._places, number, dict(environment)))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is not None:
            # Otherwise the pool waits for the jobs in flight.
            _end_lanes()
        for lane in self._lanes:
            lane.executor.shutdown()

    def end(self) -> None:
        """Ends its processes, whatever they are at."""
        self.__exit__(KeyboardInterrupt)

    def look(self, question: Look, asked: str, names: Sequence[str]) -> Future[tuple[str, Environment]]:
        return self.ask(question, asked, names)

    def told(self) -> str:
        return ""

    def ask(self, question: Callable[..., T], *arguments: object) -> Future[T]:
        """The first lane's answer to come; its `result` raises BrokenProcessPool if the lane has died or did not start.
        """
        return self._ask(self._lanes[0], question, *arguments)

    def _ask(self, lane: _Lane, question: Callable[..., T], *arguments: object) -> Future[T]:
        with _held_back():
            try:
                return lane.executor.submit(question, *arguments)
            except BrokenProcessPool:
                # It has died since the last answer, at nothing.
                self._again(lane)
                return lane.executor.submit(question, *arguments)

    def _again(self, lane: _Lane) -> None:
        lane.executor.shutdown()
        lane.executor = self._start(lane.number, lane.environment)

    def running(self) -> list[At]:
        """The gradings under way, the oldest first."""
        found = []
        gpus = [one.environment.get("CUDA_VISIBLE_DEVICES", "") for one in self._lanes]
        for lane in self._lanes:
            if (job := lane.job) is not None:
                at = self._places[lane.number]
                assignment = job.only[at] if 0 <= at < len(job.only) else ""
                on = f"GPU {gpus[lane.number]}" if job.device == "cuda" and sum(map(bool, gpus)) > 1 else ""
                found.append(At(job.submission.student, assignment, lane.since, on))
        return sorted(found, key=lambda at: at.since)

    def grade(
        self, jobs: Iterable[Job], side_by_side: int, interrupted: Callable[[], bool] = lambda: False
    ) -> Iterator[Graded]:
        """Grades every job on the first so many lanes; yields as they finish. Raises KeyboardInterrupt as soon as it is
        `interrupted`.

        A job whose lane dies is graded again. A submission whose lane dies again is given up, as a failure of ours.
        """
        waiting = deque(jobs)
        lanes = self._lanes[:side_by_side]
        while waiting or any(lane.job for lane in lanes):
            if interrupted():
                raise KeyboardInterrupt
            for lane in lanes:
                if lane.job is None and waiting:
                    lane.job, lane.since, lane.died = waiting.popleft(), time.time(), False
                    self._give(lane, lane.job)
            answers = [lane.answer for lane in lanes if lane.answer is not None]
            wait(answers, GLANCE_SECONDS, FIRST_COMPLETED)
            for lane in lanes:
                if (graded := self._graded(lane)) is not None:
                    yield graded

    def _give(self, lane: _Lane, job: Job) -> None:
        self._places[lane.number] = -1
        lane.answer = self._ask(lane, grade_in_lane, job)

    def _graded(self, lane: _Lane) -> Graded | None:
        """What a lane's job gave, if that is known."""
        job, answer = lane.job, lane.answer
        if job is None or answer is None or not answer.done():
            return None
        try:
            graded = answer.result()
        except BrokenProcessPool:
            self._again(lane)
            if not lane.died:
                lane.died = True
                self._give(lane, job)
                return None
            graded = Graded(job.submission, None, error="the grading process died, twice")
        except Exception as error:
            graded = Graded(job.submission, None, error=f"{type(error).__name__}: {error}")
        lane.job = lane.answer = None
        return graded


# In a lane: where it writes what it is at.
_places: MutableSequence[int] = []
_number = 0


def _start_lane(
    measured: Isolation | None, places: MutableSequence[int], number: int, environment: Mapping[str, str]
) -> None:
    global _places, _number
    _places, _number = places, number
    os.environ.update(environment)
    start_lane(measured)


def _tell(job: Job, assignment: str) -> None:
    """Says which assignment of a job is judged now."""
    if _places and assignment in job.only:
        _places[_number] = job.only.index(assignment)


def grade_in_lane(job: Job) -> Graded:
    """Ends the process where the GPU does not answer any more: another process takes its place."""
    # Here, where torch is wanted.
    from grader.judge.device import sane
    from grader.run.grading import grade

    if job.device == "cuda" and not sane():
        os._exit(1)
    with at_work():
        return grade(job, partial(_tell, job))


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
