"""Student against baseline in ABBA blocks, over functions that measure; pure apart from these.

A measurement is the seconds of one call of a side, taken from a replay of many calls. If a student's measurement
fails, its failure is passed on.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from grader.results.estimate import FEWEST_RATIOS, abba_ratios
from grader.sandbox.forkserver import clock

F = TypeVar("F")
MOST_BLOCKS = 24
# If the clocks within a block differ by more than this share, the block is dropped.
CLOCKS_APART = 0.01
# A power-bound device has warmed up when WINDOWS windows agree within the share AGREE.
WINDOWS, WINDOW_SECONDS, AGREE = 3, 0.1, 0.003
MOST_WARMING_SECONDS = 6.0


@dataclass
class Blocks:
    """Seconds a call of both sides, two of each for a block, in the order they ran. `dropped` blocks are left out."""

    baseline: list[float] = field(default_factory=list)
    student: list[float] = field(default_factory=list)
    dropped: int = 0

    @property
    def ratios(self) -> list[float]:
        """Return the baseline's time over the student's, one for each block."""
        return abba_ratios(self.baseline, self.student) if self.baseline else []


@dataclass(frozen=True)
class Block:
    """Seconds a call: the baseline's first and last, the student's between them. `clocks` are the device's clocks that
    were seen."""

    baseline: tuple[float, float]
    student: tuple[float, float]
    clocks: list[float]


def block(
    baseline: Callable[[], float], student: Callable[[], float | F], *,
    clock: Callable[[], float | None] = lambda: None,
) -> Block | F:
    """Measure baseline, student, student, baseline. `clock` returns the device's clock, if it can be read."""
    clocks: list[float | None] = []
    first = baseline()
    clocks.append(clock())
    second = student()
    if not isinstance(second, float):
        return second
    clocks.append(clock())
    third = student()
    if not isinstance(third, float):
        return third
    clocks.append(clock())
    last = baseline()
    clocks.append(clock())
    return Block((first, last), (second, third), [mhz for mhz in clocks if mhz is not None])


class OutOfTime(Exception):
    """The end of the time before there were enough blocks."""


def paired(
    measure: Callable[[], Block | F], *, is_decided: Callable[[Sequence[float]], bool], until: float
) -> Blocks | F:
    """Measure blocks until the ratios are `is_decided` or there are MOST_BLOCKS. A student's failure is passed on.

    No block begins after `until` (clock.now). Blocks within which the clock changes are dropped. Raises OutOfTime.
    """
    steady, every = Blocks(), Blocks()
    while len(every.student) < 4 * MOST_BLOCKS:
        measured = measure()
        if not isinstance(measured, Block):
            return measured
        unstable = bool(measured.clocks) and max(measured.clocks) > (1 + CLOCKS_APART) * min(measured.clocks)
        for blocks in (every,) if unstable else (every, steady):
            blocks.baseline += measured.baseline
            blocks.student += measured.student
        steady.dropped += unstable
        late = clock.now() > until
        count = len(steady.student) // 2
        if count >= FEWEST_RATIOS and (late or count == MOST_BLOCKS or is_decided(steady.ratios)):
            return steady
        if late and len(every.student) // 2 < FEWEST_RATIOS:
            raise OutOfTime
        if late:
            break
    # If the clock never rests, all blocks count.
    return steady if len(steady.student) // 2 >= FEWEST_RATIOS else every


def warm_up(
    measure: Callable[[], Block | F], *, until: float, now: Callable[[], float] = clock.now
) -> F | None:
    """Keep both sides at work, as `paired` does, until the device's pace is steady: for each side the medians of the
    last WINDOWS windows agree. A student's failure is passed on."""
    until = min(until, now() + MOST_WARMING_SECONDS)
    windows: list[tuple[float, float]] = []
    while now() < until:
        seconds: list[tuple[float, float]] = []
        ends = now() + WINDOW_SECONDS
        while not seconds or now() < ends:
            measured = measure()
            if not isinstance(measured, Block):
                return measured
            seconds += zip(measured.baseline, measured.student, strict=True)
        windows.append((statistics.median(b for b, _ in seconds), statistics.median(s for _, s in seconds)))
        if len(windows) >= WINDOWS and all(_agree(side) for side in zip(*windows[-WINDOWS:], strict=True)):
            return None
    return None


def _agree(seconds: Sequence[float]) -> bool:
    return max(seconds) <= (1 + AGREE) * min(seconds)
