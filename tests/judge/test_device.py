"""Is anybody at work on the device? Going by looks whose times the test gives."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from grader.judge import device

ALONE, BUSY = 0.05e-3, 2e-3


@pytest.fixture(autouse=True)
def _seen_before(monkeypatch: pytest.MonkeyPatch) -> None:
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


def test_where_every_look_takes_long_the_quickest_is_what_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    looks(monkeypatch, BUSY, 1.5 * BUSY)
    assert not device.at_rest()
    monkeypatch.setattr(device, "_fastest", BUSY / 2)
    assert device.at_rest()
