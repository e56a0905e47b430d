"""What counts as time beside what the clock shows: who takes longer to be ready, or leaves work to be waited for."""

from __future__ import annotations

import math
import statistics as middle
from collections.abc import Sequence

from grader.judge.clock import Timed

# How much longer than the baseline's worker mostly does a worker may take to be ready before it counts as time: mostly,
# and in a single batch. A processor that was left alone is slow to come back. Of short batches no more than this share
# is free, else all of their work could be done before the clock starts.
READY_SECONDS = 150e-6
READY_ONCE_SECONDS = 500e-6
READY_SHARE = 0.5


def charged(
    student: Sequence[Timed], baseline: Sequence[Timed], *, calls: int, warm: int
) -> tuple[list[float], list[float]]:
    """Seconds a call in each batch of `calls`, of student and baseline. `warm` calls were made before each batch.

    What it took longer than usual to be ready is in it: inputs are in sight from waking on, and whoever takes longer
    may be at work on them. So is what the look at the answers took longer: work that was still on the device when the
    worker said "done" had to end first, or was waited for, a turn long. What is usual the baseline's worker shows. The
    baseline, which does nothing of the kind, is charged by the same rule, but for no more than the student mostly is:
    so short batches of an honest one are compared with short batches.
    """
    sides = [batches for batches in (baseline, student) if batches]
    if not sides:
        return [], []

    def ready(timed: Timed) -> float:
        return timed.waited - warm * timed.seconds / calls

    usual = middle.median(map(ready, sides[0]))
    looked = middle.median(timed.looked for timed in sides[0])
    shortest = min(middle.median(timed.seconds for timed in batches) for batches in sides)
    free = min(usual + READY_SECONDS, READY_SHARE * shortest)

    def mostly(batches: Sequence[Timed]) -> tuple[float, float]:
        if not batches:
            return 0.0, 0.0
        return (max(0.0, middle.median(map(ready, batches)) - free),
                max(0.0, middle.median(timed.looked for timed in batches) - looked))

    def seconds(batches: Sequence[Timed], most: tuple[float, float]) -> list[float]:
        found, (late_mostly, _) = [], mostly(batches)
        for timed in batches:
            once = min(usual + READY_ONCE_SECONDS, READY_SHARE * min(shortest, timed.seconds))
            late = max(late_mostly, ready(timed) - once)
            extra = min(most[0], late) + min(most[1], max(0.0, timed.looked - looked))
            found.append((timed.seconds + extra) / calls)
        return found

    return seconds(student, (math.inf, math.inf)), seconds(baseline, mostly(student))
