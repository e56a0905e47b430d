"""What a lane has seen of its baselines, by which it notices that one has become slow. Pure: no clock, no device.

All students of a lane are measured against the same baselines: one that something slows down, and not the student's
side as well, would raise that student's ratios. Slower than before means that a measurement is not to be trusted, and
never that a student did anything.
"""

from __future__ import annotations

import math
import statistics as middle
from collections import defaultdict, deque
from collections.abc import Sequence
from dataclasses import dataclass

# A baseline that takes this share longer than before is not the one that the others were measured against.
SLOWER = 0.10
# With fewer figures than these, the first might be the one that is wrong.
FEWEST = 3
# Nor is it, where its batches or the figures before scatter more than that, before it takes so many times their scatter
# longer.
SPREADS = 4.0
# The latest figures count: over a long class a machine may warm up, or change for good.
RECENT = 5
# Numbers of calls a batch that differ by less than about 9 % are compared: the clock's own share of a call hardly
# differs, and a number that follows from measured times is not the same twice.
SLOTS_AN_OCTAVE = 8


@dataclass(frozen=True)
class Key:
    """What is comparable: the same assignment's baseline on the same case, in batches of `slots` calls."""

    assignment: str
    case: str
    slots: int


@dataclass(frozen=True)
class Figure:
    """A baseline's median seconds a call, and the median distance of its batches from that.

    What each batch costs on top (the clock's round trip) drops out of the distances.
    """

    seconds: float
    spread: float


def figure(batches: Sequence[float]) -> Figure:
    """The figure of a measurement's batches, in seconds a call. Raises ValueError unless they are positive, finite, and
    there is one at least."""
    if not batches or not all(0 < seconds < math.inf for seconds in batches):
        raise ValueError("positive, finite times of at least one batch expected")
    centre = middle.median(batches)
    return Figure(centre, middle.median(abs(seconds - centre) for seconds in batches))


class History:
    """The latest figures of each baseline, one for each measurement. Fewer than `fewest` tell nothing."""

    def __init__(self, fewest: int = FEWEST) -> None:
        self._fewest = fewest
        self._figures: dict[tuple[str, str, int], deque[Figure]] = defaultdict(lambda: deque(maxlen=RECENT))

    def odd(self, key: Key, seconds: float) -> str | None:
        """What is odd about a baseline that takes `seconds` a call, in a sentence; None if nothing is, or nothing is
        known yet.

        It is compared with the median of the latest figures, the lower one of two: a single bad figure among three or
        more decides nothing. Being faster is never odd.
        """
        figures = self._figures.get(_place(key), ())
        if len(figures) < self._fewest:
            return None
        usual = middle.median_low(figure.seconds for figure in figures)
        # Some baselines wait for the host most of the time, and that is faster in one minute than in the next.
        between = middle.median_low(abs(figure.seconds - usual) for figure in figures)
        spread = max(between, middle.median_low(figure.spread for figure in figures))
        if seconds <= usual + max(SLOWER * usual, SPREADS * spread):
            return None
        return (f"The baseline of {key.assignment} took {seconds * 1e6:.4g} µs a call on {key.case}, "
                f"{seconds / usual - 1:.0%} longer than the {usual * 1e6:.4g} µs that it took here before.")

    def record(self, key: Key, figure: Figure) -> None:
        """Adds the figure of a measurement that was accepted, or given up because it stayed odd.

        That each measurement has one voice, the odd ones too, is what lets a lane whose first figure was the wrong one,
        or whose machine has changed for good, grade again once most of the latest agree.
        """
        self._figures[_place(key)].append(figure)


def _place(key: Key) -> tuple[str, str, int]:
    return key.assignment, key.case, round(SLOTS_AN_OCTAVE * math.log2(key.slots))
