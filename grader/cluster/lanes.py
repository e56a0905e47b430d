"""Lanes on other machines, as the commanding process sees them: who is there, who works on what, who came and went."""

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
from grader.cluster.key import ClusterError, Endpoint, quiet
from grader.cluster.own import unlike
from grader.engine.forkserver import isolation
from grader.model.job import Graded, Job
from grader.model.result import Environment
from grader.run.lanes import GLANCE_SECONDS, At, LanesLostError, Look

# Without an answer for so long the scheduler is lost.
LOST_SECONDS = 30.0
CONNECT_SECONDS = 10.0
# Without a lane for so long it is said.
NOBODY_SECONDS = 5.0
# Between two looks at who is there.
LOOK_SECONDS = 0.5
# So often in a row a lane may fail before it is examined.
FAILURES = 2

T = TypeVar("T")


@dataclass
class _Lane:
    """One lane: `task` is what it was asked last, `job` what it grades."""

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
    """The lanes that have joined a scheduler, each with one job at a time; see `grader.run.lanes.Lanes`.

    A lane whose code or versions are not this process's, that has no such device, or keeps submissions apart less well
    than level `minimum`, gets no job. `say` is told of lanes that come and go, in lines. Raises ClusterError.
    """

    def __init__(self, at: Endpoint, minimum: int, say: Callable[[str], None]) -> None:
        quiet()
        self._at, self._minimum, self._say = at, minimum, say
        self._asked: tuple[Look, str, tuple[str, ...]] | None = None
        self._lanes: dict[str, _Lane] = {}
        self._refused: set[str] = set()
        self._died: Counter[str] = Counter()
        self._again: deque[Job] = deque()
        self._given_up: deque[Graded] = deque()
        self._gone = 0
        self._run, self._number = secrets.token_hex(4), 0
        self._alone_since: float | None = time.monotonic()
        try:
            self._client = Client(
                str(at), security=at.security, timeout=CONNECT_SECONDS, set_as_default=False, direct_to_workers=False,
                name="kernelmark")
        except (OSError, TimeoutError) as error:
            raise ClusterError(f"{at}: {error}; a scheduler with the same key expected") from None
        self._scheduler: Any = self._client.scheduler
        loop: Any = self._client.loop
        self._loop: asyncio.AbstractEventLoop = loop.asyncio_loop
        self._members: frozenset[str] = frozenset()
        self._watching = self._start(self._watch())

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for task in [one.task for one in self._lanes.values()] + [self._watching]:
            task.cancel()
        self._client.close(timeout=2)

    def look(self, question: Look, asked: str, names: Sequence[str]) -> Future[tuple[str, Environment]]:
        """What the lanes grade on that are there: GPUs if one has one, unless the processor is `asked` for. Waits for a
        lane. Raises LanesLostError."""
        self._asked = question, asked, tuple(names)
        first_seen = 0.0
        while True:
            self._tend()
            known = [one for one in self._lanes.values() if one.environment is not None]
            first_seen = first_seen or (time.monotonic() if known else 0.0)
            # A lane that is still at an earlier command's job does not keep the others.
            if known and (len(known) == len(self._lanes) or time.monotonic() - first_seen > LOST_SECONDS):
                break
            self._wait()
        fit = [one for one in known if not one.without] or known
        self._asked = question, "cpu" if fit[0].without else "cuda", tuple(names)
        for one in known:
            if one not in fit:
                self._refuse(one, f"no GPU ({one.without}), as others have")
        # The same lanes give the same answer, whoever was first.
        first = min(fit, key=lambda one: (_environment(one).device, one.name))
        found: Future[tuple[str, Environment]] = Future()
        found.set_result((first.without, _environment(first)))
        return found

    def running(self) -> list[At]:
        busy = [one for one in list(self._lanes.values()) if one.job is not None]
        return sorted((At(one.job.submission.student, "", one.since, one.name) for one in busy if one.job is not None),
                      key=lambda at: at.since)

    def told(self) -> str:
        """How many lanes there are, and how many have gone."""
        count = sum(one.environment is not None for one in self._lanes.values())
        return f"{count} {'lane' if count == 1 else 'lanes'}" + (f", {self._gone} gone" if self._gone else "")

    def grade(
        self, jobs: Iterable[Job], side_by_side: int, interrupted: Callable[[], bool] = lambda: False
    ) -> Iterator[Graded]:
        """As that of local lanes; raises LanesLostError, too, when the scheduler does not answer any more.

        A job whose lane dies is graded on another; if that one dies, too, it is given up, as a failure of ours.
        """
        waiting = deque(jobs)
        while waiting or self._again or self._given_up or any(one.job for one in self._lanes.values()):
            if interrupted():
                raise KeyboardInterrupt
            self._tend()
            while self._given_up:
                yield self._given_up.popleft()
            idle = deque(one for one in self._lanes.values() if one.idle)
            busy = sum(one.job is not None for one in self._lanes.values())
            while idle and busy < side_by_side and (self._again or waiting):
                self._give(idle.popleft(), (self._again or waiting).popleft())
                busy += 1
            self._wait()
            for one in [one for one in self._lanes.values() if one.job is not None and one.task.done()]:
                if (graded := self._graded(one)) is not None:
                    yield graded

    def _give(self, lane: _Lane, job: Job) -> None:
        self._number += 1
        key = f"{job.submission.slug}-{job.seed}-{self._run}-{self._number}"
        lane.job, lane.since = job, time.time()
        lane.task = self._ask(lane.address, key, far.grade, pickle.dumps(job))

    def _graded(self, lane: _Lane) -> Graded | None:
        """What a lane's job gave; None if the lane has died or left over it, and another lane has to grade it."""
        job = lane.job
        assert job is not None
        try:
            graded: Graded = pickle.loads(lane.task.result())
        except (KilledWorker, CancelledError, FutureCancelledError, far.Leaving, OSError, TimeoutError) as error:
            self._look_at_scheduler()
            self._lose(lane, died=isinstance(error, KilledWorker))
            return None
        except Exception as error:
            graded = Graded(job.submission, None, error=f"{type(error).__name__}: {error}")
        lane.job = None
        lane.failed = lane.failed + 1 if graded.result is None else 0
        if lane.failed >= FAILURES:
            lane.examined, lane.task = True, self._ask(lane.address, self._key("examine"), far.examine)
        return graded

    def _lose(self, lane: _Lane, *, died: bool) -> None:
        """A lane is gone, and its job goes elsewhere; twice, and it is given up."""
        self._lanes.pop(lane.address, None)
        self._refused.add(lane.address)
        lane.task.cancel()
        self._gone += 1
        job, lane.job = lane.job, None
        over = f" over {job.submission.student}, who is graded on another" if job else ""
        if job is not None:
            self._died[job.submission.slug] += died
            if self._died[job.submission.slug] > 1:
                over = f" over {job.submission.student}"
                self._given_up.append(Graded(job.submission, None, error="the lane that graded it died, twice"))
            else:
                self._again.append(job)
        self._say(f"lane {lane.name or lane.address} {'died' if died else 'has left'}{over}")

    def _tend(self) -> None:
        """Takes in lanes that have come, and drops those that have gone. Raises LanesLostError."""
        if self._watching.done():
            raise self._lost()
        members = self._members
        self._refused &= members
        gone = [one for one in self._lanes.values() if one.address not in members]
        # Whether they died over their jobs is told a moment later.
        wait([one.task for one in gone], 1)
        for one in gone:
            if one.job is None or not one.task.done():
                self._lose(one, died=False)
        for address in members - self._lanes.keys() - self._refused:
            assert self._asked is not None
            asked = self._ask(address, self._key("introduce"), far.introduce, *self._asked)
            self._lanes[address] = _Lane(address, asked)
        for one in [one for one in self._lanes.values() if one.environment is None and one.task.done()]:
            self._take_in(one)
        for one in [one for one in self._lanes.values() if one.examined and one.task.done()]:
            self._judge(one)
        there = any(one.environment is not None for one in self._lanes.values())
        if there:
            self._alone_since = time.monotonic()
        elif self._alone_since is not None and time.monotonic() - self._alone_since > NOBODY_SECONDS:
            # Once, until there is one.
            self._alone_since = None
            self._say(f"no lane at {self._at}: waiting for one (kernelmark lane {self._at} …)")

    def _take_in(self, lane: _Lane) -> None:
        try:
            said = lane.task.result()
        except Exception as error:
            self._look_at_scheduler()
            self._refuse(lane, f"{type(error).__name__}: {error}")
            return
        lane.name = str(said.get("name", lane.address))
        if trouble := unlike(said.get("own", {})) or said.get("trouble"):
            self._refuse(lane, trouble)
            return
        lane.without, found = said["without"], Environment.model_validate(said["environment"])
        if self._asked is not None and self._asked[1] == "cuda" and lane.without:
            self._refuse(lane, f"no GPU ({lane.without})")
            return
        weak = f"isolation level {said['isolation']} ({'; '.join(said['missing'])})"
        if said["level"] < self._minimum:
            self._refuse(lane, f"{weak}, {self._minimum} {isolation.NAMES[self._minimum]} expected; --allow-degraded "
                               "grades code that you trust all the same")
            return
        others = {_environment(one).device for one in self._lanes.values() if one.environment is not None}
        lane.environment = found
        if others and found.device not in others:
            self._say(f"lanes are unlike: {lane.name} has {found.device}, others {', '.join(sorted(others))}; each "
                      "result names its device")
        self._say(f"lane {lane.name} joined: {found.device}" + (
            f", {weak} only; grade nobody's code that you do not trust" if said["level"] < isolation.ADVISED else ""))

    def _judge(self, lane: _Lane) -> None:
        """What became of a lane's examination: it goes on, or leaves."""
        try:
            found = "; ".join(f"{what}: {text}" for what, text in lane.task.result())
        except Exception as error:
            found = f"{type(error).__name__}: {error}"
        lane.examined, lane.failed = False, 0
        said = f"lane {lane.name} failed {FAILURES} times in a row"
        if not found:
            self._say(f"{said}, and kernelmark doctor finds nothing there: it goes on")
            return
        self._say(f"{said} and leaves: {found}")
        self._lanes.pop(lane.address)
        self._refused.add(lane.address)
        self._start(self._scheduler.retire_workers(workers=[lane.address], close_workers=True, remove=True))

    def _refuse(self, lane: _Lane, why: str) -> None:
        self._lanes.pop(lane.address, None)
        self._refused.add(lane.address)
        self._say(f"lane {lane.name or lane.address} refused: {' '.join(why.split())}")

    def _wait(self) -> None:
        tasks = [one.task for one in self._lanes.values() if not one.idle]
        if tasks:
            wait(tasks, GLANCE_SECONDS, FIRST_COMPLETED)
        else:
            time.sleep(GLANCE_SECONDS)

    def _key(self, what: str) -> str:
        self._number += 1
        return f"{what}-{self._run}-{self._number}"

    def _ask(self, address: str, key: str, question: Callable[..., T], *arguments: object) -> Future[T]:
        async def answer() -> T:
            # Bound to this lane: the engine moves and repeats nothing.
            task = self._client.submit(
                question, *arguments, key=key, workers=[address], allow_other_workers=False, pure=False)
            try:
                return await task  # type: ignore[no-any-return]
            finally:
                task.release()

        return self._start(answer())

    def _start(self, what: Coroutine[Any, Any, T]) -> Future[T]:
        return asyncio.run_coroutine_threadsafe(what, self._loop)

    async def _watch(self) -> None:
        while True:
            self._members = frozenset(await self._there())
            await asyncio.sleep(LOOK_SECONDS)

    async def _there(self) -> Iterable[str]:
        async with asyncio.timeout(LOST_SECONDS):
            return await self._scheduler.ncores()  # type: ignore[no-any-return]

    def _look_at_scheduler(self) -> None:
        try:
            self._start(self._there()).result()
        except (Exception, CancelledError):
            raise self._lost() from None

    def _lost(self) -> LanesLostError:
        return LanesLostError(f"the scheduler at {self._at} does not answer any more; give the same command again when "
                              "there is one, which skips what is graded")


def _environment(lane: _Lane) -> Environment:
    assert lane.environment is not None
    return lane.environment
