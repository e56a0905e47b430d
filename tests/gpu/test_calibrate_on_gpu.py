"""What `kernelmark calibrate` writes, measured on a real GPU on cases of its own."""

import tomllib
from pathlib import Path

import pytest
import torch
from typer.testing import CliRunner

from grader.commands.cli import app
from grader.course import calibration, catalogue
from grader.course.assignment import Assignment
from grader.course.cases import TimedCase
from grader.course.course import read_course
from grader.grading import calibrate
from grader.grading.calibrate import RungTimes, UnmeasuredRung
from grader.home import ROOT

pytestmark = [pytest.mark.gpu, pytest.mark.alone]

ALL = catalogue.assignments()
CASE = TimedCase(name="480x640", sizes={"M": 480, "N": 640})


def small(name: str, **changes: object) -> Assignment:
    return ALL[name].model_copy(update={"timed": (CASE,), **changes})


@pytest.fixture(autouse=True)
def _small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(catalogue, "assignments", lambda root=ROOT: {
        **ALL, "silu": small("silu"), "transpose": small("transpose")})


def test_the_table_proposed_is_one_that_course_toml_takes() -> None:
    course = read_course(ROOT / "course.toml", frozenset(ALL))
    (found,) = calibrate.calibrate(["silu"], course)
    assert isinstance(found, RungTimes) and found.rung.name == "reference"
    ratio = found.rung.ratio
    assert ratio.median == pytest.approx(found.timings[0].speedup.median)
    assert [case.case for case in found.rung.cases] == ["480x640"]
    read = tomllib.loads(calibrate.table([found]))["thresholds"]["assignments"]["silu"]
    threshold = calibrate.proposal(ratio.median)
    assert read == {"floor": threshold.floor, "target": threshold.target}
    assert 0 < read["floor"] < read["target"] <= 0.7 * ratio.median


def test_a_stage_that_fails_is_told_and_the_others_are_measured(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    good = ROOT / "reference" / "silu.py"
    (tmp_path / "broken.py").write_text("def silu(x, out):\n    raise ValueError('no')\n")
    sources = {"V1 broken": tmp_path / "broken.py", "V2 missing": tmp_path / "missing.py", "V3 good": good}
    monkeypatch.setattr(calibrate, "rungs_of", lambda assignment: [
        calibrate.RungSource(name, "", source) for name, source in sources.items()])
    course = read_course(ROOT / "course.toml", frozenset(ALL))
    broken, missing, measured = calibrate.calibrate(["silu"], course)
    assert isinstance(broken, UnmeasuredRung) and broken.message.startswith(f"{tmp_path}/broken.py, 480x640: ")
    assert "ValueError: no" in broken.message and len(broken.message.splitlines()) == 1
    expected = "No such file or directory; restore the course's kernel"
    assert missing == UnmeasuredRung("silu", f"{tmp_path}/missing.py: {expected}")
    assert isinstance(measured, RungTimes) and measured.rung.name == "V3 good"


def test_the_command_writes_its_file_and_adds_to_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(calibration, "folder", lambda: tmp_path)
    path = tmp_path / f"{calibration.slug(torch.cuda.get_device_name())}.json"

    result = CliRunner().invoke(app, ["calibrate", "--only", "silu"])
    assert result.exit_code == 0, result.output
    assert "silu 480x640: " in result.output and "[thresholds.assignments.silu]" in result.output
    silu = calibration.read(path)
    assert list(silu.assignments) == ["silu"] and silu.command == "kernelmark calibrate --only silu"

    monkeypatch.setattr(calibrate, "rungs_of", lambda assignment: [
        calibrate.RungSource("reference", "", ROOT / "reference" / assignment.file),
        calibrate.RungSource("V1 missing", "", tmp_path / "none.py")])
    result = CliRunner().invoke(app, ["calibrate", "--only", "transpose"])
    assert result.exit_code == 3 and "none.py: No such file or directory" in result.output
    both = calibration.read(path)
    assert both.assignments["silu"] == silu.assignments["silu"]
    assert [rung.name for rung in both.assignments["transpose"]] == ["reference"]

    # A stage that fails keeps what it reached earlier, in its place.
    reference, stage = both.assignments["transpose"][0], calibrate.rungs_of(ALL["transpose"])[1].name
    was = reference.model_copy(update={"name": stage})
    calibration.write(both.model_copy(update={"assignments": {"transpose": [reference, was]}}), path)
    result = CliRunner().invoke(app, ["calibrate", "--only", "transpose"])
    assert result.exit_code == 3
    rungs = calibration.read(path).assignments["transpose"]
    assert [rung.name for rung in rungs] == ["reference", stage] and rungs[0] != reference and rungs[1] == was

    other = tmp_path / "other.json"
    result = CliRunner().invoke(app, ["calibrate", "--only", "transpose", "--no-stages", "--out", str(other)])
    assert result.exit_code == 0 and list(calibration.read(other).assignments) == ["transpose"]

    path.write_text("{")
    result = CliRunner().invoke(app, ["calibrate", "--only", "silu"])
    assert result.exit_code == 2 and "Invalid JSON" in result.output and path.read_text() == "{"


def test_a_reference_that_is_wrong_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.py"
    text = (ROOT / "examples" / "class" / "alice" / "silu.py").read_text()
    wrong.write_text(text.replace("tl.exp(", "1.001 * tl.exp("))
    assert wrong.read_text() != text
    monkeypatch.setattr(calibrate, "rungs_of", lambda assignment: [calibrate.RungSource("reference", "", wrong)])
    course = read_course(ROOT / "course.toml", frozenset(ALL))
    (trouble,) = calibrate.calibrate(["silu"], course)
    assert isinstance(trouble, UnmeasuredRung) and trouble.message.startswith(f"{wrong}, 480x640: In a timed call ")
