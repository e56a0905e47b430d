"""When a baseline counts as slower than it was, from figures made by hand, and what a measurement makes of that."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace
from typing import cast

import pytest

from grader.assignment import Assignment, TimedCase
from grader.catalogue import assignments
from grader.course import Threshold
from grader.forkserver.handle import InfrastructureError
from grader.judge import speed
from grader.judge.baselines import Baselines
from grader.judge.device import Memory
from grader.judge.duel import Measured
from grader.judge.health import Snapshot
from grader.judge.history import FEWEST, RECENT, Figure, History, Key, figure
from grader.judge.session import Lost, Session
from grader.result import Timing

KEY = Key("silu", "8192x8192", 32)
CALM = Snapshot(reasons=(), neighbours=())


def known(*seconds: float, spread: float = 0.0) -> History:
    history = History(fewest=1)
    for one in seconds:
        history.record(KEY, Figure(one, spread))
    return history


def test_without_an_earlier_figure_nothing_is_odd() -> None:
    history = known()
    assert history.odd(KEY, 1.0) is None
    history.record(KEY, Figure(1e-6, 0.0))
    for other in (replace(KEY, assignment="gemm"), replace(KEY, case="4096x4096"), replace(KEY, slots=4)):
        assert history.odd(other, 1.0) is None


def test_with_few_figures_the_first_may_be_the_wrong_one() -> None:
    history = History()
    for _ in range(FEWEST):
        assert history.odd(KEY, 1.0) is None
        history.record(KEY, Figure(100e-6, 0.0))
    assert history.odd(KEY, 123e-6) is not None


def test_both_figures_are_told() -> None:
    history = known(100e-6)
    assert history.odd(KEY, 109.9e-6) is None
    assert history.odd(KEY, 123e-6) == (
        "The baseline of silu took 123 µs a call on 8192x8192, 23% longer than the 100 µs that it took here before.")


def test_faster_is_never_odd_and_counts_from_then_on() -> None:
    history = known(100e-6)
    assert history.odd(KEY, 1e-6) is None
    history.record(KEY, Figure(80e-6, 0.0))
    assert history.odd(KEY, 100e-6) is not None


@pytest.mark.parametrize("place", range(4))
@pytest.mark.parametrize("bad", [20e-6, 500e-6])
def test_one_bad_figure_among_several_decides_nothing(bad: float, place: int) -> None:
    figures = [100e-6, 101e-6, 99e-6]
    history = known(*figures[:place], bad, *figures[place:])
    assert history.odd(KEY, 105e-6) is None
    assert history.odd(KEY, 120e-6) is not None


def test_a_slow_figure_and_a_right_one_make_the_right_one_count() -> None:
    assert known(500e-6, 100e-6).odd(KEY, 120e-6) is not None
    assert known(100e-6, 500e-6).odd(KEY, 120e-6) is not None


def test_a_machine_that_warms_up_over_a_class_is_followed_and_a_leap_is_not() -> None:
    history = known()
    seconds = 100e-6
    for _ in range(60):
        assert history.odd(KEY, seconds) is None
        history.record(KEY, Figure(seconds, 0.0))
        seconds *= 1.01
    assert seconds > 180e-6
    assert history.odd(KEY, 1.2 * seconds) is not None


def test_a_drift_as_steep_as_a_hog_is_not_followed() -> None:
    history, seconds, steps = known(*[100e-6] * RECENT), 100e-6, 0
    while history.odd(KEY, seconds) is None:
        history.record(KEY, Figure(seconds, 0.0))
        seconds *= 1.06
        steps += 1
    assert steps < 4


def test_a_baseline_that_scatters_may_be_slower_by_its_scatter() -> None:
    assert known(100e-6, spread=5e-6).odd(KEY, 119e-6) is None
    assert known(100e-6, spread=5e-6).odd(KEY, 121e-6) is not None
    one_wild = known(100e-6, 100e-6)
    one_wild.record(KEY, Figure(100e-6, 90e-6))
    assert one_wild.odd(KEY, 121e-6) is not None


def test_a_baseline_that_is_faster_in_one_minute_than_in_the_next_may_be_slower_by_that() -> None:
    assert known(50e-6, 68e-6, 55e-6, 70e-6, 52e-6).odd(KEY, 75e-6) is None
    assert known(50e-6, 68e-6, 55e-6, 70e-6, 52e-6).odd(KEY, 110e-6) is not None
    assert known(50e-6, 68e-6, 50e-6, 51e-6, 50e-6).odd(KEY, 75e-6) is not None


def test_a_machine_that_has_changed_for_good_is_believed_once_most_figures_say_so() -> None:
    history = known(*[100e-6] * RECENT)
    refused = 0
    while history.odd(KEY, 150e-6) is not None:
        history.record(KEY, Figure(150e-6, 0.0))
        refused += 1
    assert refused == RECENT // 2 + 1
    # A first figure that was too good holds up two measurements, and no more.
    assert known(100e-6, 150e-6).odd(KEY, 150e-6) is not None
    assert known(100e-6, 150e-6, 150e-6).odd(KEY, 150e-6) is None


def test_batches_of_nearly_as_many_calls_are_compared() -> None:
    history = known(100e-6)
    assert history.odd(replace(KEY, slots=31), 150e-6) is not None
    assert history.odd(replace(KEY, slots=25), 150e-6) is None
    few = Key("gemm", "8192x8192x8192", 2)
    history.record(few, Figure(1e-3, 0.0))
    assert history.odd(replace(few, slots=1), 1.0) is None and history.odd(replace(few, slots=3), 1.0) is None


def test_a_figure_is_the_middle_and_a_cost_of_every_batch_leaves_its_spread_alone() -> None:
    batches = [10.0, 11.0, 10.5, 30.0, 10.2]
    found, slower = figure(batches), figure([one + 5 for one in batches])
    assert found.seconds == 10.5 and found.spread == pytest.approx(0.5)
    assert slower.seconds == 15.5 and slower.spread == pytest.approx(found.spread)
    for nothing in ([], [1.0, 0.0], [1.0, float("nan")], [float("inf")]):
        with pytest.raises(ValueError, match="positive, finite"):
            figure(nothing)


class Known:
    """A lane's baselines as far as a measurement without its duel asks for them."""

    def __init__(self) -> None:
        self.history = History(fewest=1)

    def side(self, assignment: Assignment) -> None:
        return None


class Bench:
    """`speed.measure` as on a GPU, with duels whose baseline takes as many seconds a call as `times` say."""

    def __init__(self, times: list[float]) -> None:
        self.times = times
        self.lane = Known()
        self.state = CALM
        # The share of a duel's batches for which a processor was waited for, for as many duels as there are.
        self.contended: list[float] = []

    def duel(self, *_: object, **__: object) -> Measured:
        seconds = self.times.pop(0)
        # What the student was late is charged to the baseline too, and tells nothing about it.
        return Measured(32, [100e-6] * 12, [seconds + 1e-6 * len(self.times)] * 12, [seconds] * 12,
                        [self.contended.pop(0) if self.contended else 0.0] * 12)

    def measure(self, cuda: bool = True) -> Timing:
        silu = assignments()["silu"].model_copy(update={"work": None})
        found = speed.measure(
            silu, TimedCase(name="8192x8192", sizes={"M": 8192, "N": 8192}), cast(Session, None),
            cast(Baselines, self.lane), Threshold(floor=0.2, target=0.9),
            free=Memory(host=64 << 30, device=128 << 30, cache=50 << 20), until=time.monotonic() + 60, cuda=cuda)
        assert not isinstance(found, Lost) and isinstance(found, speed.Speed)
        return found.timing


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch) -> Iterator[Bench]:
    """What needs a GPU stands aside: the duel and the reading of the device's state."""
    one = Bench([])
    monkeypatch.setattr(speed, "duel", one.duel)
    monkeypatch.setattr("grader.judge.device.state", lambda: one.state)
    yield one


def test_a_slow_baseline_is_measured_again_and_the_report_says_so(bench: Bench) -> None:
    bench.times = [100e-6, 150e-6, 101e-6]
    assert not any("again" in note for note in bench.measure().notes)
    timing = bench.measure()
    assert timing.baseline_us == pytest.approx(101)
    assert timing.notes[0].startswith("Measured again: The baseline of silu took 150 µs a call")
    # What was thrown away has left no figure.
    assert bench.lane.history.odd(KEY, 120e-6) is not None


def test_a_baseline_that_stays_slow_is_a_failure_of_ours_until_most_agree(bench: Bench) -> None:
    bench.times = [100e-6, *[150e-6] * 7]
    bench.measure()
    for _ in range(2):
        with pytest.raises(InfrastructureError, match="not fit to measure on: The baseline of silu took 150 µs"):
            bench.measure()
    assert bench.measure().baseline_us == pytest.approx(150)
    assert bench.times == []


def test_what_an_unfit_machine_measured_leaves_no_figure(bench: Bench) -> None:
    bench.times = [100e-6] * 3
    bench.state = Snapshot(reasons=("heat (hardware)",), neighbours=())
    with pytest.raises(InfrastructureError, match="slowed down by heat"):
        bench.measure()
    assert bench.lane.history.odd(KEY, 1.0) is None


def test_where_a_processor_is_waited_for_it_is_measured_again(bench: Bench) -> None:
    bench.times, bench.contended = [100e-6] * 2, [0.3]
    assert bench.measure().notes[0] == (
        "Measured again: Other programs keep the processor busy: 12 of 12 of the yardstick's batches had to "
        "wait for it.")
    bench.times, bench.contended = [100e-6] * 3, [0.3] * 3
    with pytest.raises(InfrastructureError, match="8192x8192: the machine is not fit to measure on: Other programs"):
        bench.measure()


def test_without_a_gpu_nothing_is_compared(bench: Bench) -> None:
    bench.times = [100e-6, 500e-6]
    bench.measure(cuda=False)
    assert bench.measure(cuda=False).baseline_us == pytest.approx(500)
