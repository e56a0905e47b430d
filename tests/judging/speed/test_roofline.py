"""Which roof bounds a kernel, and how near it comes. Measuring needs a device."""

from dataclasses import replace

import pytest
import torch

from grader.course.assignment import Work
from grader.judging.speed import roofline
from grader.judging.speed.roofline import Roofline, RooflineError, fraction, measure_roofline, share
from tests.rows import each_row

ROOFS = Roofline(copy=4e12, matmul=7e14, pinned=5e10)
SQUARE = 8192 * 8192


@each_row(
    ("work", "seconds", "expected", "bound"),
    [
        (Work(bytes=8 * SQUARE), 8 * SQUARE / 4e12, 1.0, "device copy"),
        (Work(bytes=8 * SQUARE), 2 * 8 * SQUARE / 4e12, 0.5, "device copy"),
        (Work(bytes=6 * SQUARE, flop=2 * SQUARE * 8192), 2 * SQUARE * 8192 / 7e14 / 0.9, 0.9, "matrix product"),
        # At this K a product moves more than it computes.
        (Work(bytes=2 * SQUARE, flop=2 * SQUARE * 16), 2 * SQUARE / 4e12 / 0.8, 0.8, "device copy"),
        (Work(bytes=4 * 8192, host_bytes=4 * 8192), 4 * 8192 / 5e10 / 0.1, 0.1, "host to device"),
        (Work(bytes=8 * SQUARE), 8 * SQUARE / 4e12 / 1.5, 1.5, "device copy"),
    ],
)
def test_the_slowest_roof_bounds(work: Work, seconds: float, expected: float, bound: str) -> None:
    found, name = share(work, seconds, ROOFS)
    assert found == pytest.approx(expected) and name == bound


@pytest.mark.parametrize(("work", "seconds"), [(Work(), 1.0), (Work(bytes=1), 0.0), (Work(bytes=1), -1.0)])
def test_no_work_or_no_time_is_refused(work: Work, seconds: float) -> None:
    with pytest.raises(ValueError, match="needs some work"):
        share(work, seconds, ROOFS)


@pytest.mark.parametrize(
    ("seconds", "second", "expected", "times"),
    [
        # Of 2e12 bytes/s, half of what there is, since somebody was at work.
        (0.6, 4e12, 0.83, 1),
        (0.4, 4e12, 0.625, 2),
        # Somebody still is; and a kernel that is impossible stays so.
        (0.45, 1e12, 1.11, 2),
        (0.2, 4e12, 1.25, 2),
    ],
)
def test_a_roof_that_was_measured_too_low_makes_nobody_suspicious(
    monkeypatch: pytest.MonkeyPatch, seconds: float, second: float, expected: float, times: int
) -> None:
    measured: list[Roofline] = []

    def pretended() -> Roofline:
        measured.append(replace(ROOFS, copy=second if measured else 2e12))
        return measured[-1]

    monkeypatch.setattr(roofline, "latest", [])
    monkeypatch.setattr(roofline, "measure_roofline", pretended)
    found, _ = fraction(Work(bytes=10**12), seconds)
    assert found == pytest.approx(expected, abs=0.01) and len(measured) == times
    # What is measured again never lowers what the next are compared with.
    assert roofline.latest[0].copy == max(roofline.copy for roofline in measured)


def test_who_takes_the_memory_to_measure_with_stays_impossible(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuses() -> Roofline:
        raise RooflineError("too little free memory")

    monkeypatch.setattr(roofline, "latest", [ROOFS])
    monkeypatch.setattr(roofline, "measure_roofline", refuses)
    assert fraction(Work(bytes=10**12), 0.1)[0] == pytest.approx(2.5)


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a device")
def test_without_a_device_there_are_no_roofs() -> None:
    with pytest.raises(RooflineError, match="no CUDA device"):
        measure_roofline()
