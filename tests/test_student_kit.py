"""What students get checks their kernels with nothing else at hand, and holds no solution."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest

from grader import student_kit
from grader.catalogue import ROOT
from grader.result import Result
from tests.command import SECONDS, kernelmark

SOLVED = ("reference", "examples", "tests", "benchmarks")
PROGRAM = "import grader, json, sys; print(json.dumps([grader.__file__, *sys.path]))"


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
    done = kernelmark("kit", folder / "kernels", cwd=folder)
    assert done.returncode == 0, done.stderr
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
    shutil.copy(ROOT / "examples/class/carol/transpose.py", kit / "mine")
    done = alone(kit, "-m", "grader.cli", "grade", "mine", "--only", "silu,transpose,gemm", "--device", "cpu",
                 "--allow-degraded")
    assert done.returncode == 0, done
    (result,) = [Result.model_validate_json(path.read_bytes()) for path in kit.glob("results/*/result.json")]
    verdicts = {name: found.verdict for name, found in result.assignments.items()}
    assert verdicts == {"silu": "accepted", "transpose": "runtime_error", "gemm": "missing"}
    assert "This tl.load has no mask" in result.assignments["transpose"].hint
    assert "The load in line 10" in (kit / "results/mine/report.html").read_text()


def test_the_kit_holds_nothing_that_solves_or_is_not_for_students(kit: Path) -> None:
    assert {path.name for path in kit.iterdir()} - {"mine", "results"} == {
        "grader", "assignments", "calibration", "student_template", "course.toml", "pyproject.toml", "constraints.txt",
        "LICENSE", "README.md", "Makefile", "Dockerfile", ".dockerignore"}
    texts = [path.read_text(encoding="utf-8") for folder in ("grader", "assignments", "calibration", "student_template")
             for path in (kit / folder).rglob("*") if path.is_file() and path.suffix != ".pyc"]
    kernels = [path.read_text(encoding="utf-8") for folder in SOLVED for path in (ROOT / folder).rglob("*.py")]
    # What a kernel stores is what it solves; loads are alike everywhere.
    solved = {line.strip() for text in kernels for line in text.splitlines()
              if re.search(r"tl\.(store|dot|sum)\(.{20}", line)}
    assert len(solved) > 100
    assert [line for line in solved if any(line in text for text in texts)] == []


def test_what_needs_a_reference_says_that_there_is_none(kit: Path) -> None:
    verified = alone(kit, "-m", "grader.cli", "verify", "silu")
    assert verified.returncode == 1 and "reference/silu.py: file expected" in verified.stdout
    assert "not tried: no " in alone(kit, "-m", "grader.cli", "doctor").stdout
    again = alone(kit, "-m", "grader.cli", "kit", "again")
    assert again.returncode == 2 and "student_kit: no such folder; the course's repository expected" in again.stderr


def test_a_kit_has_the_assignments_of_its_course_and_replaces_nothing(tmp_path: Path) -> None:
    course = tmp_path / "course.toml"
    course.write_text('assignments = ["silu", "gelu"]\n[points.assignments.silu]\ncorrectness = 7\nperformance = 0\n')
    student_kit.write(tmp_path / "kernels", course)
    assert sorted(path.name for path in (tmp_path / "kernels/assignments").iterdir()) == ["gelu", "silu"]
    assert (tmp_path / "kernels/course.toml").read_text() == course.read_text()
    assert "* 7 points for right answers" in (tmp_path / "kernels/assignments/silu/handout.md").read_text()
    rules = (tmp_path / "kernels/student_template/README.md").read_text()
    assert "`gelu(x, out)`" in rules and "gemm.py" not in rules
    for name in ("kernels", "others"):
        (tmp_path / "others.zip").touch()
        with pytest.raises(student_kit.KitError, match=f"{name}.*: is there already; .* expected$"):
            student_kit.write(tmp_path / name, course)


# The command on a system that has none of these modules.
ELSEWHERE = """
import sys
import zoneinfo
import pydantic, rich.console, typer
sys.modules.update(dict.fromkeys(("fcntl", "resource", "termios", "pwd", "grp", "torch", "triton")))
sys.platform = sys.argv.pop(1)
from grader.cli import main
main()
"""


@pytest.mark.parametrize("system", ["darwin", "win32"])
@pytest.mark.parametrize("words", [("grade", "examples/class"), ("doctor",), ("verify", "silu")], ids=" ".join)
def test_on_another_system_one_line_names_the_container(system: str, words: tuple[str, ...]) -> None:
    done = subprocess.run([sys.executable, "-c", ELSEWHERE, system, *words], cwd=ROOT, capture_output=True, text=True,
                          check=False, timeout=SECONDS)
    assert done.returncode == 2 and done.stdout == "" and len(done.stderr.splitlines()) == 1, done
    assert f"kernelmark: {system}: Linux expected, or WSL; elsewhere the container: docker build" in done.stderr
