"""What batches come to, from times made by hand."""

from __future__ import annotations

import pytest

from grader.judge.charges import charged
from grader.judge.clock import Timed


def timed(seconds: float, ready: float = 0.3e-3, looked: float = 0.2e-3) -> Timed:
    return Timed(seconds, ready, looked, 0.0, [], [])


def test_who_is_as_usual_is_charged_nothing() -> None:
    assert charged([timed(2e-3)] * 4, [timed(3e-3)] * 4, calls=2, warm=0) == ([1e-3] * 4, [1.5e-3] * 4)
    assert charged([], [], calls=1, warm=0) == ([], [])


def test_both_sides_of_short_batches_are_charged_alike() -> None:
    student, baseline = charged(
        [timed(0.5e-3, ready=0.7e-3)] * 4, [timed(1.9e-3, ready=0.7e-3)] * 4, calls=1, warm=0)
    assert student == pytest.approx([0.95e-3] * 4)
    assert student[0] - 0.5e-3 == pytest.approx(baseline[0] - 1.9e-3)


def test_who_is_later_than_the_baseline_is_charged_alone() -> None:
    student, baseline = charged([timed(6e-3, ready=2.3e-3)] * 4, [timed(6e-3)] * 4, calls=1, warm=0)
    assert student == pytest.approx([7.85e-3] * 4) and baseline == pytest.approx([6e-3] * 4)


def test_calls_that_warm_up_are_no_lateness() -> None:
    student, baseline = [timed(12e-3, ready=2.3e-3)] * 4, [timed(6e-3, ready=1.3e-3)] * 4
    assert charged(student, baseline, calls=6, warm=1)[0] == pytest.approx([2e-3] * 4)
    assert charged(student, baseline, calls=6, warm=0)[0] > [2e-3] * 4


def test_a_late_look_at_a_baseline_is_no_gain() -> None:
    _, baseline = charged([timed(1e-3)] * 4, [timed(1e-3)] * 3 + [timed(1e-3, looked=5e-3)], calls=1, warm=0)
    assert baseline == pytest.approx([1e-3] * 4)
    student, _ = charged([timed(1e-3)] * 3 + [timed(1e-3, looked=5e-3)], [timed(1e-3)] * 4, calls=1, warm=0)
    assert student == pytest.approx([1e-3] * 3 + [5.8e-3])
