"""The command as a TA types it: exit status, messages, files; bad input costs nobody else their grade."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from grader.catalogue import ROOT
from grader.result import Result

SILU = (ROOT / "reference" / "silu.py").read_text()
SECONDS = 120


def kernelmark(*arguments: str | Path, cwd: Path = ROOT) -> subprocess.CompletedProcess[str]:
    # Run from another folder, too, where a relative path to the grader would lead nowhere.
    path = os.pathsep.join(str(Path(entry).absolute()) for entry in sys.path if entry)
    return subprocess.run(
        [sys.executable, "-m", "grader.cli", *map(str, arguments)], capture_output=True, text=True, timeout=SECONDS,
        cwd=cwd, check=False, env={**os.environ, "PYTHONPATH": path, "COLUMNS": "200"})


def hand_in(root: Path, student: str, content: str | bytes = SILU) -> Path:
    folder = root / student
    folder.mkdir(parents=True)
    (folder / "silu.py").write_bytes(content if isinstance(content, bytes) else content.encode())
    return folder


def load(out: Path) -> dict[str, Any]:
    """Verdicts of silu by student, read from disk."""
    results = [Result.model_validate_json(path.read_bytes()) for path in out.glob("*/result.json")]
    return {result.student: result.assignments["silu"] for result in results}


USAGE = {
    "no such folder": (("grade", "nowhere"), "nowhere: No such file or directory"),
    "a file": (("grade", "course.toml"), "course.toml: is a file; a folder of submissions expected"),
    "no students": (("grade", "docs"), "holds no student's folder"),
    "assignment": (("grade", "examples/class", "--only", "slu"), "--only: 'slu' is no assignment"),
    "device": (("grade", "examples/class", "--device", "tpu"), "--device: 'tpu'"),
    "course": (("grade", "examples/class", "--course", "Makefile"), "Makefile: not TOML"),
    "output is a file": (("grade", "examples/class", "--out", "course.toml"), "--out course.toml"),
    "output cannot be made": (("grade", "examples/class", "--out", "/proc/results"), "--out /proc/results"),
    "number": (("grade", "examples/class", "--jobs", "-1"), "Invalid value"),
}


@pytest.mark.parametrize(("arguments", "says"), USAGE.values(), ids=USAGE)
def test_a_usage_error_is_one_line_and_status_2(arguments: tuple[str, ...], says: str) -> None:
    done = kernelmark(*arguments)
    assert done.returncode == 2, done
    assert says in done.stderr and "Traceback" not in done.stderr
    if done.stderr.startswith("kernelmark:"):
        assert len(done.stderr.strip().splitlines()) == 1 and "expected" in done.stderr


def test_a_broken_course_names_file_key_and_expectation(tmp_path: Path) -> None:
    (tmp_path / "course.toml").write_text("[points]\ncorrectness = 'many'\n")
    done = kernelmark("grade", "examples/class", "--course", tmp_path / "course.toml")
    assert done.returncode == 2
    assert f"{tmp_path}/course.toml: points.correctness: " in done.stderr and "'many'" in done.stderr


ODD = ["Ann Lee", "李雷", 'quo"te', "a..b", "=cmd()", "<script>alert(1)", "Case", "case"]


@pytest.fixture(scope="module")
def odd_class(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[subprocess.CompletedProcess[str], Path]]:
    """One grading of a class in which everybody but a few handed in something that cannot be graded."""
    root = tmp_path_factory.mktemp("odd")
    students = root / "class"
    for name in ODD:
        hand_in(students, name)
    (students / "empty").mkdir()
    hand_in(students, "latin1", "# caf\xe9\n".encode("latin-1") + SILU.encode())
    hand_in(students, "nulls", b"\0" * 100)
    hand_in(students, "giant", b"#" * 50_000_000)
    hand_in(students, "bomb", "(" * 100_000)
    linked = hand_in(students, "linked")
    (linked / "silu.py").unlink()
    (root / "secret.py").write_text(SILU)
    (linked / "silu.py").symlink_to(root / "secret.py")
    fifo = hand_in(students, "fifo")
    (fifo / "silu.py").unlink()
    os.mkfifo(fifo / "silu.py")
    evil = hand_in(students, "plugins")
    (evil / "conftest.py").write_text("raise SystemExit('collected')")
    (evil / "pytest.ini").write_text("[pytest]\naddopts = --collect-only\n")
    (evil / "torch.py").write_text("raise SystemExit('shadowed')")
    done = kernelmark("grade", students, "--out", root / "out", "--only", "silu", "--jobs", "2")
    yield done, root / "out"


def test_everyone_who_can_be_graded_is(odd_class: tuple[subprocess.CompletedProcess[str], Path]) -> None:
    done, out = odd_class
    assert done.returncode == 0, done.stderr
    verdicts = {student: result.verdict for student, result in load(out).items()}
    assert {student: verdicts[student] for student in [*ODD, "plugins"]} == dict.fromkeys(
        [*ODD, "plugins"], "accepted")
    assert verdicts["empty"] == "missing"
    for student in ("latin1", "nulls", "giant", "bomb", "linked", "fifo"):
        assert verdicts[student] == "runtime_error", student


@pytest.mark.parametrize(("student", "says"), [
    ("empty", "not in the submission"), ("latin1", "UTF-8"), ("nulls", "null"), ("giant", "at most 131,072 expected"),
    ("bomb", "nest"), ("linked", "symbolic link out of the submission"), ("fifo", "not a regular file"),
])
def test_what_cannot_be_read_is_said_in_one_line(
    odd_class: tuple[subprocess.CompletedProcess[str], Path], student: str, says: str
) -> None:
    result = load(odd_class[1])[student]
    assert says in result.message and "\n" not in result.message, result.message
    assert result.hint


def test_the_files_are_where_they_should_be(odd_class: tuple[subprocess.CompletedProcess[str], Path]) -> None:
    done, out = odd_class
    folders = sorted(path for path in out.iterdir() if path.is_dir())
    assert len(folders) == len(ODD) + 8
    assert all((folder / name).is_file() for folder in folders for name in ("result.json", "report.html", "checks.log"))
    page = (out / "index.html").read_text()
    assert "<script>alert(1)" not in page and "Ann Lee" in page
    assert "'=cmd()" in (out / "gradebook.csv").read_text()
    assert f"[{len(folders)}/{len(folders)}]" in done.stdout and "s left" in done.stdout


def test_seeds_differ_by_default_repeat_on_request_and_are_logged(tmp_path: Path) -> None:
    hand_in(tmp_path / "class", "alice", SILU.replace("tl.store", "tl.load(x_ptr) ; tl.store") + "\n# noise\n")
    seeds, ratios = [], []
    for number, seed in enumerate(("", "", "7", "7")):
        out = tmp_path / f"out{number}"
        again = ["--seed", seed] if seed else []
        done = kernelmark("grade", tmp_path / "class", "--out", out, "--only", "silu", *again)
        assert done.returncode == 0
        result = json.loads((out / "alice" / "result.json").read_text())
        seeds.append(result["environment"]["seed"])
        ratios.append([check["worst_ratio"] for check in result["assignments"]["silu"]["correctness"]["checks"]])
    assert len(seeds[0]) == 32 and seeds[0] != seeds[1] and seeds[2:] == ["7", "7"]
    assert ratios[0] != ratios[1] and ratios[2] == ratios[3]


def test_a_full_disk_is_a_failure_of_ours_and_told(tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=300k", "tmpfs", out], capture_output=True, text=True, check=False)
    if mounted.returncode != 0:
        pytest.skip(f"a small tmpfs cannot be mounted here: {mounted.stderr.strip()}")
    try:
        students = tmp_path / "class"
        for number in range(6):
            hand_in(students, f"student{number}")
        (out / "filler").write_bytes(b"x" * 180_000)
        done = kernelmark("grade", students, "--out", out, "--only", "silu")
        assert done.returncode == 3
        assert "No space left on device" in done.stderr and "Traceback" not in done.stderr
        assert done.stdout.count("60 of 60 points") == 6
        for path in out.glob("*/result.json"):
            Result.model_validate_json(path.read_bytes())
    finally:
        subprocess.run(["umount", out], check=True)


def test_a_failure_of_ours_never_replaces_a_grade(tmp_path: Path) -> None:
    """A submission that ends our zygote, again and again, is graded by nobody; the grade it had stays."""
    students, out = tmp_path / "class", tmp_path / "out"
    alice = hand_in(students, "alice")
    hand_in(students, "bob")
    assert kernelmark("grade", students, "--out", out, "--only", "silu").returncode == 0
    killer = "import os, signal\nos.kill(os.getppid(), signal.SIGKILL)\n" + SILU
    (alice / "silu.py").write_text(killer)
    done = kernelmark("grade", students, "--out", out, "--only", "silu")
    assert done.returncode == 3
    assert "alice" in done.stderr and "the earlier result was kept" in done.stderr
    assert {student: result.verdict for student, result in load(out).items()} == dict.fromkeys(
        ["alice", "bob"], "accepted")
    assert "result.failed.json" in os.listdir(out / "alice")


def test_doctor_and_assignments_run_anywhere(tmp_path: Path) -> None:
    done = kernelmark("doctor", cwd=tmp_path)
    assert done.returncode == 0, done
    assert "a worker forked and ended in" in done.stdout and "level 0" in done.stdout
    done = kernelmark("assignments", cwd=tmp_path)
    assert done.returncode == 0 and "transpose(x, out)" in done.stdout


def test_by_hand_with_pytest_and_k() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "--submission", "reference", "-k", "transpose and 5x9", "-v"],
        capture_output=True, text=True, timeout=SECONDS, cwd=ROOT, check=False)
    assert done.returncode == 0, done.stdout
    assert "transpose-5x9] PASSED" in done.stdout and "1 passed" in done.stdout


def test_a_single_student_and_the_default_output(tmp_path: Path) -> None:
    alice = hand_in(tmp_path, "alice")
    done = kernelmark("grade", alice, "--only", "silu", cwd=tmp_path)
    assert done.returncode == 0 and (tmp_path / "results" / "alice" / "report.html").is_file()
    shutil.rmtree(tmp_path / "results")


def test_no_run_leaves_anything_in_the_temporary_folder(tmp_path: Path) -> None:
    before = {name for name in os.listdir(tempfile.gettempdir()) if name.startswith("kernelmark-")}
    alice = hand_in(tmp_path, "alice")
    assert kernelmark("grade", alice, "--only", "silu", "--out", tmp_path / "out").returncode == 0
    after = {name for name in os.listdir(tempfile.gettempdir()) if name.startswith("kernelmark-")}
    assert after <= before
