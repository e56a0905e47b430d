"""What is said of a machine, when it is unfit, and when a baseline counts as slow: from figures made by hand."""

import math
from dataclasses import replace

import pytest

from grader.judging.speed.fitness import (
    FEWEST_FIGURES,
    REASONS,
    RECENT,
    UNFIT_REASONS,
    Drift,
    Figure,
    Neighbour,
    Snapshot,
    describe,
    figure,
    other_processes,
    reasons_of,
    take,
    unfit,
    unsteady,
)
from tests.rows import each_row

KEY = ("silu", "8192x8192")

CALM = Snapshot(
    sm_mhz=1980, sm_max_mhz=1980, memory_mhz=3201, celsius=45, watts=420.4, limit_watts=700, reasons=(), neighbours=()
)
FIGURES = "SM clock 1980 of at most 1980 MHz, memory clock 3201 MHz, 45 °C, 420 of at most 700 W."
ABSENT = Snapshot(unavailable="nvidia-ml-py is not installed")


def test_a_device_that_is_not_there_is_said_and_fails_nothing() -> None:
    found = take("GPU-00000000-0000-0000-0000-000000000000", ours={1})
    assert found.unavailable and found.sm_mhz is None and found.neighbours is None
    assert unfit(found) is None
    assert describe(found, found) == [f"The GPU's clocks and temperature could not be watched: {found.unavailable}."]


def test_a_calm_machine_gives_its_figures_and_nothing_else() -> None:
    assert unfit(CALM) is None
    assert describe(CALM, CALM) == [FIGURES]


@pytest.mark.parametrize("before_is_absent", [True, False])
def test_one_snapshot_missing_leaves_nothing_to_compare(before_is_absent: bool) -> None:
    (sentence,) = describe(ABSENT, CALM) if before_is_absent else describe(CALM, ABSENT)
    assert "nvidia-ml-py is not installed" in sentence


def test_a_driver_that_says_nothing_is_not_taken_for_a_calm_one() -> None:
    assert describe(Snapshot(), Snapshot()) == [
        "The grader cannot tell here whether other processes use the GPU.",
        "The driver gives no clocks, temperature or power.",
    ]
    assert unfit(Snapshot()) is None


@each_row(("bit", "reason"), REASONS.items())
def test_every_reason_has_its_name_and_slowdowns_are_unfit(bit: int, reason: str) -> None:
    assert reasons_of(bit) == (reason,)
    snapshot = replace(CALM, reasons=reasons_of(bit))
    if bit in (0x8, 0x20, 0x40, 0x80):
        assert unfit(snapshot) == f"The GPU is slowed down by {reason}." == describe(CALM, snapshot)[0]
        assert describe(snapshot, CALM)[0] == unfit(snapshot)
    else:
        assert unfit(snapshot) is None
        assert describe(CALM, snapshot) == ([FIGURES] if bit == 1 else [f"The clocks were held by {reason}.", FIGURES])


def test_a_mask_names_every_bit_of_it_known_or_not() -> None:
    assert reasons_of(0) == ()
    assert reasons_of(0x5) == ("idle", "the power limit")
    assert reasons_of(0x8004) == ("the power limit", "reason 0x8000")
    both = replace(CALM, reasons=reasons_of(0x60))
    assert unfit(both) == "The GPU is slowed down by heat (driver) and heat (hardware)."
    assert set(both.reasons or ()) <= UNFIT_REASONS


def test_neighbours_that_compute_are_unfit_and_idle_ones_are_said() -> None:
    busy = replace(CALM, neighbours=(Neighbour(41, 0), Neighbour(42, 97), Neighbour(43)))
    sentence = "Other processes compute on the GPU: pid 42 (97 % of the time) and pid 43 (use unknown)."
    assert unfit(busy) == sentence
    assert describe(CALM, busy) == [
        sentence, "Other processes hold the GPU without computing: pid 41.", FIGURES
    ]
    assert unfit(replace(CALM, neighbours=(Neighbour(41, 0),))) is None


def test_who_is_a_neighbour() -> None:
    assert other_processes([], [7], {}) == ()
    assert other_processes([7], [7], {7: 90}) == ()
    assert other_processes([9, 7, 8], [7], {9: 30}) == (Neighbour(8, 0), Neighbour(9, 30))
    assert other_processes([9], [], {}) == (Neighbour(9, 0),)
    assert other_processes([9, 7], [7], None) == (Neighbour(9, None),)
    # Ours must be among them and is not: another pid namespace numbered them.
    assert other_processes([100_009, 100_010], [7], {100_009: 50}) is None


def test_a_falling_clock_and_a_warming_device_are_said() -> None:
    hot = replace(CALM, sm_mhz=1485, memory_mhz=1600, celsius=60)
    found = describe(CALM, hot)
    assert found[:3] == [
        "The SM clock fell from 1980 to 1485 MHz, by 25 %.",
        "The memory clock fell from 3201 to 1600 MHz, by 50 %.",
        "The GPU warmed up from 45 to 60 °C.",
    ]
    assert len(found) == 4
    # A little less clock or a little warmer is a machine at work.
    assert len(describe(CALM, replace(CALM, sm_mhz=1900, celsius=59))) == 1
    assert len(describe(hot, CALM)) == 1


def test_an_idle_clock_is_not_compared() -> None:
    idle = replace(CALM, sm_mhz=345, reasons=("idle",))
    assert [s for s in describe(CALM, idle) if "fell" in s] == []
    assert [s for s in describe(replace(CALM, reasons=("idle",)), replace(CALM, sm_mhz=345)) if "fell" in s] == []


def known(*seconds: float, spread: float = 0.0) -> Drift:
    drift = Drift(fewest=1)
    for one in seconds:
        drift.record(*KEY, Figure(one, spread))
    return drift


def test_without_an_earlier_figure_nothing_is_odd() -> None:
    drift = known()
    assert drift.odd(*KEY, 1.0) is None
    drift.record(*KEY, Figure(1e-6, 0.0))
    for other in (("gemm", "8192x8192"), ("silu", "4096x4096")):
        assert drift.odd(*other, 1.0) is None


def test_with_few_figures_the_first_may_be_the_wrong_one() -> None:
    drift = Drift()
    for _ in range(FEWEST_FIGURES):
        assert drift.odd(*KEY, 1.0) is None
        drift.record(*KEY, Figure(100e-6, 0.0))
    assert drift.odd(*KEY, 123e-6) is not None


def test_both_figures_are_told() -> None:
    drift = known(100e-6)
    assert drift.odd(*KEY, 109.9e-6) is None
    assert drift.odd(*KEY, 123e-6) == (
        "The baseline of silu took 123 µs a call on 8192x8192, 23% longer than the 100 µs that it took here before.")


def test_faster_is_never_odd_and_counts_from_then_on() -> None:
    drift = known(100e-6)
    assert drift.odd(*KEY, 1e-6) is None
    drift.record(*KEY, Figure(80e-6, 0.0))
    assert drift.odd(*KEY, 100e-6) is not None


@each_row("place", range(4))
@each_row("bad", [20e-6, 500e-6])
def test_one_bad_figure_among_several_decides_nothing(bad: float, place: int) -> None:
    figures = [100e-6, 101e-6, 99e-6]
    drift = known(*figures[:place], bad, *figures[place:])
    assert drift.odd(*KEY, 105e-6) is None
    assert drift.odd(*KEY, 120e-6) is not None


def test_a_slow_figure_and_a_right_one_make_the_right_one_count() -> None:
    assert known(500e-6, 100e-6).odd(*KEY, 120e-6) is not None
    assert known(100e-6, 500e-6).odd(*KEY, 120e-6) is not None


def test_a_machine_that_warms_up_over_a_class_is_followed_and_a_leap_is_not() -> None:
    drift = known()
    seconds = 100e-6
    for _ in range(60):
        assert drift.odd(*KEY, seconds) is None
        drift.record(*KEY, Figure(seconds, 0.0))
        seconds *= 1.01
    assert seconds > 180e-6
    assert drift.odd(*KEY, 1.2 * seconds) is not None


def test_a_drift_as_steep_as_a_hog_is_not_followed() -> None:
    drift, seconds, steps = known(*[100e-6] * RECENT), 100e-6, 0
    while drift.odd(*KEY, seconds) is None:
        drift.record(*KEY, Figure(seconds, 0.0))
        seconds *= 1.06
        steps += 1
    assert steps < 4


def test_a_baseline_that_scatters_may_be_slower_by_its_scatter() -> None:
    assert known(100e-6, spread=5e-6).odd(*KEY, 119e-6) is None
    assert known(100e-6, spread=5e-6).odd(*KEY, 121e-6) is not None
    one_wild = known(100e-6, 100e-6)
    one_wild.record(*KEY, Figure(100e-6, 90e-6))
    assert one_wild.odd(*KEY, 121e-6) is not None


def test_a_baseline_that_is_faster_in_one_minute_than_in_the_next_may_be_slower_by_that() -> None:
    assert known(50e-6, 68e-6, 55e-6, 70e-6, 52e-6).odd(*KEY, 75e-6) is None
    assert known(50e-6, 68e-6, 55e-6, 70e-6, 52e-6).odd(*KEY, 110e-6) is not None
    assert known(50e-6, 68e-6, 50e-6, 51e-6, 50e-6).odd(*KEY, 75e-6) is not None


def test_a_machine_that_has_changed_for_good_is_believed_once_most_figures_say_so() -> None:
    drift = known(*[100e-6] * RECENT)
    refused = 0
    while drift.odd(*KEY, 150e-6) is not None:
        drift.record(*KEY, Figure(150e-6, 0.0))
        refused += 1
    assert refused == RECENT // 2 + 1
    # A first figure that was too good holds up two measurements, and no more.
    assert known(100e-6, 150e-6).odd(*KEY, 150e-6) is not None
    assert known(100e-6, 150e-6, 150e-6).odd(*KEY, 150e-6) is None


def test_a_figure_is_the_middle_and_how_far_replays_lie_from_it() -> None:
    found = figure([1.0, 1.1, 0.9, 5.0, 1.0])
    assert found.seconds == 1.0 and found.spread == pytest.approx(0.1)
    for wrong in ([], [1.0, 0.0], [math.nan], [math.inf]):
        with pytest.raises(ValueError, match="positive, finite times"):
            figure(wrong)


def test_a_baseline_that_wavers_is_told() -> None:
    assert unsteady(Figure(100e-6, 4e-6)) is None
    assert unsteady(Figure(100e-6, 20e-6)) == "The baseline's time varied by 20% from one replay to the next."
