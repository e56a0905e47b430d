"""A wheel is all that a course needs: installed beside what it depends on, it makes, verifies, hands out and grades."""

import csv
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from grader.home import ROOT
from grader.sandbox.forkserver import isolation
from tests.command import SECONDS, SILU
from tests.kits import environment_in

# What is packed; not the checkout itself, where a build leaves folders.
PACKED = ("grader", "assignments", "calibration", "reference", "student_template", "student_kit", "examples")
# What teaching leaves in a checkout.
PRIVATE = ("assignments/silu/hidden.toml", "examples/llm/results/ada.json", "examples/llm/.attempts/attempts.db")
# Takes the kernel from wherever a worker of this machine can read one.
THIEF = """
import importlib.util
import sys
from pathlib import Path

for folder in (*map(Path, sys.path), Path("{course}")):
    for path in (folder / "grader/shipped/reference/silu.py", folder / "reference/silu.py"):
        try:
            path.read_bytes()
        except OSError:
            continue
        spec = importlib.util.spec_from_file_location("taken", path)
        taken = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(taken)
        silu = taken.silu
"""


class Installed:
    """kernelmark in an environment of its own, with all that it depends on."""

    def __init__(self, folder: Path) -> None:
        source, wheels = folder / "source", folder / "wheels"
        source.mkdir()
        for path in (path for path in ROOT.iterdir() if path.is_file()):
            shutil.copy(path, source)
        for name in PACKED:
            shutil.copytree(ROOT / name, source / name, ignore=shutil.ignore_patterns("__pycache__"))
        for private in PRIVATE:
            (source / private).parent.mkdir(exist_ok=True)
            (source / private).write_text("")
        self.environment = environment_in(folder / "venv")
        pip = (folder / "venv/bin/python", "-m", "pip")
        self._run(*pip, "wheel", "--quiet", "--no-deps", "--wheel-dir", wheels, source)
        (wheel,) = wheels.iterdir()
        assert wheel.stat().st_size < 4 << 20
        self._run(*pip, "install", "--quiet", "--no-deps", wheel)
        (self.packages,) = folder.glob("venv/lib/python*/site-packages")
        self.command = folder / "venv/bin/kernelmark"

    def __call__(self, *words: str | Path, cwd: Path, status: int = 0) -> str:
        return self._run(self.command, *words, cwd=cwd, status=status)

    def _run(self, *words: str | Path, cwd: Path | None = None, status: int = 0) -> str:
        result = subprocess.run(words, cwd=cwd, env=self.environment, text=True, stdout=subprocess.PIPE,
                                stderr=subprocess.STDOUT, check=False, timeout=SECONDS)
        assert result.returncode == status, result.stdout
        return result.stdout


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Installed:
    folder = tmp_path_factory.mktemp("wheel")
    # Another user, who runs submissions, passes through.
    for above in (folder, folder.parent, folder.parent.parent):
        above.chmod(above.stat().st_mode | 0o011)
    return Installed(folder)


def test_a_wheel_holds_every_file_of_the_package(installed: Installed) -> None:
    held = {path.relative_to(installed.packages) for path in (installed.packages / "grader").rglob("*")
            if path.is_file() and path.suffix != ".pyc" and "shipped" not in path.parts}
    assert held == {path.relative_to(ROOT) for path in (ROOT / "grader").rglob("*")
                    if path.is_file() and path.suffix != ".pyc"}
    shipped = installed.packages / "grader/shipped"
    assert (shipped / "examples/llm/course.toml").is_file() and not [
        name for name in PRIVATE if (shipped / name).exists()]


@pytest.mark.full
def test_what_it_lacks_comes_from_a_registry(installed: Installed) -> None:
    told = "from grader import home; print(home.INSTALL, home.with_extra('cuda'), sep='; ')"
    for python, path, expected in (
        (sys.executable, str(ROOT), "make setup; .venv/bin/pip install -e '.[cuda]'"),
        (installed.command.with_name("python"), "", "pip install kernelmark; pip install 'kernelmark[cuda]'"),
    ):
        result = subprocess.run([python, "-c", told], cwd=installed.packages.parent, text=True, capture_output=True,
                                check=True, env={**installed.environment, "PYTHONPATH": path})
        assert result.stdout == f"{expected}\n"


def test_a_course_is_made_verified_handed_out_and_graded(installed: Installed, tmp_path: Path) -> None:
    course = tmp_path / "mein Kürs"
    output = installed("init", course.name, "--with", "silu,vector_copy", cwd=tmp_path)
    assert output.startswith(f"{course.name}: a course of silu, vector_copy. Next")
    verified = installed("verify", "vector_copy", cwd=course / "assignments/silu")
    assert verified.count("✓") == 10 and "✗" not in verified
    installed("new", "axpy", cwd=course / "reference")
    installed("kit", "build/kit", cwd=course)
    kit = course / "build/kit"
    assert {path.name for path in (kit / "assignments").iterdir()} == {"axpy", "silu", "vector_copy"}
    assert not (kit / "grader/shipped").exists() and not (kit / "grader/cluster").exists()

    for student, text in (("ada", SILU), ("eve", THIEF.replace("{course}", str(course)))):
        (course / "submissions" / student).mkdir(parents=True)
        (course / "submissions" / student / "silu.py").write_text(text)
    # What a student hands in beside it has no say.
    (course / "submissions/eve/assignments/silu").mkdir(parents=True)
    (course / "submissions/eve/course.toml").write_text("[points]\ncorrectness = 1000\nperformance = 0\n")
    output = installed("grade", "submissions", "--only", "silu", "--device", "cpu", "--jobs", "1", cwd=course)
    assert "2 graded in" in output and "no course.toml" not in output, output
    rows = {row["student"]: row for row in csv.DictReader((course / "results/gradebook.csv").read_text().splitlines())}
    assert (rows["ada"]["silu_points"], rows["ada"]["silu_verdict"]) == ("60", "accepted")
    # Nothing could be read, so nothing is defined.
    assert (rows["eve"]["silu_points"], rows["eve"]["silu_verdict"]) == ("0", "missing")
    reached = json.loads((course / "results/ada/result.json").read_text())["environment"]
    assert reached["isolation"] == str(isolation.measure()), reached["isolation_missing"]


# Files of a kit are checked in tests/authoring/test_student_kit.py, and whose course is taken is in tests/test_home.py.
@pytest.mark.full
def test_kits_of_two_courses_share_an_environment(installed: Installed, tmp_path: Path) -> None:
    installed("init", "course", "--with", "silu,gelu", cwd=tmp_path)
    for name, points in (("silu", 7), ("gelu", 9)):
        rules = tmp_path / "course" / f"{name}.toml"
        rules.write_text(f'assignments = ["{name}"]\n[points]\ncorrectness = {points}\nperformance = 0\n')
        installed("kit", tmp_path / name, "--course", rules, cwd=tmp_path)
        shutil.copy(ROOT / "reference" / f"{name}.py", tmp_path / name / "student_template")
    # From the kit's folder, and with the file's name alone.
    checked = installed("check", "silu.py", cwd=tmp_path / "silu/student_template")
    assert re.search(r"● silu\.py +passed +7 of 7 points", checked), checked
    refused = installed("check", "gelu/student_template/gelu.py", cwd=tmp_path, status=2)
    assert f"if you trust it, pass --course {tmp_path}/gelu/course.toml" in refused, refused
    checked = installed("check", "gelu/student_template/gelu.py", "--course", "gelu", cwd=tmp_path)
    assert re.search(r"passed +9 of 9 points", checked), checked
    assert "'gelu' is no assignment" in installed("check", ".", "--only", "gelu", cwd=tmp_path / "silu", status=2)


@pytest.mark.full
def test_an_installed_doctor_finds_its_own_course_out_of_reach(installed: Installed, tmp_path: Path) -> None:
    output = installed("doctor", cwd=tmp_path)
    assert "no course.toml in this folder or above it" in output and "read the course" not in output
    assert sys.executable not in output
