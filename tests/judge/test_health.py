"""What is said of a machine, and when it is unfit, from snapshots made by hand. Reading a device: test_roofs_gpu.py."""

from __future__ import annotations

from dataclasses import replace

import pytest

from grader.judge.health import REASONS, UNFIT_REASONS, Neighbour, Snapshot, describe, named, others, take, unfit

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
        "Whether other processes use the GPU cannot be told here.",
        "The driver gives no clocks, temperature or power.",
    ]
    assert unfit(Snapshot()) is None


@pytest.mark.parametrize(("bit", "reason"), REASONS.items())
def test_every_reason_has_its_name_and_slowdowns_are_unfit(bit: int, reason: str) -> None:
    assert named(bit) == (reason,)
    found = replace(CALM, reasons=named(bit))
    if bit in (0x8, 0x20, 0x40, 0x80):
        assert unfit(found) == f"The GPU is slowed down by {reason}." == describe(CALM, found)[0]
        assert describe(found, CALM)[0] == unfit(found)
    else:
        assert unfit(found) is None
        assert describe(CALM, found) == ([FIGURES] if bit == 1 else [f"The clocks were held by {reason}.", FIGURES])


def test_a_mask_names_every_bit_of_it_known_or_not() -> None:
    assert named(0) == ()
    assert named(0x5) == ("idle", "the power limit")
    assert named(0x8004) == ("the power limit", "reason 0x8000")
    both = replace(CALM, reasons=named(0x60))
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
    assert others([], [7], {}) == ()
    assert others([7], [7], {7: 90}) == ()
    assert others([9, 7, 8], [7], {9: 30}) == (Neighbour(8, 0), Neighbour(9, 30))
    assert others([9], [], {}) == (Neighbour(9, 0),)
    assert others([9, 7], [7], None) == (Neighbour(9, None),)
    # Ours must be among them and is not: another pid namespace numbered them.
    assert others([100_009, 100_010], [7], {100_009: 50}) is None


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
