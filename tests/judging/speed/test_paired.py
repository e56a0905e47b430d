"""Paired measurement over real work on the CPU, and the rules of its blocks over given times."""

import math
import time
from collections.abc import Callable, Iterator
from itertools import chain, repeat

import numpy
import pytest

from grader.judging.speed import paired as rules
from grader.judging.speed.paired import MOST_BLOCKS, Block, Blocks, OutOfTime, block, paired, warm_up
from grader.results.estimate import FEWEST_RATIOS, estimate
from grader.sandbox.forkserver.clock import now

NEVER = math.inf


def working(size: int) -> Callable[[], float]:
    """Processor seconds of a sort, which takes longer the larger it is."""
    numbers = numpy.random.default_rng(0).random(size)

    def measured() -> float:
        started = time.thread_time()
        numpy.sort(numbers)
        return time.thread_time() - started

    return measured


def told(times: Iterator[float]) -> Callable[[], float]:
    return lambda: float(next(times))


def side_by_side(
    baseline: Callable[[], float], student: Callable[[], float | str], clock: Callable[[], float | None] = lambda: None
) -> Callable[[], Block | str]:
    return lambda: block(baseline, student, clock=clock)


def test_a_side_that_does_twice_the_work_takes_twice_the_time() -> None:
    blocks = paired(side_by_side(working(200_000), working(100_000)), is_decided=lambda ratios: False, until=NEVER)
    assert isinstance(blocks, Blocks)
    assert len(blocks.ratios) == MOST_BLOCKS and blocks.dropped == 0
    assert 1.5 < estimate(blocks.ratios).median < 3.0


def test_sides_run_as_baseline_student_student_baseline() -> None:
    ran: list[str] = []

    def side(name: str) -> Callable[[], float]:
        def measured() -> float:
            ran.append(name)
            return 1.0
        return measured

    blocks = paired(
        side_by_side(side("b"), side("s")), is_decided=lambda ratios: len(ratios) >= FEWEST_RATIOS + 1, until=NEVER)
    assert isinstance(blocks, Blocks)
    assert "".join(ran) == "bssb" * (FEWEST_RATIOS + 1)
    assert blocks.ratios == [1.0] * (FEWEST_RATIOS + 1)


def test_nothing_is_settled_with_too_few_blocks() -> None:
    asked: list[int] = []

    def is_decided(ratios: object) -> bool:
        assert isinstance(ratios, list)
        asked.append(len(ratios))
        return True

    paired(side_by_side(told(repeat(1.0)), told(repeat(1.0))), is_decided=is_decided, until=NEVER)
    assert asked == [FEWEST_RATIOS]


def test_steady_drift_cancels() -> None:
    # Each measurement takes 2 % longer than the one before, whichever side it is of.
    times = iter([1.02**i for i in range(10_000)])
    blocks = paired(side_by_side(told(times), told(times)), is_decided=lambda ratios: True, until=NEVER)
    assert isinstance(blocks, Blocks)
    assert blocks.ratios == pytest.approx([1.0] * FEWEST_RATIOS)


def test_a_students_failure_is_passed_on() -> None:
    student: Iterator[float | str] = iter([*[1.0] * 5, "wrong"])
    sides = side_by_side(told(repeat(1.0)), lambda: next(student))
    assert paired(sides, is_decided=lambda ratios: True, until=NEVER) == "wrong"
    student = iter([*[1.0] * 4, "wrong"])
    assert warm_up(sides, until=NEVER) == "wrong"


def test_blocks_within_which_the_clock_changed_are_dropped() -> None:
    # In the second block the clock falls while the student runs, which then takes longer.
    clocks = chain([1980.0] * 4, [1980.0, 1500.0, 1500.0, 1980.0], repeat(1980.0))
    student = chain([1.0, 1.0, 1.3, 1.3], repeat(1.0))
    sides = side_by_side(told(repeat(1.0)), told(student), lambda: next(clocks))
    blocks = paired(sides, is_decided=lambda ratios: True, until=NEVER)
    assert isinstance(blocks, Blocks)
    assert blocks.dropped == 1 and blocks.ratios == [1.0] * FEWEST_RATIOS


def test_where_the_clock_never_rests_blocks_count_as_they_came() -> None:
    clocks = iter(1980.0 if i % 2 else 1500.0 for i in range(10_000))
    sides = side_by_side(told(repeat(2.0)), told(repeat(1.0)), lambda: next(clocks))
    blocks = paired(sides, is_decided=lambda ratios: True, until=NEVER)
    assert isinstance(blocks, Blocks)
    assert len(blocks.ratios) >= FEWEST_RATIOS and set(blocks.ratios) == {2.0}


def test_without_time_there_is_no_result_and_with_little_the_blocks_there_are() -> None:
    with pytest.raises(OutOfTime):
        paired(side_by_side(told(repeat(1.0)), told(repeat(1.0))), is_decided=lambda ratios: False, until=-math.inf)
    slow = iter(range(10_000))

    def late() -> float:
        # Six blocks fit, and a seventh does not.
        if next(slow) >= 2 * FEWEST_RATIOS - 1:
            time.sleep(1)
        return 1.0

    blocks = paired(side_by_side(late, told(repeat(1.0))), is_decided=lambda ratios: False, until=now() + 1)
    assert isinstance(blocks, Blocks) and len(blocks.ratios) == FEWEST_RATIOS


def test_a_device_has_warmed_up_when_three_windows_agree() -> None:
    # Each block takes 0.02 s on this clock. The baseline slows down for five windows, as at a power limit.
    blocks = 0

    def now() -> float:
        return 0.02 * blocks

    def baseline() -> float:
        return 1.0 + 0.05 * min(now(), 5 * rules.WINDOW_SECONDS)

    def student() -> float:
        nonlocal blocks
        blocks += 1
        return 1.0

    assert warm_up(side_by_side(baseline, student), until=NEVER, now=now) is None
    assert now() >= 5 * rules.WINDOW_SECONDS + rules.WINDOWS * rules.WINDOW_SECONDS - 0.05
    assert now() < rules.MOST_WARMING_SECONDS


def test_one_that_never_gets_steady_is_measured_after_all() -> None:
    ticks = 0

    def now() -> float:
        return 0.02 * ticks

    def student() -> float:
        nonlocal ticks
        ticks += 1
        return 1.0 + 0.1 * (ticks // 10)

    assert warm_up(side_by_side(told(repeat(1.0)), student), until=NEVER, now=now) is None
    assert now() == pytest.approx(rules.MOST_WARMING_SECONDS, abs=0.2)
