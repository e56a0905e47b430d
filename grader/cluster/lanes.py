"""The grading command's view of lanes on other machines: which have joined, which job each has, which have gone."""

from __future__ import annotations

import asyncio
import pickle
import secrets
import time
from collections import Counter, deque
from collections.abc import Callable, Coroutine, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, CancelledError, Future, wait
from dataclasses import dataclass
from typing import Any, Self, TypeVar

from distributed import Client
from distributed.client import FutureCancelledError
from distributed.scheduler import KilledWorker

from grader.cluster import lane as far
from grader.cluster.lane import unlike
from grader.cluster.scheduler import Endpoint, quiet
from grader.course.submission import Submission
from grader.errors import UserError
from grader.grading.job import Job, JobOutcome
from grader.grading.lanes import GLANCE_SECONDS, JobQueue, Jobs, LanesLostError, OngoingGrading, Survey
from grader.results.result import Environment
from grader.results.text import plural
from grader.sandbox.forkserver import isolation

# Seconds without an answer after which the scheduler counts as lost.
LOST_SECONDS = 30.0
CONNECT_SECONDS = 10.0
# Seconds without any lane after which a line says so.
NOBODY_SECONDS = 5.0
# Seconds between two checks for lanes that have joined.
LOOK_SECONDS = 0.5
# Failures in a row after which a lane is examined.
FAILURES = 2

T = TypeVar("T")


@dataclass
class _FarLane:
    """A lane on another machine: `task` is its last task, `job` the job that it grades."""

    address: str
    task: Future[Any]
    name: str = ""
    environment: Environment | None = None
    without: str = ""
    job: Job | None = None
    since: float = 0.0
    failed: int = 0
    examined: bool = False

    @property
    def idle(self) -> bool:
        return self.environment is not None and self.job is None and not self.examined


class ClusterLanes:
    """The lanes that have joined a scheduler, each with one job at a time; see `grader.grading.lanes.Lanes`.

    A lane gets no job if its code or versions differ from this process's, if it lacks the device, or if its isolation
    is below level `minimum`. `say` is called with a line for each lane that joins or leaves. Raises UserError.
    """

    def __init__(self, at: Endpoint, minimum: int, say: Callable[[str], None]) -> None:
        quiet()
        self._at, self._minimum, self._say = at, minimum, say
        self._survey: tuple[Survey, str, tuple[str, ...]] | None = None
        self._lanes: dict[str, _FarLane] = {}
        self._refused: set[str] = set()
        self._died: Counter[Submission] = Counter()
        self._again: deque[Job] = deque()
        self._given_up: deque[JobOutcome] = deque()
        self._gone = 0
        self._run, self._number = secrets.token_hex(4), 0
        self._alone_since: float | None = time.monotonic()
        try:
            self._client = Client(
                str(at), security=at.security, timeout=CONNECT_SECONDS, set_as_default=False, direct_to_workers=False,
                name="kernelmark")
        except (OSError, TimeoutError) as error:
            raise UserError(f"{at}: {error}; start a scheduler there with the same key") from None
        self._scheduler: Any = self._client.scheduler
        loop: Any = self._client.loop
        self._loop: asyncio.AbstractEventLoop = loop.asyncio_loop
        self._members: frozenset[str] = frozenset()
        self._watching = self._start(self._watch())

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for task in [lane.task for lane in self._lanes.values()] + [self._watching]:
            task.cancel()
        self._client.close(timeout=2)

    def survey(self, survey: Survey, device: str, names: Sequence[str]) -> Future[tuple[str, Environment]]:
        """Return a future of the reason why the lanes grade without a GPU ("" if they use GPUs), and of their
        environment. They use GPUs if any lane has one, unless `device` is the processor. Waits for a lane. Raises
        LanesLostError."""
        self._survey = survey, device, tuple(names)
        first_seen = 0.0
        while True:
            self._tend()
            known = [lane for lane in self._lanes.values() if lane.environment is not None]
            first_seen = first_seen or (time.monotonic() if known else 0.0)
            # A lane still busy with an earlier command's job does not hold up the others.
            if known and (len(known) == len(self._lanes) or time.monotonic() - first_seen > LOST_SECONDS):
                break
            self._wait()
        fit = [lane for lane in known if not lane.without] or known
        self._survey = survey, "cpu" if fit[0].without else "cuda", tuple(names)
        for lane in known:
            if lane not in fit:
                self._refuse(lane, f"no GPU ({lane.without}), as others have")
        # The same lanes give the same answer, in whatever order they joined.
        first = min(fit, key=lambda lane: (_environment(lane).device, lane.name))
        answer: Future[tuple[str, Environment]] = Future()
        answer.set_result((first.without, _environment(first)))
        return answer

    def running(self) -> list[OngoingGrading]:
        gradings = [OngoingGrading(lane.job.submission.student, "", lane.since, lane.name)
                    for lane in list(self._lanes.values()) if lane.job is not None]
        return sorted(gradings, key=lambda at: at.since)

    def words(self) -> str:
        """Describe in words how many lanes there are, and how many have gone."""
        count = sum(lane.environment is not None for lane in self._lanes.values())
        return plural(count, "lane") + (f", {self._gone} gone" if self._gone else "")

    def grade(
        self, jobs: Jobs, side_by_side: int, interrupted: Callable[[], bool] = lambda: False
    ) -> Iterator[JobOutcome]:
        """Grade as local lanes do. Also raises LanesLostError if the scheduler stops answering.

        A job whose lane dies is graded on another lane; if that one dies, too, the job counts as a failure of ours.
        """
        queue = JobQueue(jobs)
        while not queue.ended or self._again or self._given_up or any(lane.job for lane in self._lanes.values()):
            if interrupted():
                raise KeyboardInterrupt
            self._tend()
            while self._given_up:
                yield self._given_up.popleft()
            idle = deque(lane for lane in self._lanes.values() if lane.idle)
            busy = sum(lane.job is not None for lane in self._lanes.values())
            while idle and busy < side_by_side and (job := self._again.popleft() if self._again else queue.take()):
                self._give(idle.popleft(), job)
                busy += 1
            self._wait()
            for lane in [lane for lane in self._lanes.values() if lane.job is not None and lane.task.done()]:
                if (outcome := self._outcome(lane)) is not None:
                    yield outcome

    def _give(self, lane: _FarLane, job: Job) -> None:
        self._number += 1
        key = f"{job.submission.slug}-{job.seed}-{self._run}-{self._number}"
        lane.job, lane.since = job, time.time()
        lane.task = self._ask(lane.address, key, far.grade, pickle.dumps(job))

    def _outcome(self, lane: _FarLane) -> JobOutcome | None:
        """Return the result of a lane's job; None if the lane died or left, so that another lane has to grade the
        job."""
        job = lane.job
        assert job is not None
        try:
            outcome: JobOutcome = pickle.loads(lane.task.result())
        except (KilledWorker, CancelledError, FutureCancelledError, far.LeaveNotice, OSError, TimeoutError) as error:
            self._check_scheduler()
            self._lose(lane, died=isinstance(error, KilledWorker))
            return None
        except Exception as error:
            outcome = JobOutcome(job.submission, None, error=f"{type(error).__name__}: {error}")
        lane.job = None
        # A server's student may send further jobs.
        del self._died[job.submission]
        lane.failed = lane.failed + 1 if outcome.result is None else 0
        if lane.failed >= FAILURES:
            lane.examined, lane.task = True, self._ask(lane.address, self._key("examine"), far.examine)
        return outcome

    def _lose(self, lane: _FarLane, *, died: bool) -> None:
        """Remove a lane that is gone. Its job goes to another lane; a job over which two lanes died is given up."""
        self._lanes.pop(lane.address, None)
        self._refused.add(lane.address)
        lane.task.cancel()
        self._gone += 1
        job, lane.job = lane.job, None
        over = f" while grading {job.submission.student}, who goes to another lane" if job else ""
        if job is not None:
            self._died[job.submission] += died
            if self._died[job.submission] > 1:
                del self._died[job.submission]
                over = f" while grading {job.submission.student}"
                self._given_up.append(JobOutcome(job.submission, None, error="the lane that graded it died, twice"))
            else:
                self._again.append(job)
        self._say(f"lane {lane.name or lane.address} {'died' if died else 'has left'}{over}")

    def _tend(self) -> None:
        """Take in lanes that have joined, and drop lanes that have gone. Raises LanesLostError."""
        if self._watching.done():
            raise self._lanes_lost_error()
        members = self._members
        self._refused &= members
        gone = [lane for lane in self._lanes.values() if lane.address not in members]
        # A moment later, the tasks of these lanes show whether they died over their jobs.
        wait([lane.task for lane in gone], 1)
        for lane in gone:
            if lane.job is None or not lane.task.done():
                self._lose(lane, died=False)
        for address in members - self._lanes.keys() - self._refused:
            assert self._survey is not None
            answer = self._ask(address, self._key("introduce"), far.introduce, *self._survey)
            self._lanes[address] = _FarLane(address, answer)
        for lane in [lane for lane in self._lanes.values() if lane.environment is None and lane.task.done()]:
            self._take_in(lane)
        for lane in [lane for lane in self._lanes.values() if lane.examined and lane.task.done()]:
            self._judge(lane)
        there = any(lane.environment is not None for lane in self._lanes.values())
        if there:
            self._alone_since = time.monotonic()
        elif self._alone_since is not None and time.monotonic() - self._alone_since > NOBODY_SECONDS:
            # Print the line once, until a lane has joined.
            self._alone_since = None
            self._say(f"no lane at {self._at}: waiting for one (kernelmark lane {self._at} …)")

    def _take_in(self, lane: _FarLane) -> None:
        try:
            about = lane.task.result()
        except Exception as error:
            self._check_scheduler()
            self._refuse(lane, f"{type(error).__name__}: {error}")
            return
        lane.name = str(about.get("name", lane.address))
        if trouble := unlike(about.get("own", {})) or about.get("trouble"):
            self._refuse(lane, trouble)
            return
        lane.without, environment = about["without"], Environment.model_validate(about["environment"])
        if self._survey is not None and self._survey[1] == "cuda" and lane.without:
            self._refuse(lane, f"no GPU ({lane.without})")
            return
        weak = f"isolation level {about['isolation']} ({'; '.join(about['missing'])})"
        if about["level"] < self._minimum:
            self._refuse(lane, f"{weak}, and {self._minimum} {isolation.NAMES[self._minimum]} is required; "
                               "--allow-degraded grades code that you trust all the same")
            return
        others = {_environment(lane).device for lane in self._lanes.values() if lane.environment is not None}
        lane.environment = environment
        if others and environment.device not in others:
            self._say(f"lanes are unlike: {lane.name} has {environment.device}, others {', '.join(sorted(others))}; "
                      "each result names its device")
        self._say(f"lane {lane.name} joined: {environment.device}" + (
            f", {weak} only; grade nobody's code that you do not trust" if about["level"] < isolation.ADVISED else ""))

    def _judge(self, lane: _FarLane) -> None:
        """Act on a lane's examination: the lane goes on, or leaves."""
        try:
            problems = "; ".join(f"{what}: {text}" for what, text in lane.task.result())
        except Exception as error:
            problems = f"{type(error).__name__}: {error}"
        lane.examined, lane.failed = False, 0
        failed = f"lane {lane.name} failed {FAILURES} times in a row"
        if not problems:
            self._say(f"{failed}, but kernelmark doctor finds no fault on its machine: the lane goes on")
            return
        self._say(f"{failed} and is removed: {problems}; correct that and start the lane again")
        self._lanes.pop(lane.address)
        self._refused.add(lane.address)
        self._start(self._scheduler.retire_workers(workers=[lane.address], close_workers=True, remove=True))

    def _refuse(self, lane: _FarLane, why: str) -> None:
        self._lanes.pop(lane.address, None)
        self._refused.add(lane.address)
        self._say(f"lane {lane.name or lane.address} refused: {' '.join(why.split())}")

    def _wait(self) -> None:
        tasks = [lane.task for lane in self._lanes.values() if not lane.idle]
        if tasks:
            wait(tasks, GLANCE_SECONDS, FIRST_COMPLETED)
        else:
            time.sleep(GLANCE_SECONDS)

    def _key(self, question: str) -> str:
        self._number += 1
        return f"{question}-{self._run}-{self._number}"

    def _ask(self, address: str, key: str, question: Callable[..., T], *arguments: object) -> Future[T]:
        async def answer() -> T:
            # Only this lane may run it: dask.distributed neither moves nor repeats it.
            task = self._client.submit(
                question, *arguments, key=key, workers=[address], allow_other_workers=False, pure=False)
            try:
                return await task  # type: ignore[no-any-return]
            finally:
                task.release()

        return self._start(answer())

    def _start(self, coroutine: Coroutine[Any, Any, T]) -> Future[T]:
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop)

    async def _watch(self) -> None:
        while True:
            self._members = frozenset(await self._there())
            await asyncio.sleep(LOOK_SECONDS)

    async def _there(self) -> Iterable[str]:
        async with asyncio.timeout(LOST_SECONDS):
            return await self._scheduler.ncores()  # type: ignore[no-any-return]

    def _check_scheduler(self) -> None:
        try:
            self._start(self._there()).result()
        except (Exception, CancelledError):
            raise self._lanes_lost_error() from None

    def _lanes_lost_error(self) -> LanesLostError:
        return LanesLostError(f"the scheduler at {self._at} does not answer any more; start it")


def _environment(lane: _FarLane) -> Environment:
    assert lane.environment is not None
    return lane.environment
