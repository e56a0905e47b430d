"""Is anybody at work on the device? Going by looks whose times the test gives."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from grader.judge import device

ALONE, BUSY, BETWEEN = 0.05e-3, 2e-3, 0.2e-3


@pytest.fixture(autouse=True)
def _nothing_seen_yet(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(device, "_fastest", ALONE)


def looks(monkeypatch: pytest.MonkeyPatch, *seconds: float) -> Iterator[float]:
    """The times of the next looks; what is left of them tells how many there were."""
    left = iter(seconds)
    monkeypatch.setattr(device, "_look", lambda: next(left))
    return left


def test_quick_looks_in_a_row_are_quiet(monkeypatch: pytest.MonkeyPatch) -> None:
    # Who copies each way in turn leaves one look in some alone.
    left = looks(monkeypatch, BUSY, ALONE, ALONE, BUSY, ALONE, ALONE, ALONE, BUSY)
    assert device.LOOKS == 3 and device.quiet(10) and list(left) == [BUSY]


def test_work_that_goes_on_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(device, "_look", lambda: BUSY)
    assert not device.quiet(0.02)


@pytest.mark.parametrize(("seconds", "sharp", "rest"), [
    (ALONE, False, True), (ALONE, True, True), (BETWEEN, False, True), (BETWEEN, True, False), (BUSY, False, False)])
def test_a_sharp_look_lets_less_pass(monkeypatch: pytest.MonkeyPatch, seconds: float, sharp: bool, rest: bool) -> None:
    looks(monkeypatch, seconds)
    assert device.at_rest(sharp=sharp) is rest


def test_where_every_look_takes_long_the_quickest_is_what_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(device, "_fastest", 1e-3)
    looks(monkeypatch, 2.5e-3, 3.5e-3, 2.5e-3, 5.5e-3)
    assert [device.at_rest(sharp=True) for _ in range(2)] == [True, False]
    assert [device.at_rest() for _ in range(2)] == [True, False]
