"""Thresholds from what the reference reaches; measured by the real clock, here on a CPU with cases of its own."""

from __future__ import annotations

import tomllib

import pytest

from grader import calibrate, catalogue
from grader.assignment import TimedCase
from grader.catalogue import ROOT
from grader.course import read_course
from grader.judge import speed
from grader.judge.zygote import InfrastructureError

ALL = catalogue.assignments()


@pytest.fixture
def _small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(speed, "MOST_SLOTS", speed.FEWEST_SLOTS)
    silu = ALL["silu"].model_copy(update={"timed": (TimedCase(name="48x64", sizes={"M": 48, "N": 64}),)})
    monkeypatch.setattr(catalogue, "assignments", lambda root=ROOT: {**ALL, "silu": silu})


@pytest.mark.usefixtures("_small")
def test_the_table_proposed_is_one_that_course_toml_takes() -> None:
    course = read_course(ROOT / "course.toml", frozenset(ALL))
    (found,) = calibrate.calibrate(["silu"], course, "cpu")
    assert found.ratio.median == pytest.approx(found.timings[0].speedup.median)
    read = tomllib.loads(calibrate.table([found]))["thresholds"]["assignments"]["silu"]
    assert read == {"floor": found.threshold.floor, "target": found.threshold.target}
    assert 0 < read["floor"] < read["target"] <= 0.7 * found.ratio.median


@pytest.mark.parametrize(("ratio", "floor", "target"), [(1.0, 0.17, 0.7), (3.5, 0.6, 2.4), (0.0213, 0.0035, 0.014)])
def test_a_proposal_has_two_digits_and_is_never_harder_than_its_share(
    ratio: float, floor: float, target: float
) -> None:
    proposed = calibrate.proposal(ratio)
    assert [proposed.floor, proposed.target] == pytest.approx([floor, target])


@pytest.mark.usefixtures("_small")
def test_a_reference_that_is_wrong_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    wrong = ALL["silu"].model_copy(update={
        "timed": (TimedCase(name="48x64", sizes={"M": 48, "N": 64}),),
        "tolerance": lambda inputs, expected: 0 * expected})
    monkeypatch.setattr(catalogue, "assignments", lambda root=ROOT: {"silu": wrong})
    course = read_course(ROOT / "course.toml", frozenset(ALL))
    with pytest.raises(InfrastructureError, match=r"reference/silu\.py, 48x64: a timed call's values is wrong"):
        list(calibrate.calibrate(["silu"], course, "cpu"))
