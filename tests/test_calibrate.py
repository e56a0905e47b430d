"""What the reference and the stages reach, and what follows; by the real clock, on a CPU with cases of its own."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest
import torch
from typer.testing import CliRunner

from grader import calibrate, calibration, catalogue
from grader.assignment import Assignment, TimedCase
from grader.calibrate import Found, Trouble
from grader.catalogue import ROOT
from grader.cli import app
from grader.course import read_course
from grader.judge import speed
from grader.judge.session import Session

ALL = catalogue.assignments()
CASE = TimedCase(name="48x64", sizes={"M": 48, "N": 64})
STAGES = ["reference", "V0 torch", "V1 rowwise", "V2 writes", "V3 tiled", "V4 tuned"]


def small(name: str, **changes: object) -> Assignment:
    return ALL[name].model_copy(update={"timed": (CASE,), **changes})


@pytest.fixture
def _small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(speed, "MOST_SLOTS", speed.FEWEST_SLOTS)
    monkeypatch.setattr(catalogue, "assignments", lambda root=ROOT: {
        **ALL, "silu": small("silu"), "transpose": small("transpose")})


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[Session]:
    """The sessions of the kernels that are measured, as they are opened."""
    found: list[Session] = []

    class Noted(Session):
        def __post_init__(self) -> None:
            found.append(self)
            super().__post_init__()

    monkeypatch.setattr(calibrate, "Session", Noted)
    return found


@pytest.mark.usefixtures("_small")
def test_the_table_proposed_is_one_that_course_toml_takes() -> None:
    course = read_course(ROOT / "course.toml", frozenset(ALL))
    (found,) = calibrate.calibrate(["silu"], course, "cpu")
    assert isinstance(found, Found) and found.rung.name == "reference"
    ratio = found.rung.ratio
    assert ratio.median == pytest.approx(found.timings[0].speedup.median)
    assert [case.case for case in found.rung.cases] == ["48x64"]
    read = tomllib.loads(calibrate.table([found]))["thresholds"]["assignments"]["silu"]
    threshold = calibrate.proposal(ratio.median)
    assert read == {"floor": threshold.floor, "target": threshold.target}
    assert 0 < read["floor"] < read["target"] <= 0.7 * ratio.median


@pytest.mark.usefixtures("_small")
def test_every_stage_is_measured_and_the_file_holds_them(tmp_path: Path, opened: list[Session]) -> None:
    course = read_course(ROOT / "course.toml", frozenset(ALL))
    found = [one for one in calibrate.calibrate(["transpose"], course, "cpu") if isinstance(one, Found)]
    assert [one.rung.name for one in found] == STAGES
    # Each by its own file: on a busy machine the times do not tell them apart.
    assert [session.source for session in opened] == [
        rung.source.read_bytes() for rung in calibrate.rungs_of(ALL["transpose"])]
    ratios = {one.rung.name: one.rung.ratio.median for one in found}
    calibration.write(calibrate.gathered(found, "cpu", "kernelmark calibrate --only transpose"), tmp_path / "cpu.json")
    (one,) = calibration.read_folder(tmp_path)
    assert one.device == "cpu" and one.torch and one.triton and one.command.endswith("--only transpose")
    assert {rung.name: rung.ratio for rung in one.rungs("transpose")} == pytest.approx(ratios)
    # The stages have no say in what a course asks for.
    assert calibrate.table(found) == calibrate.table(found[:1])


def test_each_stage_of_the_course_says_what_it_teaches() -> None:
    for name, ladder in (("transpose", STAGES), ("gemm", None), ("silu", ["reference"])):
        rungs = calibrate.rungs_of(ALL[name])
        assert [rung.name for rung in rungs] == (ladder or [rung.name for rung in rungs])
        assert all(rung.title and rung.source.is_file() for rung in rungs)
        assert len({rung.title for rung in rungs}) == len(rungs)
    titles = {rung.name: rung.title for rung in calibrate.rungs_of(ALL["gemm"])}
    assert titles["V0 torch"] == "`torch.mm`" and "tl.dot" in titles["V2 tiled"]


def test_stages_are_in_the_order_of_their_numbers(tmp_path: Path) -> None:
    stages = tmp_path / "reference" / "stages"
    for name in ("v10_last", "v2_next", "v1_first", "__pycache__", "vx"):
        (stages / "silu" / name).mkdir(parents=True)
    (stages / "README.md").write_text(
        "# x\n\n## Another\n| `v1_first` | not this | y |\n\n## SiLU\n| stage | idea |\n| `v1_first` | this | y |\n")
    assert [(rung.name, rung.title) for rung in calibrate.rungs_of(ALL["silu"], tmp_path)[1:]] == [
        ("V1 first", "this"), ("V2 next", ""), ("V10 last", "")]


@pytest.mark.usefixtures("_small")
def test_a_stage_that_fails_is_told_and_the_others_are_measured(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    good = ROOT / "reference" / "silu.py"
    (tmp_path / "broken.py").write_text("def silu(x, out):\n    raise ValueError('no')\n")
    sources = {"V1 broken": tmp_path / "broken.py", "V2 missing": tmp_path / "missing.py", "V3 good": good}
    monkeypatch.setattr(calibrate, "rungs_of", lambda assignment: [
        calibrate.Rung(name, "", source) for name, source in sources.items()])
    course = read_course(ROOT / "course.toml", frozenset(ALL))
    broken, missing, measured = calibrate.calibrate(["silu"], course, "cpu")
    assert isinstance(broken, Trouble) and broken.message.startswith(f"{tmp_path}/broken.py, 48x64: ")
    assert "ValueError: no" in broken.message and len(broken.message.splitlines()) == 1
    assert missing == Trouble("silu", f"{tmp_path}/missing.py: No such file or directory")
    assert isinstance(measured, Found) and measured.rung.name == "V3 good"


@pytest.mark.usefixtures("_small")
def test_the_command_writes_its_file_and_adds_to_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    # No GPU here: the command measures on the CPU instead.
    monkeypatch.setattr("grader.judge.device.no_gpu", lambda: "")
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda: "Test GPU 1")
    monkeypatch.setattr(calibration, "FOLDER", tmp_path)
    measure, gather = calibrate.calibrate, calibrate.gathered
    monkeypatch.setattr(calibrate, "calibrate", lambda names, course, stages: measure(names, course, "cpu", stages))
    monkeypatch.setattr(calibrate, "gathered", lambda found, device, command: gather(found, "cpu", command))
    path = tmp_path / "test-gpu-1.json"

    done = CliRunner().invoke(app, ["calibrate", "--only", "silu"])
    assert done.exit_code == 0, done.output
    assert "silu 48x64: " in done.output and "[thresholds.assignments.silu]" in done.output
    silu = calibration.read(path)
    assert list(silu.assignments) == ["silu"] and silu.command == "kernelmark calibrate --only silu"

    monkeypatch.setattr(calibrate, "rungs_of", lambda assignment: [
        calibrate.Rung("reference", "", ROOT / "reference" / assignment.file),
        calibrate.Rung("V1 missing", "", tmp_path / "none.py")])
    done = CliRunner().invoke(app, ["calibrate", "--only", "transpose"])
    assert done.exit_code == 3 and "none.py: No such file or directory" in done.output
    both = calibration.read(path)
    assert both.assignments["silu"] == silu.assignments["silu"]
    assert [rung.name for rung in both.assignments["transpose"]] == ["reference"]

    # A stage that fails keeps what it reached earlier, in its place.
    reference, stage = both.assignments["transpose"][0], calibrate.rungs_of(ALL["transpose"])[1].name
    was = reference.model_copy(update={"name": stage})
    calibration.write(both.model_copy(update={"assignments": {"transpose": [reference, was]}}), path)
    done = CliRunner().invoke(app, ["calibrate", "--only", "transpose"])
    assert done.exit_code == 3
    found = calibration.read(path).assignments["transpose"]
    assert [rung.name for rung in found] == ["reference", stage] and found[0] != reference and found[1] == was

    other = tmp_path / "other.json"
    done = CliRunner().invoke(app, ["calibrate", "--only", "transpose", "--no-stages", "--out", str(other)])
    assert done.exit_code == 0 and list(calibration.read(other).assignments) == ["transpose"]

    path.write_text("{")
    done = CliRunner().invoke(app, ["calibrate", "--only", "silu"])
    assert done.exit_code == 2 and "Invalid JSON" in done.output and path.read_text() == "{"


@pytest.mark.usefixtures("_small")
def test_all_cases_of_a_kernel_are_measured_in_one_worker(
    monkeypatch: pytest.MonkeyPatch, opened: list[Session]
) -> None:
    cases = (CASE, CASE.model_copy(update={"name": "16x32", "sizes": {"M": 16, "N": 32}}))
    monkeypatch.setattr(catalogue, "assignments", lambda root=ROOT: {"silu": small("silu", timed=cases)})
    course = read_course(ROOT / "course.toml", frozenset(ALL))
    (found,) = calibrate.calibrate(["silu"], course, "cpu", stages=False)
    assert isinstance(found, Found) and [timing.case for timing in found.timings] == ["48x64", "16x32"]
    assert len(opened) == 1 and opened[0].over


@pytest.mark.parametrize(("ratio", "floor", "target"), [(1.0, 0.17, 0.7), (3.5, 0.6, 2.4), (0.0213, 0.0035, 0.014)])
def test_a_proposal_has_two_digits_and_is_never_harder_than_its_share(
    ratio: float, floor: float, target: float
) -> None:
    proposed = calibrate.proposal(ratio)
    assert [proposed.floor, proposed.target] == pytest.approx([floor, target])


@pytest.mark.usefixtures("_small")
def test_a_reference_that_is_wrong_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    wrong = small("silu", tolerance=lambda inputs, expected: 0 * expected)
    monkeypatch.setattr(catalogue, "assignments", lambda root=ROOT: {"silu": wrong})
    course = read_course(ROOT / "course.toml", frozenset(ALL))
    assert list(calibrate.calibrate(["silu"], course, "cpu", stages=False)) == [
        Trouble("silu", "reference/silu.py, 48x64: a timed call's values is wrong")]
