"""The calls of one side, replayed on fresh contents."""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping
from dataclasses import astuple, dataclass, field

from grader.course.parameters import Value
from grader.judging.running.device import working
from grader.judging.running.execution import CapturedCalls, Executor, GpuFailure, ReplaySeconds
from grader.judging.speed.pool import Pool

# Length of a replay, if there are enough slots. The same for both sides, so that neither lets the device cool.
REPLAY_SECONDS = 5e-3
# Replays of nothing: their median is the time that launching and waiting take.
EMPTY_REPLAYS = 7
# A replay that is this many times too short or too long gets another number of slots.
OFF = 1.5
GUESSES = 3
# The host's shortest time exceeds the device's usual time by at most this share and these seconds.
APART_SHARE, APART_SECONDS = 0.01, 50e-6


@dataclass
class Replays:
    """Calls of a program with `scalars` on the first `count` slots of the pool. A replay may take `limit` seconds."""

    executor: Executor
    program: int
    scalars: Mapping[str, Value]
    pool: Pool
    limit: float
    count: int = 1
    by_host: bool = False
    _overhead: ReplaySeconds = field(default_factory=lambda: ReplaySeconds(0.0, 0.0))
    _calls: CapturedCalls | None = None
    _replays: list[ReplaySeconds] = field(default_factory=list)

    def prepare(self, count: int = 1) -> GpuFailure | None:
        """Measure the time that launching and waiting take, and find the number of slots that makes a replay long
        enough. `count` is a first guess: 1 for an unknown kernel, since a single call may take seconds."""
        overhead = self._empty()
        if isinstance(overhead, GpuFailure):
            return overhead
        self._overhead, wanted = overhead, min(self.pool.count, count)
        for _ in range(GUESSES):
            self.count = wanted
            self.draw(expect=False)
            seconds = self._captured()
            if isinstance(seconds, GpuFailure):
                return seconds
            wanted = min(self.pool.count, math.ceil(REPLAY_SECONDS / seconds))
            if self.count / OFF < wanted < OFF * self.count:
                break
        self.forget()
        return None

    @working(alone=True)
    def _empty(self) -> ReplaySeconds | GpuFailure:
        """Return the time of a replay without calls."""
        nothing = self.executor.capture(self.program, [], self.pool.sample, seconds=self.limit)
        if isinstance(nothing, GpuFailure):
            return nothing
        waits: list[ReplaySeconds] = []
        for _ in range(EMPTY_REPLAYS):
            taken = self.executor.replay(nothing, seconds=self.limit)
            if isinstance(taken, GpuFailure):
                return taken
            waits.append(taken)
        return ReplaySeconds(*(statistics.median(clock) for clock in zip(*map(astuple, waits), strict=True)))

    @working(alone=True)
    def _captured(self) -> float | GpuFailure:
        """Capture the calls on `count` slots, and return the seconds a call of a replay."""
        calls = self.executor.capture(self.program, range(self.count), self.pool.sample, seconds=self.limit)
        if isinstance(calls, GpuFailure):
            return calls
        self._calls = calls
        # The second counts: the first touches memory and loads machine code. Only the time matters here, so both may
        # have the same contents.
        return [self.replay() for _ in range(2)][-1]

    def draw(self, *, expect: bool, again: bool = False) -> None:
        """Draw contents that no call has seen before; with `again`, leave the inputs as `Pool.draw` does. With `expect`
        the pool can check the answers."""
        self.pool.draw(self.count, self.scalars, expect=expect, again=again)

    def replay(self) -> float | GpuFailure:
        """Replay the calls on the current contents. Returns seconds a call."""
        assert self._calls is not None
        replay = self.executor.replay(self._calls, seconds=self.limit)
        if isinstance(replay, GpuFailure):
            return replay
        own = ReplaySeconds(replay.host - self._overhead.host, replay.device - self._overhead.device)
        self._replays.append(own)
        return max(1e-9, own.host if self.by_host else own.device) / self.count

    def trust_host(self) -> None:
        """Use the host's clock from now on."""
        self.by_host = True

    def forget(self) -> None:
        """Drop the times so far, by which the clocks are compared."""
        self._replays.clear()

    @property
    def clocks_differ(self) -> bool:
        """Return whether the device's clock says less than the host's by more than a late notice explains. A kernel can
        overwrite the device's times in the driver's memory, but not the host's clock.

        A late notice only adds to the host's times, so the shortest of them is trusted. The shortest is compared with
        the device's median.
        """
        if not self._replays:
            return False
        least = min(replay.host for replay in self._replays)
        usual = statistics.median(replay.device for replay in self._replays)
        return least > (1 + APART_SHARE) * usual + APART_SECONDS
