"""Estimates of speed, their uncertainty, and their points: paired ratios, bootstrap intervals, and steps of points with
the benefit of the doubt.

Every ratio is baseline time ÷ student time, so above 1 is faster than the baseline. No function uses a clock or a
device.
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
"""The fewest ratios of an interval. The range of n ratios covers their true median with probability 1 − 2·2⁻ⁿ, which is
less than 95 % for five of them."""

STEPS = 100
"""The number of steps of a share of the points: shares are whole percents."""

HYSTERESIS_STEPS = 1
"""The largest distance, in steps, from the shares that a new interval allows, at which an earlier share stays."""

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

    `baseline` and `student` hold the seconds of each batch, in the order in which they ran: baseline, student, student,
    baseline, and so on. Two of each make a block. A block's ratio is the geometric mean of the ratios of its two pairs.
    In it, steady drift, and any cost of going first or second, stand once above and once below the line, and cancel.
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

    The ratios count as independent of each other, which `abba_ratios` nearly makes them. The same ratios and seed give
    the same interval. Raises ValueError for fewer than FEWEST_RATIOS, or for a ratio that is not positive and finite.
    """
    return combine([ratios], level=level, resamples=resamples, seed=seed)


def combine(
    samples: Sequence[Sequence[float]], *, level: float = LEVEL, resamples: int = RESAMPLES, seed: int = 0
) -> Estimate:
    """Return the geometric mean of several cases' median ratios, so that every case weighs the same whatever its size.

    `samples` holds each case's ratios. The bootstrap resamples within each case, since the cases themselves are no
    sample of anything. Raises ValueError as `estimate` does, and if there is no case.
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
        # The median of an odd resample is always one of the few values seen: its interval may cover only 89 % for
        # a nominal 95 %. The even size just below the sample's own covers 94 to 96 % from six ratios up.
        size = (len(values) - 1) // 2 * 2
        chosen = values[draw.integers(len(values), size=(resamples, size))]
        resampled += np.log(np.median(chosen, axis=1))
    low, high = np.quantile(resampled / len(samples), [(1 - level) / 2, (1 + level) / 2])
    # Rounding in log and exp may put the bounds of identical ratios slightly to either side of their median.
    median = math.exp(centre / len(samples))
    return Estimate(median, min(math.exp(low), median), max(math.exp(high), median), sum(map(len, samples)))


def straddles(estimate: Estimate, thresholds: Sequence[float]) -> bool:
    """Return whether the interval straddles any of the thresholds."""
    return any(estimate.low < threshold <= estimate.high for threshold in thresholds)


def is_decided(estimate: Estimate, floor: float, target: float, steps: int = STEPS) -> bool:
    """Return whether every ratio of the interval earns the same share, so that measuring again could change nothing.

    If steps are as fine as the noise, a ratio close to the edge of a step never settles. So bound the number of rounds,
    and then take `points_share`, which gives the benefit of the doubt.
    """
    return _step(estimate.low, floor, target, steps) == _step(estimate.high, floor, target, steps)


def points_share(
    estimate: Estimate, floor: float, target: float, *, steps: int = STEPS, previous: float | None = None
) -> float:
    """Return the share of the performance points, 0 to 1, in whole steps.

    The share rises linearly from 0 at `floor` to 1 at `target`, and is rounded to the nearest step, so a submission
    exactly on the target is half a step away from the nearest edge. If the interval straddles several steps, the
    student gets the highest of them.

    However many steps there are, some ratio lies on the edge of two of them, and no rule that sees one measurement can
    give it the same share every time. So `previous` is the share that the same source was given before, at the same
    thresholds, on the same kind of device. It stays unless the interval has left it by more than HYSTERESIS_STEPS.
    Raises ValueError unless 0 < floor < target, steps ≥ 1 and `previous` is a share.
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
    # A NaN fails this comparison.
    if not bool(np.all((array > 0) & (array < np.inf))):
        raise ValueError("positive, finite times and ratios expected")
    return array
