"""Which files of a folder are the assignments', and which seem to be meant for them."""

import json
import os
import re
import shutil
from pathlib import Path

import pytest

from grader.course import workspace
from grader.course.catalogue import files
from grader.course.course import Course, read_course
from grader.errors import UserError
from grader.grading.job import read
from grader.home import ROOT
from tests.classroom.intake.made import notebook
from tests.command import SILU
from tests.rows import each_row

TAUGHT = read_course(ROOT / "course.toml", frozenset(files())).select(files(), ())

NAMES = {
    "SiLU.py": "silu", "silu (1).py": "silu", "gemm_final.py": "gemm", "GEMM2.py": "gemm", "my-silu.PY": "silu",
    "RMSNormMatrix.py": "rmsnorm_matrix", "rmsnorm matrix v2.py": "rmsnorm_matrix", "silu.py.txt": "silu",
    "Transpose.ipynb": "transpose", "copyFirstColumn.py": "copy_first_column", "test_silu.py": None,
    "silu_benchmark.py": None, "silu.pyc": None, "swisilux.py": None, ".silu.py": None, "utils.py": None,
}


@each_row(("file", "name"), NAMES.items(), ids=NAMES)
def test_which_assignment_a_name_means(file: str, name: str | None) -> None:
    assert workspace.meant_assignment(file, files()) == name


def test_a_file_says_itself_what_it_is_for(tmp_path: Path) -> None:
    path = tmp_path / "homework.py"
    path.write_text(SILU)
    found = workspace.find(path, files(), TAUGHT, named=False)
    assert found.files == {"silu": path} and not found.complete
    assert found.lines == ["Found homework.py; silu.py expected."]
    in_cuda = tmp_path / "rmsnorm_matrix.cu"
    in_cuda.write_text("__global__ void rows() {}\n")
    assert workspace.find(in_cuda, files(), TAUGHT, named=False).lines == [
        "Found rmsnorm_matrix.cu; rms_norm_matrix.cu expected."]
    path.write_text("import torch\n")
    with pytest.raises(UserError, match=r"homework\.py: not the file of an assignment"):
        workspace.find(path, files(), TAUGHT, named=False)
    assert workspace.find(path, files(), ["gemm"], named=True).files == {"gemm": path}


STRAYS = {
    "another case": ("SiLU.py", "silu", True), "another place": ("hw1/silu.py", "silu", True),
    "a copy": ("silu (1).py", "silu", True), "what an editor adds": ("silu.py.txt", "silu", False),
    "what it defines": ("main.py", "silu", True), "a test": ("test_silu.py", None, False),
    "a notebook": ("homework.ipynb", "silu", False), "an archive": ("homework.tar.gz", "all", False),
    "nothing of it": ("notes.md", None, False),
}


def elsewhere(folder: Path) -> tuple[dict[str, list[str]], list[str]]:
    """What seems to be meant for each assignment, and the others."""
    found = read(folder, files(), Course())
    return {name: list(source.elsewhere) for name, source in found.sources.items()}, list(found.others)


@pytest.mark.parametrize(("file", "meant", "checked"), STRAYS.values(), ids=STRAYS)
def test_what_stands_elsewhere_is_found_for_its_assignment(
    tmp_path: Path, file: str, meant: str | None, checked: bool
) -> None:
    path = tmp_path / file
    path.parent.mkdir(exist_ok=True)
    lines = SILU.splitlines(keepends=True)
    path.write_text(json.dumps({"cells": [{"source": lines}]}, indent=1) if path.suffix == ".ipynb" else SILU)
    of, others = elsewhere(tmp_path)
    assert {name for name, found in of.items() if found == [file]} == (
        set(files()) if meant == "all" else {meant} if meant else set())
    assert others == (["test_silu.py"] if file == "test_silu.py" else [])
    if meant:
        found = workspace.find(tmp_path, files(), ["silu", "gemm"], named=True)
        expected = "silu.py, gemm.py" if meant == "all" else "silu.py"
        assert found.files == ({"silu": path} if checked else {}) and not found.complete
        so = ": as it is, it is not handed in" if checked else ", so not checked"
        assert f"Found {file}; {expected} expected{so}." in found.lines


def test_the_notebook_that_was_handed_out_stands_for_what_is_written_in_it_alone(tmp_path: Path) -> None:
    handed_out = (ROOT / "student_template/kernels.ipynb").read_text(encoding="utf-8")
    path = tmp_path / "kernels.ipynb"
    path.write_text(handed_out, encoding="utf-8")
    of, others = elsewhere(tmp_path)
    assert not any(of.values()) and others == ["kernels.ipynb"]
    with pytest.raises(UserError, match="holds nothing but stubs"):
        workspace.find(tmp_path, files(), TAUGHT, named=False)
    shutil.copy(ROOT / "student_template/silu.py", tmp_path)
    assert workspace.find(tmp_path, files(), ["silu"], named=False).lines == [
        "Nothing would be handed in.", "Not written yet: silu.py."]
    (tmp_path / "silu.py").unlink()
    path.write_text(handed_out.replace("silu: not written yet", ""), encoding="utf-8")
    of, _ = elsewhere(tmp_path)
    assert {name: found for name, found in of.items() if found} == {"silu": ["kernels.ipynb"]}


def test_of_a_notebook_the_cells_are_named_that_are_handed_in(tmp_path: Path) -> None:
    (tmp_path / "hw").mkdir()
    (tmp_path / "hw" / "work.ipynb").write_text(notebook(
        "!pip install triton", f"%%kernelmark silu\n{SILU}", "%%writefile gelu.cu\nvoid gelu(float *input) {}",
        "import gemm"))
    (tmp_path / "more.ipynb").write_text(notebook("y = silu(x)"))
    shutil.copy(ROOT / "student_template" / "silu.py", tmp_path)
    asked = workspace.find(tmp_path, files(), ["silu", "gelu", "gemm"], named=True)
    taken = "Would be handed in where your course takes notebooks: "
    assert [*asked.files] == ["silu"] and not asked.complete and asked.lines == [
        f"{taken}silu.py, code cell 2 of hw/work.ipynb, not checked; check it there, with %%kernelmark silu.",
        f"{taken}gelu.cu, code cell 3 of hw/work.ipynb, not checked; check gelu.cu, written with %%writefile gelu.cu.",
        "Not written yet: silu.py.", "Found more.ipynb; gemm.py expected, so not checked."]
    (tmp_path / "silu.py").unlink()
    (tmp_path / "more.ipynb").write_text(notebook(SILU))
    assert "Found more.ipynb, hw/work.ipynb; silu.py expected, so not checked." in workspace.find(
        tmp_path, files(), ["silu"], named=True).lines


@pytest.mark.parametrize(("only", "cell", "named"), [
    (["silu"], "", "silu"), ([], SILU, "silu"), ([], "", next(iter(files())))])
def test_of_a_notebook_a_magic_is_named_that_is_meant(
    tmp_path: Path, only: list[str], cell: str, named: str
) -> None:
    (path := tmp_path / "work.ipynb").write_text(notebook(cell))
    with pytest.raises(UserError, match=f"check its cells there, with %%kernelmark {named}$"):
        workspace.find(path, files(), only or TAUGHT, named=bool(only))


def test_a_hostile_folder_is_looked_at_with_care(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.py")
    (tmp_path / "secret.py").symlink_to("/etc/passwd")
    (tmp_path / os.fsdecode(b"silu\xff\x1b[2J.py")).touch()
    of, others = elsewhere(tmp_path)
    assert of["silu"] == ["silu\ufffd\ufffd[2J.py"] and others == ["pipe.py", "secret.py"]
    for number in range(workspace.MOST_ENTRIES + 1):
        (tmp_path / f"z{number:05}.py").touch()
    _, others = elsewhere(tmp_path)
    # Not everything is listed, nor looked at.
    assert len(others) == workspace.MOST_NAMED + 1 and re.fullmatch(r"\d+ more", others[-1])
    assert int(others[-1].split()[0]) <= workspace.MOST_ENTRIES - workspace.MOST_NAMED


def test_other_peoples_code_is_not_looked_at(tmp_path: Path) -> None:
    for folder in (tmp_path / name for name in (".git", "__pycache__", "venv", "a/b/c")):
        folder.mkdir(parents=True)
        (folder / "silu.py").touch()
    (tmp_path / "venv" / "pyvenv.cfg").touch()
    with pytest.raises(UserError, match="holds none of"):
        workspace.find(tmp_path, files(), TAUGHT, named=False)
    (tmp_path / "a" / "silu.py").touch()  # A control: one that is looked at.
    assert workspace.find(tmp_path, files(), TAUGHT, named=False).files == {"silu": tmp_path / "a" / "silu.py"}


def test_a_stub_is_not_handed_in(tmp_path: Path) -> None:
    for file in ("silu.py", "gemm.py", "cuda/transpose.cu"):
        shutil.copy(ROOT / "student_template" / file, tmp_path)
    (tmp_path / "silu.py").write_text(SILU)
    asked = workspace.find(tmp_path, files(), ["silu", "gemm", "transpose", "rmsnorm_vector"], named=False)
    assert asked.lines == ["Would be handed in: silu.py.", "Not written yet: gemm.py, transpose.cu.",
                           "Missing: rmsnorm_vector.py."]


def test_what_is_missing_is_named_in_the_language_of_what_is_there(tmp_path: Path) -> None:
    (tmp_path / "silu.cu").touch()
    asked = workspace.find(tmp_path, files(), ["silu", "rmsnorm_matrix"], named=False)
    assert asked.lines == ["Would be handed in: silu.cu.", "Missing: rms_norm_matrix.cu."]
