"""The lanes that grade many submissions side by side. Each is a process; this process gives it jobs.

Nothing here imports torch, so lanes start at once, and import it in parallel with this process's own work.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, MutableSequence, Sequence, Sized
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, replace
from functools import partial
from operator import length_hint
from pathlib import Path
from typing import Any, Protocol, Self, TypeVar

from grader import home, temporary
from grader.grading.job import Job, JobOutcome
from grader.judging.running.lane import CORES, END_SECONDS, LANE, start_lane
from grader.results.result import AssignmentResult, Environment
from grader.sandbox.confine import surroundings
from grader.sandbox.forkserver.isolation import Isolation

Jobs = Iterable[Job | None]
"""Jobs that lanes ask for one at a time; None: no job waits at present."""

# Seconds between checks for an interruption.
GLANCE_SECONDS = 0.2
MOST_SPARE = 5
"""The most lanes that search for changes. Each takes one processor and 1 GiB."""

T = TypeVar("T")

Survey = Callable[[str, Sequence[str]], tuple[str, Environment]]
"""A function of the device asked for and the names of assignments. It runs in a lane, and returns the reason why the
lane grades without a GPU ("" if it has one), and its environment."""


@dataclass(frozen=True)
class OngoingGrading:
    """A grading in progress: its student and assignment, its start (time.time), and its lane if there are several. The
    assignment is "" at the beginning, and for gradings on other machines, which do not report it."""

    student: str
    assignment: str
    since: float
    lane: str = ""


class LanesLostError(Exception):
    """The loss of every lane: none can be reached. One line says what to do."""

    def __init__(self, message: str) -> None:
        super().__init__(" ".join(message.split()))


class Lanes(Protocol):
    """The processes that grade jobs, on this machine or on others. They end with the block."""

    def __enter__(self) -> Self: ...

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None: ...

    def survey(self, survey: Survey, asked: str, names: Sequence[str]) -> Future[tuple[str, Environment]]:
        """Return a future of the reason why gradings do without a GPU ("" if they have one), and of their environment:
        the answer to `survey`, which every lane gets before its jobs."""
        ...

    def running(self) -> list[OngoingGrading]:
        """Return the gradings in progress, the oldest first."""
        ...

    def words(self) -> str:
        """Describe the state of the lanes in a few words; "" if there is nothing to say."""
        ...

    def grade(
        self, jobs: Jobs, side_by_side: int, interrupted: Callable[[], bool] = lambda: False
    ) -> Iterator[JobOutcome]:
        """Grade every job, at most `side_by_side` at a time, and yield results as they finish. Raises KeyboardInterrupt
        as soon as `interrupted` returns True, and LanesLostError."""
        ...


class JobQueue:
    """The jobs of a grading, which lanes take one at a time: a list, or what a server receives meanwhile."""

    def __init__(self, jobs: Jobs) -> None:
        self._jobs = iter(jobs)
        self._counted, self._over = isinstance(jobs, Sized), False

    def take(self) -> Job | None:
        """Return the next job; None if none waits."""
        try:
            return next(self._jobs)
        except StopIteration:
            self._over = True
            return None

    @property
    def ended(self) -> bool:
        return self._over or (self._counted and not self.sure)

    @property
    def sure(self) -> int:
        """Return the number of jobs that are known to follow."""
        return length_hint(self._jobs)


@dataclass(eq=False)
class _UnmendedJob:
    """A job whose wrong files are searched for changes, each by itself: those that `wait` and those `under_way`."""

    job: Job
    outcome: JobOutcome
    waiting: list[str]
    under_way: int = 0

    def assignment(self, name: str) -> AssignmentResult:
        assert self.outcome.result is not None
        return self.outcome.result.assignments[name]

    def add(self, name: str, assignment: AssignmentResult, log: str) -> None:
        """Add the outcome of a search."""
        assert self.outcome.result is not None
        assignments = {**self.outcome.result.assignments, name: assignment}
        self.outcome = replace(self.outcome, log=self.outcome.log + log, result=self.outcome.result.model_copy(
            update={"assignments": assignments}))


@dataclass
class _LocalLane:
    """A lane: a process that starts with its first task. `environment` is added to the process's own. `search` is the
    job and the assignment for which it searches a change, `following` the job that it prepares while it grades one."""

    number: int
    executor: ProcessPoolExecutor
    environment: Mapping[str, str]
    job: Job | None = None
    search: tuple[_UnmendedJob, str] | None = None
    following: Job | None = None
    answer: Future[Any] | None = None
    since: float = 0.0
    died: bool = False


class LocalLanes:
    """A process for each of these environments, which are added to the processes' own. They start with their first
    tasks, and end with the block. Their isolation is `measured`; if that is None they measure it. `sharing` lanes, with
    or without a GPU, share the machine's processors; 0: only these lanes do.

    `spare` is the number of further processes, without a GPU, that search for changes which mend what the lanes found
    wrong. Each lane then learns its next job while it grades one. Without spare processes, the lanes themselves search
    for changes before they take further jobs.
    """

    def __init__(
        self, environments: Sequence[Mapping[str, str]], measured: Isolation | None = None, *, spare: int = 0,
        sharing: int = 0,
    ) -> None:
        self._measured, self._sharing = measured, sharing or len(environments)
        every = [*environments, *[{"CUDA_VISIBLE_DEVICES": ""}] * spare]
        # The number of each lane's present assignment. It is in shared memory without a lock, which a killed lane could
        # keep.
        self._places = multiprocessing.get_context("spawn").RawArray("i", len(every))
        lanes = [_LocalLane(number, self._start(number, environment), environment)
                 for number, environment in enumerate(every)]
        self._lanes, self._spare = lanes[: len(environments)], lanes[len(environments) :]

    def _start(self, number: int, environment: Mapping[str, str]) -> ProcessPoolExecutor:
        # Spawned, so that a lane inherits no threads and no state.
        context = multiprocessing.get_context("spawn")
        with _held_back():
            # The executor also starts a process that tracks its locks.
            return ProcessPoolExecutor(
                1, mp_context=context, initializer=_start_lane,
                initargs=(self._measured, self._sharing, self._places, number, dict(environment), home.here(),
                          surroundings.withheld()))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is not None:
            # Without this, the pool would wait for running jobs.
            _end_lanes()
        for lane in (*self._lanes, *self._spare):
            lane.executor.shutdown()
        # A lane may be interrupted just after it made a folder, when only its note has the folder.
        temporary.sweep()

    def leave_out_spare(self) -> None:
        """End the spare lanes, so that the others search for changes."""
        while self._spare:
            self._spare.pop().executor.shutdown()

    def end(self) -> None:
        """End the lanes' processes at once, whatever they are doing."""
        self.__exit__(KeyboardInterrupt)

    def survey(self, survey: Survey, asked: str, names: Sequence[str]) -> Future[tuple[str, Environment]]:
        answer = self.ask(survey, asked, names)
        for lane in self._lanes[1:]:
            if lane.environment.get("CUDA_VISIBLE_DEVICES"):
                # Start it now, and not with its first job.
                self._ask(lane, os.getpid)
        return answer

    def words(self) -> str:
        return ""

    def ask(self, question: Callable[..., T], *arguments: object) -> Future[T]:
        """Ask the first lane. The future's `result` raises BrokenProcessPool if the lane has died or did not start."""
        return self._ask(self._lanes[0], question, *arguments)

    def _ask(self, lane: _LocalLane, question: Callable[..., T], *arguments: object) -> Future[T]:
        with _held_back():
            try:
                return lane.executor.submit(question, *arguments)
            except BrokenProcessPool:
                # The lane died while it had no job.
                self._again(lane)
                return lane.executor.submit(question, *arguments)

    def _again(self, lane: _LocalLane) -> None:
        lane.executor.shutdown()
        lane.executor = self._start(lane.number, lane.environment)

    def running(self) -> list[OngoingGrading]:
        """Return the gradings in progress, the oldest first."""
        gradings = []
        # Take spare lanes' environments, too: a display's thread may ask while a lane gets its job.
        lanes = (*self._lanes, *self._spare)
        gpus = [lane.environment.get("CUDA_VISIBLE_DEVICES", "") for lane in lanes]
        for lane in lanes:
            if (job := lane.job) is not None:
                if (search := lane.search) is not None:
                    assignment, on = f"{search[1]}, for a hint", ""
                else:
                    at, gpu = self._places[lane.number], gpus[lane.number]
                    assignment = job.only[at] if 0 <= at < len(job.only) else ""
                    on = f"GPU {gpu}" if gpu and job.device == "cuda" and len({*gpus} - {""}) > 1 else ""
                gradings.append(OngoingGrading(job.submission.student, assignment, lane.since, on))
        return sorted(gradings, key=lambda at: at.since)

    def grade(
        self, jobs: Jobs, side_by_side: int, interrupted: Callable[[], bool] = lambda: False
    ) -> Iterator[JobOutcome]:
        """Grade every job on the first `side_by_side` lanes, and yield results as they finish. Once `interrupted`
        returns True, yield the results that only wait for a search for changes, and raise KeyboardInterrupt.

        A job whose lane dies is graded again. If that lane dies, too, the job counts as a failure of the grader.
        """
        queue, unmended = JobQueue(jobs), list[_UnmendedJob]()
        graders = self._lanes[:side_by_side]
        lanes = [*graders, *self._spare]
        while not queue.ended or unmended or any(lane.job or lane.following for lane in lanes):
            if interrupted():
                # These results are complete: a change would only add a hint.
                yield from [graded.outcome for graded in unmended]
                raise KeyboardInterrupt
            if not self._spare:
                self._search(graders, unmended)
            for lane in graders:
                if lane.job is None and (job := lane.following or queue.take()):
                    prepares = self._spare and queue.sure >= len(graders)
                    lane.following = queue.take() if prepares else None
                    self._give(lane, job)
            if self._spare:
                # At the end, lanes without further jobs search, too.
                self._search([*self._spare, *([] if queue.sure else graders)], unmended)
            if answers := [lane.answer for lane in lanes if lane.answer is not None]:
                wait(answers, GLANCE_SECONDS, FIRST_COMPLETED)
            elif not queue.ended:
                time.sleep(GLANCE_SECONDS)
            for lane in lanes:
                if lane.answer is not None and lane.answer.done():
                    yield from self._ended(lane, unmended)

    def _search(self, lanes: Sequence[_LocalLane], unmended: Sequence[_UnmendedJob]) -> None:
        """Give lanes without a job the searches that wait, those of the earliest jobs first."""
        for lane in lanes:
            graded = next((graded for graded in unmended if graded.waiting), None)
            if lane.job is None and graded is not None:
                graded.under_way += 1
                self._give(lane, graded.job, (graded, graded.waiting.pop(0)))

    def _give(
        self, lane: _LocalLane, job: Job, search: tuple[_UnmendedJob, str] | None = None, *, again: bool = False,
    ) -> None:
        self._places[lane.number] = -1
        lane.job, lane.search, lane.died = job, search, again
        lane.since = lane.since if again else time.time()
        if search is None:
            lane.answer = self._ask(lane, grade_in_lane, job, lane.following)
        else:
            graded, name = search
            lane.answer = self._ask(lane, mend_in_lane, job, name, graded.assignment(name))

    def _ended(self, lane: _LocalLane, unmended: list[_UnmendedJob]) -> Iterator[JobOutcome]:
        """Take the answer of a lane, and yield the outcome that is complete by it, if any. A job with wrong files is
        added to those that are `unmended`."""
        job, answer, search = lane.job, lane.answer, lane.search
        assert job is not None and answer is not None
        answered, trouble = None, ""
        try:
            answered = answer.result()
        except BrokenProcessPool:
            self._again(lane)
            if not lane.died:
                self._give(lane, job, search, again=True)
                return
            trouble = "the grading process died, twice"
        except Exception as error:
            trouble = f"{type(error).__name__}: {error}"
        lane.job = lane.answer = lane.search = None
        if search is None:
            outcome = answered or JobOutcome(job.submission, None, error=trouble)
            if outcome.wrong and job.course.hints.level != "off":
                unmended.append(_UnmendedJob(job, outcome, outcome.wrong))
            else:
                yield outcome
            return
        graded, name = search
        graded.under_way -= 1
        # Without an answer the result is complete as it is: a change would only add a hint.
        if answered is not None:
            graded.add(name, *answered)
        if not graded.waiting and not graded.under_way:
            unmended.remove(graded)
            yield graded.outcome


def spare_lanes(on_gpus: int) -> int:
    """Return the number of lanes that may search for changes beside this many lanes on GPUs."""
    return max(0, min(MOST_SPARE, len(os.sched_getaffinity(0)) - CORES * on_gpus)) if on_gpus else 0


# In a lane's process: the shared memory into which it writes the number of its assignment.
_places: MutableSequence[int] = []
_number = 0


def _start_lane(
    measured: Isolation | None, sharing: int, places: MutableSequence[int], number: int,
    environment: Mapping[str, str], course: home.Home, withheld: Sequence[Path],
) -> None:
    global _places, _number
    _places, _number = places, number
    os.environ.update(environment)
    home.enter(course)
    surroundings.withhold(withheld)
    # Only a lane with a GPU gets the GPU's number.
    start_lane(measured, sharing, gpu=bool(environment.get("CUDA_VISIBLE_DEVICES")))


def _note(job: Job, assignment: str) -> None:
    """Write the number of the assignment that is being judged into shared memory."""
    if _places and assignment in job.only:
        _places[_number] = job.only.index(assignment)


def grade_in_lane(job: Job, following: Job | None = None) -> JobOutcome:
    """Grade a job. `following` is the lane's next job. Ends the process if the GPU stops answering: another process
    takes its place."""
    # Late: only lanes import torch.
    from grader.grading.grading import grade
    from grader.judging.running.device import sane

    if job.device == "cuda" and not sane():
        os._exit(1)
    with LANE.at_work():
        outcome = grade(job, partial(_note, job), following)
        if job.profile:
            from grader.grading.profilers import profiled

            outcome = profiled(job, outcome)
    return outcome


def mend_in_lane(job: Job, name: str, assignment: AssignmentResult) -> tuple[AssignmentResult, str]:
    """Search for a change that mends an assignment. Returns it with the change, and a text for the log."""
    # Late: only lanes import torch.
    from grader.grading.grading import mend

    with LANE.at_work():
        return mend(job, name, assignment)


def _end_lanes() -> None:
    lanes = multiprocessing.active_children()
    for lane in lanes:
        lane.terminate()
    until = time.monotonic() + END_SECONDS + 1
    for lane in lanes:
        lane.join(max(0, until - time.monotonic()))
        # SIGTERM may not have ended the lane.
        lane.kill()


@contextlib.contextmanager
def _held_back() -> Iterator[None]:
    """Hold signals back until the block ends, so that no process is left half started.

    Processes that start meanwhile inherit blocked signals, so neither Ctrl-C nor the end of the terminal reaches them.
    This process ends them by SIGTERM, which `start_lane` unblocks.
    """
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGHUP, signal.SIGTERM})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
