"""Estimates of speed, their certainty, and their points: paired ratios, bootstrap intervals, steps with the benefit of
the doubt.

Every ratio is baseline time ÷ student time, so above 1 is faster than the baseline. Pure: no clock, no device.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

LEVEL = 0.95
RESAMPLES = 2000
FEWEST_RATIOS = 6
"""The fewest ratios of an interval: the range of n ratios covers their true median with probability 1 − 2·2⁻ⁿ: less
than 95 % with five of them."""

STEPS = 100
"""The number of steps of the share of the points: it is given in whole percents."""

HYSTERESIS_STEPS = 1
"""The number of steps from what the new interval allows within which a share given before is kept."""

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Estimate:
    """A median ratio and its bootstrap interval; `count` ratios went into it."""

    median: float
    low: float
    high: float
    count: int


def abba_ratios(baseline: Sequence[float], student: Sequence[float]) -> list[float]:
    """Return the ratio of each ABBA block of batches.

    `baseline` and `student` hold seconds a batch in the order they ran, measured as baseline, student, student,
    baseline, and so on: two of each make a block. A block's ratio is the geometric mean of its two pairs', in which
    steady drift, and any cost of going first or second, stand once above and once below the line and cancel.

    Raises ValueError unless both have the same even, positive number of positive, finite times.
    """
    if len(baseline) != len(student) or not baseline or len(baseline) % 2:
        raise ValueError(f"whole ABBA blocks expected, got {len(baseline)} and {len(student)} times")
    quotient = np.log(_positive(baseline)) - np.log(_positive(student))
    return [float(ratio) for ratio in np.exp(quotient.reshape(-1, 2).mean(axis=1))]


def estimate(
    ratios: Sequence[float], *, level: float = LEVEL, resamples: int = RESAMPLES, seed: int = 0
) -> Estimate:
    """Return the median of one case's ratios with its percentile bootstrap interval.

    The ratios are taken to be independent of each other, which `abba_ratios` makes them nearly. The same ratios and
    seed give the same interval. Raises ValueError for fewer than FEWEST_RATIOS, or one that is not positive and finite.
    """
    return combine([ratios], level=level, resamples=resamples, seed=seed)


def combine(
    samples: Sequence[Sequence[float]], *, level: float = LEVEL, resamples: int = RESAMPLES, seed: int = 0
) -> Estimate:
    """Return the geometric mean of several cases' median ratios, so that every case weighs the same whatever its size.

    `samples` holds each case's ratios. The bootstrap resamples within each case, since the cases themselves are no
    sample of anything. Raises ValueError as `estimate` does, and for no case at all.
    """
    if not samples:
        raise ValueError("the ratios of at least one case expected")
    if not 0 < level < 1 or resamples < 1:
        raise ValueError(f"0 < level < 1 and resamples ≥ 1 expected, got {level} and {resamples}")
    draw = np.random.default_rng(seed)
    centre = 0.0
    resampled = np.zeros(resamples)
    for ratios in samples:
        values = _positive(ratios)
        if len(values) < FEWEST_RATIOS:
            raise ValueError(f"at least {FEWEST_RATIOS} ratios of a case expected, got {len(values)}")
        centre += math.log(float(np.median(values)))
        # The median of an odd resample is always one of the few values seen, and the interval then covers as little
        # as 89 % for a nominal 95 %. The even size below the sample's own covers 94 to 96 % from six ratios up.
        size = (len(values) - 1) // 2 * 2
        chosen = values[draw.integers(len(values), size=(resamples, size))]
        resampled += np.log(np.median(chosen, axis=1))
    low, high = np.quantile(resampled / len(samples), [(1 - level) / 2, (1 + level) / 2])
    # Rounding in log and exp may put the bounds of identical ratios a bit to either side of their median.
    median = math.exp(centre / len(samples))
    return Estimate(median, min(math.exp(low), median), max(math.exp(high), median), sum(map(len, samples)))


def straddles(estimate: Estimate, thresholds: Sequence[float]) -> bool:
    """Return whether the interval straddles any of the thresholds."""
    return any(estimate.low < threshold <= estimate.high for threshold in thresholds)


def settled(estimate: Estimate, floor: float, target: float, steps: int = STEPS) -> bool:
    """Return whether every ratio of the interval earns the same share, so that measuring again could change nothing.

    With `steps` of the size of the noise a ratio close to the edge of a step never settles: bound the rounds, then
    take `points_share`, which gives the benefit of the doubt.
    """
    return _step(estimate.low, floor, target, steps) == _step(estimate.high, floor, target, steps)


def points_share(
    estimate: Estimate, floor: float, target: float, *, steps: int = STEPS, previous: float | None = None
) -> float:
    """Return the share of the performance points, 0 to 1, in whole steps.

    It runs linearly from 0 at `floor` to 1 at `target` and is rounded to the nearest step, so a submission that sits
    exactly on the target is half a step away from the nearest edge. Of the steps that the interval straddles the
    student gets the highest.

    However many steps there are, some ratio lies on the edge of two of them, and no rule that sees one measurement
    can give it the same share every time. `previous` is the way out: the share that the same source, at the same
    thresholds, on the same kind of device was given before. It is kept unless the interval has left it by more than
    HYSTERESIS_STEPS. Raises ValueError unless 0 < floor < target, steps ≥ 1 and previous is a share.
    """
    lowest, highest = (_step(ratio, floor, target, steps) for ratio in (estimate.low, estimate.high))
    if previous is None:
        return highest / steps
    if not 0 <= previous <= 1:
        raise ValueError(f"previous: a share from 0 to 1 expected, got {previous}")
    kept = lowest - HYSTERESIS_STEPS <= round(previous * steps) <= highest + HYSTERESIS_STEPS
    return previous if kept else highest / steps


def _step(ratio: float, floor: float, target: float, steps: int) -> int:
    """Return the step nearest to a ratio, 0 at the floor and `steps` at the target; halves go up."""
    if not 0 < floor < target or steps < 1:
        raise ValueError(f"0 < floor < target and steps ≥ 1 expected, got {floor}, {target} and {steps}")
    share = min(1.0, max(0.0, (ratio - floor) / (target - floor)))
    return math.floor(share * steps + 0.5)


def _positive(values: Sequence[float]) -> Array:
    array = np.asarray(values, dtype=np.float64)
    # Written so that NaN fails.
    if not bool(np.all((array > 0) & (array < np.inf))):
        raise ValueError("positive, finite times and ratios expected")
    return array
