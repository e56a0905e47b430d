"""Calibration files: written and read back, found by device, refused in one line, and brought into a result."""

import json
import os
import pickle
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from grader.course import calibration, catalogue
from grader.course.calibration import Calibration, CaseRatio, MeasuredRung
from grader.course.course import read_course
from grader.course.submission import find_submissions
from grader.errors import UserError
from grader.grading import grading, whole_class
from grader.grading.job import Job, read_job
from grader.grading.options import GradeOptions
from grader.home import ROOT
from grader.results.result import Interval, Performance, Rung
from tests.pages import samples

DEVICE = "NVIDIA H200"
ALL = catalogue.assignments()


def rung(name: str, ratio: float, title: str = "") -> MeasuredRung:
    interval = Interval(median=ratio, low=0.9 * ratio, high=1.1 * ratio)
    return MeasuredRung(name=name, title=title, ratio=interval, cases=[CaseRatio(case="8x8", ratio=interval)])


def made(device: str = DEVICE, **assignments: list[MeasuredRung]) -> Calibration:
    return Calibration(
        schema=calibration.SCHEMA, device=device, driver="570.1", torch="2.13.0", triton="3.6.0", kernelmark="0.1.0",
        measured_at="2026-03-04T05:06:07+00:00", command="kernelmark calibrate", assignments=assignments)


TAUGHT = {"transpose": ["reference", "V1 rows", "V2 tiles"]}
LADDER = [rung("reference", 3.5), rung("V1 rows", 0.5, "a program a row"), rung("V2 tiles", 3.1, "tiles")]


def test_a_file_is_read_as_it_was_written(tmp_path: Path) -> None:
    one = made(transpose=LADDER, silu=[rung("reference", 1.01)])
    path = tmp_path / "new" / f"{calibration.slug(DEVICE)}.json"
    assert calibration.prepare(path) is None
    calibration.write(one, path)
    assert path.name == "nvidia-h200.json" and calibration.prepare(path) == one
    # Nothing else was left beside it.
    assert list(path.parent.iterdir()) == [path]
    assert calibration.read_folder(path.parent) == (one,)


@pytest.mark.parametrize(("device", "slug"), [
    ("NVIDIA GeForce RTX 4090", "nvidia-geforce-rtx-4090"), ("../../etc/passwd", "etc-passwd"), ("名", "device")])
def test_a_slug_is_a_plain_file_name(device: str, slug: str) -> None:
    assert calibration.slug(device) == slug


def test_a_calibration_is_found_by_the_whole_name_of_its_device(tmp_path: Path) -> None:
    assert calibration.read_folder(tmp_path / "none") == ()
    both = made(), made("NVIDIA A100")
    assert calibration.find("NVIDIA A100", both) is both[1]
    assert calibration.find("NVIDIA H200 NVL", both) is None
    for name in ("a", "b"):
        calibration.write(made(), tmp_path / f"{name}.json")
    with pytest.raises(UserError, match=r"b\.json: of the device 'NVIDIA H200', as is a\.json; remove one"):
        calibration.read_folder(tmp_path)


def _put(*keys: str | int, to: object) -> Callable[[Any], None]:
    def change(data: Any) -> None:
        for key in keys[:-1]:
            data = data[key]
        data[keys[-1]] = to
    return change


BROKEN: dict[str, tuple[Callable[[Any], None], str]] = {
    "another schema": (_put("schema", to="kernelmark/calibration/v2"), "schema: "),
    "unknown key": (_put("line\nbreak", to=1), r"line\nbreak: "),
    "no device": (_put("device", to=""), "device: "),
    "no rungs": (_put("assignments", "transpose", to={"V1": 1}), "assignments.transpose: "),
    "zero": (_put("assignments", "transpose", 1, "ratio", "low", to=0.0),
             "assignments.transpose.1.ratio: expected 0 < low ≤ median ≤ high"),
    "upside down": (_put("assignments", "transpose", 0, "ratio", "median", to=99),
                    "assignments.transpose.0.ratio: expected 0 < low ≤ median ≤ high"),
    "not a number": (_put("assignments", "transpose", 1, "ratio", "high", to=float("nan")),
                     "assignments.transpose.1.ratio: "),
    "no case": (_put("assignments", "transpose", 2, "cases", to=[]), "assignments.transpose.2.cases: "),
}


@pytest.mark.parametrize(("change", "says"), BROKEN.values(), ids=BROKEN)
def test_a_broken_file_is_told_in_one_line(tmp_path: Path, change: Callable[[Any], None], says: str) -> None:
    data = json.loads(made(transpose=LADDER).model_dump_json(by_alias=True))
    change(data)
    path = tmp_path / "x.json"
    path.write_text(json.dumps(data))
    with pytest.raises(UserError) as info:
        calibration.read(path)
    output = str(info.value)
    assert output.startswith(f"{path}: {says}") and output.endswith(f"; {calibration.ADVICE}")
    assert len(output.splitlines()) == 1


@pytest.mark.parametrize("content", [b"", b"{", b"\xff\xfe", b"[" * 100_000, b"[]"])
def test_what_is_no_calibration_at_all_is_told_in_one_line(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "x.json"
    path.write_bytes(content)
    with pytest.raises(UserError) as info:
        calibration.read(path)
    assert str(info.value).startswith(f"{path}: ") and len(str(info.value).splitlines()) == 1


def test_a_file_that_cannot_be_is_told_before_anything_is_measured(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for place in (tmp_path / "file" / "x.json", Path("/proc/x.json")):
        with pytest.raises(UserError, match="choose a writable --out"):
            calibration.prepare(place)
    with pytest.raises(UserError, match=r"missing\.json: No such file or directory"):
        calibration.read(tmp_path / "missing.json")


def test_assignments_measured_earlier_stay_if_nothing_else_has_changed() -> None:
    earlier = made(silu=[rung("reference", 1.0)], transpose=[rung("reference", 2.0)])
    new = made(transpose=LADDER)
    assert calibration.joined(earlier, new, {}).assignments == {
        "silu": earlier.assignments["silu"], "transpose": LADDER}
    for other in ({"device": "NVIDIA A100"}, {"torch": "2.12.0"}, {"driver": ""}):
        assert calibration.joined(earlier.model_copy(update=other), new, TAUGHT) == new


@pytest.mark.parametrize(("now", "ladder"), [
    # Interrupted after the reference, as after each of the others before.
    (["reference"], {"reference": 9.0, "V1 rows": 0.5, "V2 tiles": 3.1}),
    # The second has failed.
    (["reference", "V2 tiles"], {"reference": 9.0, "V1 rows": 0.5, "V2 tiles": 9.0}),
    # The reference has.
    (["V1 rows", "V2 tiles"], {"reference": 3.5, "V1 rows": 9.0, "V2 tiles": 9.0}),
    (["reference", "V1 rows", "V2 tiles"], {"reference": 9.0, "V1 rows": 9.0, "V2 tiles": 9.0}),
])
def test_rungs_that_were_not_measured_again_stay_where_they_are_taught(
    now: list[str], ladder: dict[str, float]
) -> None:
    # One that the course has no more is not kept.
    earlier = made(transpose=[*LADDER, rung("V9 gone", 2.0)], silu=[rung("reference", 1.0)])
    found = calibration.joined(earlier, made(transpose=[rung(name, 9.0) for name in now]), TAUGHT)
    assert [(rung.name, rung.ratio) for rung in found.rungs("transpose")] == list(ladder.items())
    assert found.assignments["silu"] == earlier.assignments["silu"]


def test_a_rung_that_is_new_comes_where_it_is_taught() -> None:
    earlier = made(transpose=[LADDER[0], LADDER[2]])
    found = calibration.joined(earlier, made(transpose=[LADDER[1]]), TAUGHT)
    assert found.assignments["transpose"] == LADDER


def _job(*calibrations: Calibration) -> Job:
    course = read_course(ROOT / "course.toml", frozenset(ALL))
    (submission,) = find_submissions(ROOT / "reference", [a.file for a in ALL.values()])
    return read_job(submission, course, device="cuda", calibrations=calibrations)


@pytest.mark.parametrize(("device", "assignment", "ladder"), [
    (DEVICE, "transpose", [Rung(name="reference", ratio=3.5), Rung(name="V1 rows", title="a program a row", ratio=0.5),
                           Rung(name="V2 tiles", title="tiles", ratio=3.1)]),
    (DEVICE, "gemm", []),
    ("NVIDIA A100", "transpose", []),
])
def test_a_result_gets_the_ladder_of_its_assignment_and_device(
    monkeypatch: pytest.MonkeyPatch, device: str, assignment: str, ladder: list[Rung]
) -> None:
    # No GPU here: its name is all that is asked of it.
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda: device)
    job = _job(made(transpose=LADDER, silu=[rung("reference", 1.0)]))
    # A job travels to another process.
    job = pickle.loads(pickle.dumps(job))
    assert grading.performance_of(job, ALL[assignment], (), "wrong_answer").ladder == ladder
    assert grading.performance_of(replace(job, speed=False), ALL[assignment], (), "wrong_answer").ladder == []


def test_a_result_of_before_there_were_ladders_still_loads() -> None:
    data = json.loads(Performance(max_points=40).model_dump_json())
    del data["ladder"]
    assert Performance.model_validate(data).ladder == []


def test_a_grading_on_a_gpu_does_not_begin_with_a_broken_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(whole_class, "choose_device", lambda *_: ("cuda", samples.environment("NVIDIA H200")))
    monkeypatch.setattr(calibration, "folder", lambda: tmp_path / "calibration")
    (tmp_path / "calibration").mkdir()
    (tmp_path / "calibration" / "nvidia-h200.json").write_text("{")
    job = _job()
    with (
        pytest.raises(UserError, match=r"nvidia-h200\.json: Invalid JSON") as info,
        whole_class.planned(
            [job.submission], job.course, GradeOptions(tmp_path / "out", device="cuda", jobs=1, seed=1)),
    ):
        pass
    assert len(str(info.value).splitlines()) == 1


def test_the_files_that_are_shipped_can_be_read() -> None:
    shipped = sorted(path.name for path in calibration.folder().glob("*.json"))
    calibrations = calibration.read_folder()
    assert sorted(f"{calibration.slug(one.device)}.json" for one in calibrations) == shipped
    for one in calibrations:
        assert set(one.assignments) <= set(ALL) and not one.command.startswith(os.sep)
