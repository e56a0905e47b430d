"""Seeded streams of paired times: the interval covers the truth, drift cancels, points do not flip."""

import math
from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray

from grader.results.estimate import (
    FEWEST_RATIOS,
    STEPS,
    Estimate,
    abba_ratios,
    combine,
    estimate,
    is_decided,
    points_share,
    straddles,
)
from tests.rows import each_row

Array = NDArray[np.float64]
Noise = Callable[[np.random.Generator, int], Array]
"""Draws the log of a relative error for each of so many batches."""

FLOOR, TARGET = 0.2, 0.9
STREAMS = 300
COVERAGE = 0.92
"""Of 300 streams at a true 95 %, fewer than 92 % are covered once in two hundred times."""

BATCHES = 24
ROUNDS = 4
NOISE = 0.003


def _quiet(draw: np.random.Generator, count: int) -> Array:
    return draw.normal(0, NOISE, count)


def _outliers(draw: np.random.Generator, count: int) -> Array:
    """One batch in ten is up to twice as long."""
    return _quiet(draw, count) + (draw.random(count) < 0.1) * draw.uniform(0, math.log(2), count)


def _bimodal(draw: np.random.Generator, count: int) -> Array:
    """A third of the batches runs at a clock 3 % lower."""
    return _quiet(draw, count) + (draw.random(count) < 1 / 3) * 0.03


def _drifting(draw: np.random.Generator, count: int) -> Array:
    """The noise only; the drift is common to both sides and added by `_times`."""
    return _quiet(draw, count)


def _times(truth: float, seed: int, noise: Noise = _quiet, batches: int = BATCHES) -> tuple[list[float], list[float]]:
    """Seconds of baseline and student batches whose true ratio is `truth`, run ABBA under a common 20 % drift."""
    draw = np.random.default_rng(seed)
    at = np.arange(2 * batches).reshape(-1, 4)
    drift = (np.log(1.2) if noise is _drifting else 0.01) * at / (2 * batches)
    baseline = np.log(truth) + drift[:, [0, 3]].ravel() + noise(draw, batches)
    student = drift[:, [1, 2]].ravel() + noise(draw, batches)
    return list(np.exp(baseline)), list(np.exp(student))


def _ratios(truth: float, seed: int, noise: Noise = _quiet, batches: int = BATCHES) -> list[float]:
    return abba_ratios(*_times(truth, seed, noise, batches))


def _graded(truth: float, seed: int, noise: Noise = _quiet, steps: int = STEPS) -> Estimate:
    """As a judge does it: batches are added until the share is settled, or the rounds are spent."""
    ratios: list[float] = []
    found: Estimate | None = None
    for round_ in range(ROUNDS):
        ratios += _ratios(truth, 1_000_003 * seed + round_, noise)
        found = estimate(ratios)
        if is_decided(found, FLOOR, TARGET, steps):
            break
    assert found is not None
    return found


@pytest.mark.parametrize("batches", [12, 14, 24, 64])
@pytest.mark.parametrize("noise", [_quiet, _outliers, _bimodal, _drifting])
def test_the_interval_covers_the_truth(noise: Noise, batches: int) -> None:
    covered = 0
    for seed in range(STREAMS):
        found = estimate(_ratios(0.8, seed, noise, batches), resamples=500)
        covered += found.low <= 0.8 <= found.high
    assert covered >= COVERAGE * STREAMS


def test_the_interval_of_several_cases_covers_their_geometric_mean() -> None:
    truths = [0.5, 0.9, 1.6]
    centre = math.prod(truths) ** (1 / 3)
    covered = 0
    for seed in range(STREAMS):
        found = combine([_ratios(t, 7 * seed + i, _outliers) for i, t in enumerate(truths)], resamples=500)
        covered += found.low <= centre <= found.high
    assert covered >= COVERAGE * STREAMS


def test_the_interval_narrows_with_more_ratios_and_with_a_lower_level() -> None:
    ratios = _ratios(0.8, 1, batches=400)
    few, many, half = estimate(ratios[:10]), estimate(ratios), estimate(ratios, level=0.5)
    assert few.high - few.low > 2 * (many.high - many.low) > 2 * (half.high - half.low) > 0
    assert few.count == 10 and many.count == 200
    assert many.low <= many.median <= many.high and many.median == pytest.approx(0.8, rel=0.001)


def test_the_same_ratios_give_the_same_interval() -> None:
    ratios = _ratios(0.8, 3, batches=100)
    assert estimate(ratios) == estimate(ratios)
    assert len({estimate(ratios, resamples=20, seed=seed) for seed in range(5)}) > 1


def test_drift_and_the_cost_of_going_first_cancel_exactly() -> None:
    clock = np.exp(np.linspace(0, 0.5, 48)).reshape(-1, 4)
    first = 1.07
    baseline = (clock[:, [0, 3]] * [first, 1]).ravel() * 0.8
    student = (clock[:, [1, 2]] * [1, first]).ravel()
    assert abba_ratios(list(baseline), list(student)) == pytest.approx([0.8] * 12, rel=1e-12)


def test_a_jump_of_the_clock_moves_one_block() -> None:
    times = np.ones(48)
    times[21:] = 1.5
    blocks = times.reshape(-1, 4)
    ratios = abba_ratios(list(blocks[:, [0, 3]].ravel()), list(blocks[:, [1, 2]].ravel()))
    found = estimate(ratios)
    assert sum(abs(ratio - 1) > 1e-9 for ratio in ratios) == 1
    assert (found.median, found.low, found.high) == (1, 1, 1)


def test_identical_ratios_have_no_width_and_cases_weigh_alike() -> None:
    same = estimate([0.3] * 9)
    assert (same.median, same.low, same.high) == pytest.approx((0.3, 0.3, 0.3), rel=1e-12) and same.count == 9
    found = combine([[0.5] * 6, [2.0] * 60])
    assert found.median == pytest.approx(1) and found.count == 66
    assert found.low <= found.median <= found.high


def test_straddles_asks_whether_a_threshold_is_reached() -> None:
    found = Estimate(0.9, 0.8, 1.0, 12)
    assert straddles(found, [0.9]) and straddles(found, [1.0]) and straddles(found, [0.2, 0.81])
    # Every ratio of the interval reaches its own lower end, and none reaches what is above it.
    assert not straddles(found, [0.8]) and not straddles(found, [1.01]) and not straddles(found, [])


@each_row(
    ("ratio", "share"),
    [(0.01, 0), (FLOOR, 0), (0.2034, 0), (0.2036, 0.01), (0.55, 0.5), (0.8964, 0.99), (0.8966, 1), (TARGET, 1), (9, 1)],
)
def test_the_share_is_linear_between_floor_and_target(ratio: float, share: float) -> None:
    assert points_share(Estimate(ratio, ratio, ratio, 12), FLOOR, TARGET) == share


def test_of_the_steps_straddled_the_student_gets_the_highest() -> None:
    open_ = Estimate(0.89, 0.88, 0.91, 12)
    assert not is_decided(open_, FLOOR, TARGET) and points_share(open_, FLOOR, TARGET) == 1
    assert is_decided(Estimate(1.0, 0.9, 1.2, 12), FLOOR, TARGET)
    assert is_decided(Estimate(0.1, 0.05, 0.2, 12), FLOOR, TARGET)
    assert is_decided(Estimate(0.55, 0.5495, 0.5505, 12), FLOOR, TARGET)
    assert not is_decided(Estimate(0.55, 0.54, 0.56, 12), FLOOR, TARGET)
    assert is_decided(Estimate(0.55, 0.54, 0.56, 12), FLOOR, TARGET, steps=10)


@pytest.mark.parametrize("noise", [_quiet, _outliers, _drifting])
def test_no_flip_one_percent_away_from_a_threshold(noise: Noise) -> None:
    for seed in range(40):
        above, below = (_graded(TARGET * factor, seed, noise) for factor in (1.01, 0.99))
        assert points_share(above, FLOOR, TARGET) == 1 and not straddles(above, [FLOOR, TARGET])
        assert points_share(below, FLOOR, TARGET) < 1 and not straddles(below, [FLOOR, TARGET])
        assert points_share(_graded(FLOOR * 0.99, seed, noise), FLOOR, TARGET) == 0


@pytest.mark.parametrize("noise", [_quiet, _outliers, _drifting])
def test_on_the_target_the_student_has_the_benefit_of_the_doubt(noise: Noise) -> None:
    assert {points_share(_graded(TARGET, seed, noise), FLOOR, TARGET) for seed in range(100)} == {1}


def test_graded_again_the_points_stay() -> None:
    """At any ratio, edges of steps included: what was given once is given again."""
    draw = np.random.default_rng(5)
    edges = [FLOOR + (TARGET - FLOOR) * (k + 0.5) / STEPS for k in (10, 50, 90)]
    for truth in [*edges, *draw.uniform(FLOOR, TARGET, 5)]:
        given = points_share(_graded(truth, 0), FLOOR, TARGET)
        assert abs(given - (truth - FLOOR) / (TARGET - FLOOR)) < 0.015
        for seed in range(1, 11):
            assert points_share(_graded(truth, seed), FLOOR, TARGET, previous=given) == given


def test_a_changed_machine_or_submission_is_not_held_to_what_was_given() -> None:
    given = points_share(_graded(0.6, 0), FLOOR, TARGET)
    for truth in (0.57, 0.63):
        again = points_share(_graded(truth, 1), FLOOR, TARGET, previous=given)
        assert again == pytest.approx((truth - FLOOR) / (TARGET - FLOOR), abs=0.015)
        assert again != given


def test_wrong_arguments_are_refused() -> None:
    good = Estimate(1, 1, 1, 6)
    for bad in ([], [1.0] * (FEWEST_RATIOS - 1), [1.0] * 8 + [math.nan], [1.0] * 8 + [0.0], [1.0] * 8 + [math.inf]):
        with pytest.raises(ValueError, match="expected"):
            estimate(bad)
    for baseline, student in (([], []), ([1.0], [1.0]), ([1.0, 2.0], [1.0]), ([1.0, -1.0], [1.0, 1.0])):
        with pytest.raises(ValueError, match="expected"):
            abba_ratios(baseline, student)
    with pytest.raises(ValueError, match="at least one case"):
        combine([])
    with pytest.raises(ValueError, match="level"):
        estimate([1.0] * 6, level=1)
    for floor, target, steps in ((0.9, 0.2, 100), (0.0, 1.0, 100), (0.2, 0.9, 0)):
        with pytest.raises(ValueError, match="floor < target"):
            points_share(good, floor, target, steps=steps)
    with pytest.raises(ValueError, match="previous"):
        points_share(good, FLOOR, TARGET, previous=1.2)
