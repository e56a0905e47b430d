"""One side's calls, replayed on fresh contents."""

from __future__ import annotations

import math
import statistics
from dataclasses import dataclass

from grader.judge.execution import Captured, Done, Executor, Lost
from grader.judge.timing.pool import Pool, Side

# A replay should be this long, where there are slots enough: of both sides, so that neither lets the device cool.
REPLAY_SECONDS = 5e-3
# Replays of nothing, whose median is what launch and wait take.
EMPTY_REPLAYS = 15
# A side whose calls show to be this much faster than when its slots were counted out gets more of them.
FASTER = 1.5
GUESSES = 3


@dataclass
class Replays:
    """One side's calls: of a program, on the first `count` slots of the pool, which are bound from number `first` on.

    The pool's spare slots, after those, have calls before the clock starts: they leave the device, which turns from the
    judge's context to the executor's, and its cache as such calls do. `limit` is the seconds that a replay may take.
    """

    side: Side
    executor: Executor
    program: int
    pool: Pool
    limit: float
    first: int = 0
    count: int = 1
    overhead: float = 0.0
    _calls: Captured | None = None
    _warm: Captured | None = None

    def prepare(self) -> Lost | None:
        """Measures what launch and wait take, and gives a replay as many slots as make it long enough."""
        look = self.pool.looks[self.side]
        nothing = self.executor.capture(self.program, [], look, seconds=self.limit)
        if isinstance(nothing, Lost):
            return nothing
        waits = []
        for _ in range(EMPTY_REPLAYS):
            done = self.executor.replay(nothing, before=nothing, seconds=self.limit)
            if isinstance(done, Lost):
                return done
            waits.append(done.seconds)
        self.overhead = statistics.median(waits)
        for _ in range(GUESSES):
            self.pool.draw(self.side, self.count, expect=False)
            ends = self.first + self.count
            calls = self.executor.capture(self.program, range(self.first, ends), look, seconds=self.limit)
            if isinstance(calls, Lost):
                return calls
            # Of a slow kernel one call is enough.
            spare = range(ends, ends + min(self.pool.spare, self.count))
            warm = self.executor.capture(self.program, spare, seconds=self.limit)
            if isinstance(warm, Lost):
                return warm
            self._calls, self._warm = calls, warm
            # The first is slower: memory is touched, and machine code loaded.
            seconds = [self.replay(expect=False) for _ in range(2)][-1]
            if isinstance(seconds, Lost):
                return seconds
            wanted = min(self.pool.count - self.pool.spare, math.ceil(REPLAY_SECONDS / seconds))
            if wanted < FASTER * self.count:
                break
            self.count = wanted
        return None

    def replay(self, *, expect: bool) -> float | Lost:
        """Seconds a call, on contents that nobody has seen before."""
        assert self._calls is not None and self._warm is not None
        self.pool.draw(self.side, self.count, expect=expect)
        done = self.executor.replay(self._calls, before=self._warm, seconds=self.limit)
        return max(1e-9, done.seconds - self.overhead) / self.count if isinstance(done, Done) else done
