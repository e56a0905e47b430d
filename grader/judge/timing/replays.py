"""One side's calls, replayed on fresh contents."""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping
from dataclasses import astuple, dataclass, field

from grader.judge.execution import Captured, Executor, Lost, Taken
from grader.judge.timing.pool import Pool

# A replay should be this long, where there are slots enough: of both sides, so that neither lets the device cool.
REPLAY_SECONDS = 5e-3
# Replays of nothing, whose median is what launch and wait take.
EMPTY_REPLAYS = 7
# A replay that shows to be this many times too short or too long gets other slots.
OFF = 1.5
GUESSES = 3
# The host's clock, where it is nearest, says no more than the device's usually does by this share and these seconds.
APART_SHARE, APART_SECONDS = 0.01, 50e-6


@dataclass
class Replays:
    """One side's calls: of a program, given `scalars`, on the first `count` slots of the pool. `limit` is the seconds
    that a replay may take."""

    executor: Executor
    program: int
    scalars: Mapping[str, float]
    pool: Pool
    limit: float
    count: int = 1
    by_host: bool = False
    _nothing: Taken = field(default_factory=lambda: Taken(0.0, 0.0))
    _calls: Captured | None = None
    _taken: list[Taken] = field(default_factory=list)

    def prepare(self, count: int = 1) -> Lost | None:
        """Measures what launch and wait take, and gives a replay as many slots as make it long enough: `count` is a
        guess. For an unknown kernel it is one, since a single call may take seconds."""
        look = self.pool.look
        nothing = self.executor.capture(self.program, [], look, seconds=self.limit)
        if isinstance(nothing, Lost):
            return nothing
        waits: list[Taken] = []
        for _ in range(EMPTY_REPLAYS):
            taken = self.executor.replay(nothing, seconds=self.limit)
            if isinstance(taken, Lost):
                return taken
            waits.append(taken)
        self._nothing = Taken(*(statistics.median(each) for each in zip(*map(astuple, waits), strict=True)))
        wanted = min(self.pool.count, count)
        for _ in range(GUESSES):
            self.count = wanted
            self.draw(expect=False)
            calls = self.executor.capture(self.program, range(self.count), look, seconds=self.limit)
            if isinstance(calls, Lost):
                return calls
            self._calls = calls
            # The first is slower: memory is touched, and machine code loaded. How long it takes is all that matters
            # here: contents may be those of before.
            seconds = [self.replay() for _ in range(2)][-1]
            if isinstance(seconds, Lost):
                return seconds
            wanted = min(self.pool.count, math.ceil(REPLAY_SECONDS / seconds))
            if self.count / OFF < wanted < OFF * self.count:
                break
        self.forget()
        return None

    def draw(self, *, expect: bool) -> None:
        """Gives the calls contents that no call has seen before. With `expect` the pool can check what they leave."""
        self.pool.draw(self.count, self.scalars, expect=expect)

    def replay(self) -> float | Lost:
        """Seconds a call, on the contents that are there."""
        assert self._calls is not None
        taken = self.executor.replay(self._calls, seconds=self.limit)
        if isinstance(taken, Lost):
            return taken
        own = Taken(taken.host - self._nothing.host, taken.device - self._nothing.device)
        self._taken.append(own)
        return max(1e-9, own.host if self.by_host else own.device) / self.count

    def trust_host(self) -> None:
        """From here on the host's clock counts."""
        self.by_host = True

    def forget(self) -> None:
        """What was taken so far no longer says whether clocks differ."""
        self._taken.clear()

    @property
    def clocks_differ(self) -> bool:
        """Whether the device's clock says less than the host's by more than it takes to hear of an end. A kernel can
        write where the driver keeps the device's times, and not to the host's clock.

        Whatever keeps the host from hearing of an end only adds to its times: the least of them is the one to trust.
        The device's that counts is the usual one.
        """
        if not self._taken:
            return False
        least, usual = min(one.host for one in self._taken), statistics.median(one.device for one in self._taken)
        return least > (1 + APART_SHARE) * usual + APART_SECONDS
