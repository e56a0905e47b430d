"""Which of a submission's files are graded, and what is said of each of the others."""

import errno
import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from grader.classroom.intake.choose import NO_CELL
from grader.classroom.intake.main import taken_in
from tests.classroom.intake.made import OPTIONS, Files, by_folder, laid_out, notebook, source_of, take_in, whys, zipped

SILU, GEMM, NORM = source_of("silu"), source_of("gemm"), source_of("rmsnorm_vector")
STUB = 'def silu(x, out):\n    raise NotImplementedError("silu: not written yet")\n'
EXPECTED: dict[str, tuple[Files, dict[str, str], dict[str, str]]] = {
    "its own name before any other": (
        {"silu.py": SILU, "silu_old.py": "", "hw/silu.py": ""}, {"silu.py": "silu.py"},
        dict.fromkeys(["silu_old.py", "hw/silu.py"], "silu.py lies there under its own name")),
    "the one that can be meant": (
        {"hw/SiLU (1).py": SILU, "report.pdf": ""}, {"silu.py": "hw/SiLU (1).py"},
        {"report.pdf": "no assignment's file"}),
    "by what it defines": ({"work.py": SILU + GEMM}, {"silu.py": "work.py", "gemm.py": "work.py"}, {}),
    "the one that is least deep": (
        {"a/silu.py": SILU, "a/old/silu.py": "", "b.py": ""}, {"silu.py": "a/silu.py"},
        {"a/old/silu.py": "silu.py is taken from a/silu.py", "b.py": "no assignment's file"}),
    "two are one too many": (
        {"silu_a.py": SILU, "silu_b.py": SILU}, {},
        dict.fromkeys(["silu_a.py", "silu_b.py"], "one of 2 that seem to be meant for silu.py; silu.py expected")),
    "a notebook is told of what is missing": (
        {"silu.py": SILU, "rmsnorm_vector.py": NORM, "work.ipynb": "{}"},
        {"silu.py": "silu.py", "rmsnorm_vector.py": "rmsnorm_vector.py"},
        {"work.ipynb": "cannot be read as a notebook; gemm.py expected"}),
    "a notebook may be meant for many": (
        {"work.ipynb": notebook("x = 1")}, {}, {
            "work.ipynb": f"{NO_CELL}; silu.py, gemm.py, rmsnorm_vector.py expected"}),
    "cells of a notebook": (
        {"work.ipynb": notebook("import torch", f"%%kernelmark gemm\n{GEMM}", f"# mine\n{SILU}")},
        {"silu.py": "work.ipynb, code cell 3", "gemm.py": "work.ipynb, code cell 2"}, {}),
    "a file before a cell": (
        {"silu.py": SILU, "work.ipynb": notebook(SILU)}, {"silu.py": "silu.py"},
        {"work.ipynb, code cell 1": "silu.py lies there under its own name"}),
    "a cell before a stub": (
        {"silu.py": STUB, "hw/work.ipynb": notebook(SILU), "gemm.py": GEMM},
        {"silu.py": "hw/work.ipynb, code cell 1", "gemm.py": "gemm.py"},
        {"silu.py": "a stub; a file for silu.py lies beside it"}),
    "a stub before nothing": ({"silu.py": STUB, "kernels.ipynb": notebook(STUB)}, {"silu.py": "silu.py"}, {
        "kernels.ipynb": NO_CELL}),
    "two notebooks are one too many": (
        {"a.ipynb": notebook(SILU), "b.ipynb": notebook(SILU)}, {}, dict.fromkeys(
            ["a.ipynb, code cell 1", "b.ipynb, code cell 1"],
            "one of 2 that seem to be meant for silu.py; silu.py expected")),
    "tests are about a kernel, and none": ({"test_silu.py": SILU}, {}, {"test_silu.py": "no assignment's file"}),
    "what a system wrote": (
        {"silu.py": SILU, "__pycache__/gemm.py": GEMM, "._gemm.py": ""}, {"silu.py": "silu.py"},
        dict.fromkeys(["__pycache__/", "._gemm.py"], "hidden, installed, or written by a system")),
}


@pytest.mark.parametrize("packed", [False, True], ids=["folder", "archive"])
@pytest.mark.parametrize("what", EXPECTED)
def test_what_is_taken_and_why_the_rest_is_left(tmp_path: Path, what: str, packed: bool) -> None:
    files, taken, left = EXPECTED[what]
    if packed:
        laid_out(tmp_path / "all" / "ada", {"hw.zip": zipped(tmp_path / "hw.zip", files).read_bytes()})
    else:
        laid_out(tmp_path / "all" / "ada", files)
    manifest, written = take_in(tmp_path / "all")
    (entry,) = manifest.submissions
    inside = "hw.zip/" * packed
    assert entry.taken == {file: inside + name for file, name in taken.items()}
    assert {name: why.replace("from hw.zip/", "from ") for name, why in whys(entry).items()} == {
        inside + name: why for name, why in left.items()}
    for file, name in taken.items():
        assert written["ada"][file] == files.get(name, written["ada"][file])


def test_paths_that_no_system_takes_cost_their_owner_alone(tmp_path: Path) -> None:
    long = f"{'d' * 200}/" * 25
    laid_out(tmp_path / "all", {"ada/hw.zip": zipped(tmp_path / "hw.zip", {
        f"{long}gemm.py": GEMM, "silu.py": SILU}).read_bytes(), "bo/silu.py": SILU,
                                 "cy/silu.py": SILU, "di/silu.py": SILU})
    # One that can be read where it lies, and has no room where an intake works; one that cannot be named at all.
    room = 4_090 - len(os.fsencode(tmp_path / "all" / "cy"))
    laid_out(tmp_path / "all" / "cy", {f"{long[:room - 10].rpartition('/')[0]}/gemm.py": GEMM})
    at = os.open(tmp_path / "all" / "di", os.O_RDONLY)
    for name in long.split("/")[:-1]:
        os.mkdir(name, dir_fd=at)
        inner = os.open(name, os.O_RDONLY, dir_fd=at)
        os.close(at)
        at = inner
    os.close(at)
    (deep := tmp_path / ("w" * 200)).mkdir()
    with taken_in(tmp_path / "all", OPTIONS, deep) as (manifest, _):
        found = by_folder(manifest)
    assert {name: list(entry.taken) for name, entry in found.items()} == {
        name: ["silu.py"] for name in ("ada", "bo", "cy", "di")}
    assert set(whys(found["ada"]).values()) == set(whys(found["cy"]).values()) == {"has a name that is too long"}
    (problem,) = found["di"].problems
    assert problem.endswith(": File name too long; make the folder readable")


def test_a_folder_that_cannot_be_read_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Not by its mode, which root does not mind.
    laid_out(tmp_path / "all", {"ada/hw/closed/silu.py": SILU, "ada/gemm.py": GEMM, "bo/closed/silu.py": SILU})
    scandir = os.scandir

    def closed(path: str | int) -> Iterator[os.DirEntry[str]]:
        if str(path).endswith("/closed"):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), path)
        return scandir(path)

    monkeypatch.setattr(os, "scandir", closed)
    ada, bo = take_in(tmp_path / "all")[0].submissions
    assert ada.problems == ["hw/closed: Permission denied; make the folder readable"]
    assert bo.problems == ["closed: Permission denied; make the folder readable"]
    assert set(ada.taken) == {"gemm.py"} and not bo.taken
    manifest, _ = take_in(tmp_path / "all", replace(OPTIONS, pattern="(?P<id>[^/]+)/.+"))
    assert {file.name: file.why for file in manifest.left} == dict.fromkeys(
        ["ada/hw/closed", "bo/closed"], "cannot be read: Permission denied; make the folder readable")


def test_a_folder_of_a_files_name_costs_nobody_anything(tmp_path: Path) -> None:
    # The notebook seems to be meant for gemm.py, and its folder has the name of what is taken from another.
    laid_out(tmp_path / "all", {"ada/silu.py/gemm.ipynb": "{}", "ada/hw/silu.py": SILU, "bo/silu.py": SILU})
    manifest, written = take_in(tmp_path / "all")
    assert written == {"ada": {"silu.py": SILU}, "bo": {"silu.py": SILU}}
    assert whys(manifest.submissions[0]) == {"silu.py/gemm.ipynb": "cannot be read as a notebook; gemm.py expected"}


def test_an_archive_is_told_of_once(tmp_path: Path) -> None:
    nothing = zipped(tmp_path / "hw.zip", {}).read_bytes()
    laid_out(tmp_path / "all", {"ada/hw.zip": nothing, "bo/hw.zip": b"PK\3\4 no"})
    manifest, written = take_in(tmp_path / "all")
    ada, bo = manifest.submissions
    assert whys(ada) == {"hw.zip": "an archive that holds no file"} and not ada.problems
    assert not bo.left and len(bo.problems) == 1 and bo.problems[0].startswith("hw.zip: is damaged")
    # Its report names it.
    assert list(written["bo"]) == ["hw.zip"]
