"""What students get checks their kernels with nothing else at hand, and holds no solution."""

import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest

from grader.authoring import student_kit
from grader.errors import UserError
from grader.home import ROOT
from tests.command import SECONDS, kernelmark
from tests.kits import environment_in

SOLVED = ("reference", "examples", "tests", "benchmarks")
PROGRAM = "import grader, json, sys; print(json.dumps([grader.__file__, *sys.path]))"


STUB = "not written yet: it still raises NotImplementedError, as the template does"


def unwritten(name: str) -> int:
    """The line of a stub that says so."""
    lines = (ROOT / f"student_template/{name}.py").read_text(encoding="utf-8").splitlines()
    return next(number for number, line in enumerate(lines, 1) if "raise NotImplementedError" in line)


def unpacked(archive: Path, folder: Path) -> Path:
    with zipfile.ZipFile(archive) as packed:
        packed.extractall(folder)
    (kit,) = folder.iterdir()
    return kit


def alone(kit: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Python with what is installed and the kit. Without `site` no .pth file adds this repository to the path."""
    path = os.pathsep.join((str(kit), sysconfig.get_path("purelib"), sysconfig.get_path("platlib")))
    return subprocess.run(
        [sys.executable, "-S", "-P", *arguments], cwd=kit, capture_output=True, text=True, check=False, timeout=SECONDS,
        env={**os.environ, "PYTHONPATH": path, "COLUMNS": "200"})


@pytest.fixture(scope="module")
def kit(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("made")
    result = kernelmark("kit", folder / "kernels", cwd=folder)
    assert result.returncode == 0, result.stderr
    found = unpacked(folder / "kernels.zip", tmp_path_factory.mktemp("empty"))
    files = [{path.relative_to(root) for path in root.rglob("*")} for root in (found, folder / "kernels")]
    assert files[0] == files[1] and found.name == "kernels"
    return found


def test_a_right_and_a_wrong_kernel_are_checked_with_nothing_else_at_hand(kit: Path) -> None:
    looked = alone(kit, "-c", PROGRAM)
    assert f'["{kit}/grader/__init__.py", "{kit}"' in looked.stdout, looked
    assert f'"{ROOT}"' not in looked.stdout and f'"{ROOT}/' not in looked.stdout.replace(f'"{ROOT}/.venv/', "")
    shutil.copytree(kit / "student_template", kit / "mine")
    shutil.copy(ROOT / "reference/silu.py", kit / "mine")
    shutil.copy(ROOT / "examples/class/carol/rmsnorm_matrix.py", kit / "mine")
    done = alone(kit, "-m", "grader", "check", "mine", "--only", "silu,rmsnorm_matrix,gemm", "--device", "cpu", "--out",
                 "results")
    assert done.returncode == 1 and done.stderr == "", done
    heads = [line for line in done.stdout.splitlines() if line.startswith(("●", "■", "○"))]
    assert {re.sub(r"\s+", " ", line) for line in heads} == {
        "● mine/silu.py passed 60 of 60 points measured",
        "■ mine/rmsnorm_matrix.py wrong answer 0 of 60 points measured",
        f"○ mine/gemm.py:{unwritten('gemm')} {STUB}"}
    assert "Δ mine/rmsnorm_matrix.py:14  found by trying" in done.stdout
    assert "Would be handed in: rmsnorm_matrix.py, silu.py.\nNot written yet: gemm.py." in done.stdout
    assert 'id="kernel-rmsnorm_matrix"' in (kit / "results/report.html").read_text()


@pytest.mark.full
def test_a_kit_inspects_and_its_doctor_says_what_it_did_not_try(kit: Path) -> None:
    shutil.copy(ROOT / "reference/silu.py", kit / "student_template")
    inspected = alone(kit, "-m", "grader", "inspect", "student_template/silu.py")
    assert inspected.returncode == 0 and "a good kernel's" in inspected.stdout, inspected
    assert "not tried: " in alone(kit, "-m", "grader", "doctor").stdout


# The cells of a notebook one after another, as Jupyter's kernel runs them: that kernel's shell is this one.
RUNNER = """
import json, sys
from IPython.core.interactiveshell import InteractiveShell
shell = InteractiveShell.instance()
for cell in json.load(open(sys.argv[1]))["cells"]:
    if cell["cell_type"] == "code":
        shell.run_cell("".join(cell["source"])).raise_error()
"""


# What a check says of a kernel in a kit is seen above.
@pytest.mark.full
def test_the_notebook_installs_and_checks_its_cells(tmp_path: Path) -> None:
    course = tmp_path / "course.toml"
    course.write_text('assignments = ["silu", "transpose"]\n')
    kit = unpacked(student_kit.write(tmp_path / "made" / "kernels", course), tmp_path / "empty")
    own = tmp_path / "venv"
    environment = environment_in(own) | {"IPYTHONDIR": str(tmp_path / "ipython")}
    path = kit / "student_template" / "kernels.ipynb"
    notebook = json.loads(path.read_text(encoding="utf-8"))
    install, silu, transpose = (cell for cell in notebook["cells"] if cell["cell_type"] == "code")
    right = (ROOT / "reference/silu.py").read_text()
    wrong = (ROOT / "examples/class/carol/transpose.py").read_text()
    filled = [{"cell_type": "code", "source": f"%%kernelmark {text}"}
              for text in (f"silu --save\n{right}", f"transpose\n{wrong}", "\nx = 1\n", "slu\nx = 1\n")]
    path.write_text(json.dumps({**notebook, "cells": [install, silu, transpose, *filled]}))
    result = subprocess.run([own / "bin/python", "-c", RUNNER, path.name], cwd=path.parent, capture_output=True,
                            text=True, check=False, timeout=2 * SECONDS, env=environment)
    assert result.returncode == 0, result
    assert (own / "bin/kernelmark").exists()
    output = [re.sub(r"\s+", " ", line) for line in result.stdout.splitlines()
              if line.startswith(("●", "■", "○", "Saved", "kernelmark"))]
    # Lines are those of the cell, whose first is the magic.
    assert output == [
        *(f"○ {name}.py:{unwritten(name) + 1} {STUB}" for name in ("silu", "transpose")),
        "Saved as silu.py.", "● silu.py passed 60 of 60 points measured",
        "■ transpose.py run-time error 0 of 60 points measured",
        "kernelmark: no assignment named; write %%kernelmark NAME, as in %%kernelmark silu",
        "kernelmark: --only: 'slu' is no assignment; choose from silu, transpose"]
    assert re.search(r"Seed (\d+); the same inputs again: %%kernelmark silu --seed \1\n", result.stdout)
    assert "transpose.py:11" in result.stdout and (path.parent / "silu.py").read_text() == right


def test_the_kit_holds_nothing_that_solves_or_is_not_for_students(kit: Path) -> None:
    # Tests before this one may have left files of students in it.
    fresh = kit.parent / "fresh"
    assert kernelmark("kit", fresh, cwd=ROOT).returncode == 0
    kit = fresh
    assert {path.name for path in kit.iterdir()} - {"mine", "results"} == {
        "grader", "assignments", "calibration", "student_template", "course.toml", "pyproject.toml", "constraints.txt",
        "LICENSE", "README.md", "Makefile", "setup.mk", "setup.sh", "Dockerfile", ".dockerignore", ".gitignore"}
    texts = [path.read_text(encoding="utf-8") for folder in ("grader", "assignments", "calibration", "student_template")
             for path in (kit / folder).rglob("*") if path.is_file() and path.suffix != ".pyc"]
    kernels = [path.read_text(encoding="utf-8") for folder in SOLVED for path in (ROOT / folder).rglob("*.py")]
    # What a kernel stores is what it solves; loads are alike everywhere.
    solved = {line.strip() for text in kernels for line in text.splitlines()
              if re.search(r"tl\.(store|dot|sum)\(.{20}", line)}
    assert len(solved) > 100
    assert [line for line in solved if any(line in text for text in texts)] == []
    assert (ROOT / "grader/cluster").is_dir() and not (kit / "grader/cluster").exists()


def test_what_needs_a_reference_says_that_there_is_none(kit: Path) -> None:
    verified = alone(kit, "-m", "grader", "verify", "silu")
    assert verified.returncode == 1 and "reference/silu.py: no such file" in verified.stdout
    again = alone(kit, "-m", "grader", "kit", "again")
    assert again.returncode == 2 and "student_kit: no such folder; make kits with the course's grader" in again.stderr


def handed_out(kit: Path) -> set[str]:
    folder = kit / "student_template"
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}


def test_a_kit_has_the_assignments_of_its_course_and_replaces_nothing(tmp_path: Path) -> None:
    course = tmp_path / "course.toml"
    course.write_text('assignments = ["silu", "gelu"]\n[points.assignments.silu]\ncorrectness = 7\nperformance = 0\n')
    student_kit.write(tmp_path / "kernels", course)
    assert sorted(path.name for path in (tmp_path / "kernels/assignments").iterdir()) == ["gelu", "silu"]
    assert (tmp_path / "kernels/course.toml").read_text() == course.read_text()
    assert "* 7 points for right answers" in (tmp_path / "kernels/assignments/silu/handout.md").read_text()
    rules = (tmp_path / "kernels/student_template/README.md").read_text()
    assert "`gelu(x, out)`" in rules and "gemm.py" not in rules
    assert handed_out(tmp_path / "kernels") == {
        "README.md", "kernels.ipynb", "silu.py", "gelu.py", "cuda/README.md", "cuda/CMakeLists.txt", "cuda/kernels.h",
        "cuda/main.cu", "cuda/silu.cu", "cuda/gelu.cu", "numba/README.md", "numba/silu.py", "numba/gelu.py"}
    assert "`student_template/cuda/`" in (tmp_path / "kernels/README.md").read_text()
    course.write_text('assignments = ["silu"]\nlanguages = ["triton"]\n')
    student_kit.write(tmp_path / "triton", course)
    assert handed_out(tmp_path / "triton") == {"README.md", "kernels.ipynb", "silu.py"}
    assert "cuda" not in (tmp_path / "triton/README.md").read_text()
    for name in ("kernels", "others"):
        (tmp_path / "others.zip").touch()
        with pytest.raises(UserError, match=f"{name}.*: already exists; .*(remove it|choose)"):
            student_kit.write(tmp_path / name, course)


# The command on a system that has none of these modules.
ELSEWHERE = """
import os
import ssl
import sys
import zoneinfo
import pydantic, rich.console, typer
sys.modules.update(dict.fromkeys(("fcntl", "resource", "termios", "pwd", "grp", "torch", "triton")))
sys.platform = sys.argv.pop(1)
if sys.platform == "win32":
    del os.geteuid
from grader.__main__ import main
main()
"""


@pytest.mark.parametrize(
    ("system", "words"), [("darwin", ("doctor",)), ("win32", ("grade", "examples/class"))], ids=["darwin", "win32"])
def test_on_another_system_one_line_names_the_container(system: str, words: tuple[str, ...]) -> None:
    result = subprocess.run([sys.executable, "-c", ELSEWHERE, system, *words], cwd=ROOT, capture_output=True, text=True,
                            check=False, timeout=SECONDS)
    assert result.returncode == 2 and result.stdout == "" and len(result.stderr.splitlines()) == 1, result
    assert f"kernelmark: {system}: not supported; use Linux, WSL, or the container: docker build" in result.stderr


LATE = "\n" + Path(__file__).with_name("late.toml").read_text(encoding="utf-8")


def test_what_a_course_says_of_single_students_is_not_handed_out(tmp_path: Path) -> None:
    text = (ROOT / "course.toml").read_text()
    (tmp_path / "course.toml").write_text(text + LATE)
    student_kit.write(tmp_path / "kit", tmp_path / "course.toml")
    told = (tmp_path / "kit" / "course.toml").read_text()
    assert told.startswith(text) and "percent = 10\n" in told[len(text):] and "silu = 2026" in told[len(text):]
    said = ("alice", "Alice", "May", "Stein", "ill", "Cheng", "cheng", "10-08")
    assert not [word for word in said if word in told[len(text):]]
    inline = 'late = {excused = [{student = "alice", assignment = "silu", reason = "ill", by = "b"}]}\n'
    (tmp_path / "course.toml").write_text(inline + text)
    with pytest.raises(UserError, match="names students"):
        student_kit.write(tmp_path / "other", tmp_path / "course.toml")


def test_a_comment_on_a_student_elsewhere_is_named_and_nothing_handed_out(tmp_path: Path) -> None:
    course = tmp_path / "course.toml"
    for comment in ("# ask Cheng about June", "percent = 10  # not for CHENG"):
        # An id may be a number or a part of a word: neither is a person.
        text = LATE.replace("percent = 10", comment).replace('"alice"', '"10"')
        course.write_text('assignments = ["silu"]\n# Chengdu\n[points]\nperformance = 10\n' + text)
        with pytest.raises(UserError) as info:
            student_kit.write(tmp_path / "kit", course)
        assert str(info.value) == (
            f"{course}: line 8: a comment names 'cheng', a student in [late]; remove the name")
    assert not (tmp_path / "kit").exists()
