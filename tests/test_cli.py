"""The command as a TA types it: exit status, messages, files; bad input costs nobody else their grade."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from grader.course.catalogue import assignments
from grader.course.course import read_course
from grader.course.submission import find_submissions
from grader.grading.grading import grade
from grader.grading.job import read_job
from grader.home import ROOT
from grader.results.result import Result
from tests.command import SECONDS, SILU, hand_in, kernelmark, load, refused

USAGE = {
    "no such folder": (("grade", "nowhere"), "nowhere: No such file or directory"),
    "a file": (("grade", "course.toml"), "course.toml: is a file; name a folder of submissions"),
    "no students": (("grade", "calibration"), "holds no student's folder"),
    "assignment": (("grade", "examples/class", "--only", "slu"), "--only: 'slu' is no assignment"),
    "device": (("grade", "examples/class", "--device", "tpu"), "--device: 'tpu'"),
    "course": (("grade", "examples/class", "--course", "Makefile"), "Makefile: not TOML"),
    "output is a file": (("grade", "examples/class", "--out", "course.toml"), "--out course.toml"),
    "output cannot be made": (("grade", "examples/class", "--out", "/proc/results"), "--out /proc/results"),
    "number": (("grade", "examples/class", "--jobs", "-1"), "Invalid value for '--jobs': "),
    "an option": (("grade", "--job", "1"), "No such option: --job"),
    "a command": (("garde",), "No such command 'garde'"),
    "a missing word": (("grade",), "'; kernelmark grade --help shows what is expected"),
}


@pytest.mark.parametrize(("arguments", "says"), USAGE.values(), ids=USAGE)
def test_a_usage_error_is_one_line_and_status_2(arguments: tuple[str, ...], says: str) -> None:
    output = refused(says, *arguments)
    assert output.startswith("kernelmark: ") and "; " in output


def test_a_broken_course_names_file_key_and_expectation(tmp_path: Path) -> None:
    (tmp_path / "course.toml").write_text("[points]\ncorrectness = 'many'\n")
    assert "'many'" in refused(f"{tmp_path}/course.toml: points.correctness: ", "grade", "examples/class", "--course",
                               tmp_path / "course.toml")


def test_a_course_says_which_assignments_are_graded(tmp_path: Path) -> None:
    hand_in(tmp_path / "class", "alice")
    course = tmp_path / "course.toml"
    course.write_text('assignments = ["transpose", "silu"]\n')
    result = kernelmark("grade", tmp_path / "class", "--out", tmp_path / "out", "--course", course)
    assert result.returncode == 0, result.stderr
    (alice,) = [Result.model_validate_json(path.read_bytes()) for path in tmp_path.glob("out/*/result.json")]
    assert list(alice.assignments) == ["silu", "transpose"] and f"--course {course}" in alice.reproduce


# The last is not UTF-8.
ODD = ["Ann Lee", "李雷", 'quo"te', "a..b", "=cmd()", "<script>alert(1)", "Case", "case", os.fsdecode(b"\xff\xfe")]


# Those of them who bring files that would be run where they are imported, or read by pytest.
EVIL = ["plugins", "tests", "test_mallory"]


def evil(folder: Path, ran: Path) -> None:
    for name in ("conftest.py", "sitecustomize.py", "torch.py"):
        (folder / name).write_text(f"open({str(ran)!r}, 'w').close()")
    (folder / "pytest.ini").write_text("[pytest]\naddopts = --collect-only\n")


@pytest.fixture(scope="module")
def odd_class(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[subprocess.CompletedProcess[str], Path]]:
    """One grading of a class in which everybody but a few handed in something that cannot be graded.

    It has a temporary folder of its own, and pytest's settings of a user who has something else in mind.
    """
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
    for name in EVIL:
        evil(hand_in(students, name), root / "ran")
    (root / "tmp").mkdir()
    # From within the class: one of its students is called as a package of ours is.
    yield kernelmark(
        "grade", ".", "--out", root / "out", "--only", "silu", cwd=students, environment={
            "TMPDIR": str(root / "tmp"), "PYTEST_ADDOPTS": "-k gemm", "PYTEST_PLUGINS": "no_such_plugin"},
    ), root / "out"


def test_everyone_who_can_be_graded_is(odd_class: tuple[subprocess.CompletedProcess[str], Path]) -> None:
    process, out = odd_class
    assert process.returncode == 0, process.stderr
    verdicts = {student: result.verdict for student, result in load(out).items()}
    named = [*ODD[:-1], 2 * "\N{REPLACEMENT CHARACTER}"]
    assert {student: verdicts[student] for student in [*named, *EVIL]} == dict.fromkeys([*named, *EVIL], "accepted")
    assert not (out.parent / "ran").exists()
    assert verdicts["empty"] == "missing"
    for student in ("latin1", "nulls", "giant", "bomb", "linked", "fifo"):
        assert verdicts[student] == "runtime_error", student


UNREADABLE = {
    "empty": "not in the submission", "latin1": "UTF-8", "nulls": "null", "giant": "at most 131,072 are allowed",
    "bomb": "nest", "linked": "symbolic link out of the submission", "fifo": "not a regular file",
}


def test_what_cannot_be_read_is_said_in_one_line(odd_class: tuple[subprocess.CompletedProcess[str], Path]) -> None:
    results = load(odd_class[1])
    for student, says in UNREADABLE.items():
        result = results[student]
        assert says in result.message and "\n" not in result.message, result.message
        assert result.hint


def test_the_files_are_where_they_should_be(odd_class: tuple[subprocess.CompletedProcess[str], Path]) -> None:
    result, out = odd_class
    folders = sorted(path for path in out.iterdir() if path.is_dir() and not path.name.startswith("."))
    assert len(folders) == len(ODD) + len(UNREADABLE) + len(EVIL)
    assert all((folder / name).is_file() for folder in folders for name in ("result.json", "report.html", "checks.log"))
    page = (out / "index.html").read_text()
    assert "<script>alert(1)" not in page and "Ann Lee" in page
    assert "'=cmd()" in (out / "gradebook.csv").read_text()
    assert f"[{len(folders)}/{len(folders)}]" in result.stdout and "s left" in result.stdout
    assert os.listdir(out.parent / "tmp") == []


def test_seeds_differ_by_default_repeat_on_request_and_are_logged_with_a_single_student(tmp_path: Path) -> None:
    alice = hand_in(tmp_path / "class", "alice")
    evil(alice, tmp_path / "ran")
    (submission,) = find_submissions(alice, ["silu.py"])
    rules = read_course(ROOT / "course.toml", frozenset(assignments()))

    def drawn(result: Result) -> tuple[str, list[float | None]]:
        checks = result.assignments["silu"].correctness.checks
        return result.environment.seed, [check.worst_ratio for check in checks]

    def graded(seed: int | None = None) -> tuple[str, list[float | None]]:
        job = read_job(submission, rules, ("silu",))
        result = grade(job if seed is None else replace(job, seed=seed)).result
        assert result is not None
        return drawn(result)

    # A single student, and where results go when nobody says it.
    assert kernelmark("grade", "alice", "--only", "silu", cwd=alice.parent).returncode == 0
    path = alice.parent / "results" / "alice"
    assert (path / "report.html").is_file() and not (tmp_path / "ran").exists()
    logged = Result.model_validate_json((path / "result.json").read_bytes())
    assert f"--seed {logged.environment.seed}" in logged.reproduce
    assert graded(int(logged.environment.seed)) == drawn(logged)
    other = graded()
    assert other[0] != drawn(logged)[0] and other[1] != drawn(logged)[1]


def test_by_hand_from_inside_a_submission(tmp_path: Path) -> None:
    mallory = hand_in(tmp_path, "mallory")
    (mallory / "conftest.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w').close()")
    by_hand = [sys.executable, "-m", "pytest", "--submission=.", "-k", "silu and 5x9", "-v"]
    result = subprocess.run(by_hand, capture_output=True, text=True, timeout=SECONDS, cwd=mallory, check=False)
    assert result.returncode == 0 and "silu-5x9] PASSED" in result.stdout and "1 passed" in result.stdout, result
    (mallory / "pytest.ini").write_text("[pytest]\naddopts = --collect-only\n")
    result = subprocess.run(by_hand, capture_output=True, text=True, timeout=SECONDS, cwd=mallory, check=False)
    assert result.returncode == 4 and "is the submission's own" in result.stderr
    assert not (tmp_path / "ran").exists()


def test_grading_some_assignments_again_keeps_the_others_and_changes_no_grade(tmp_path: Path) -> None:
    alice = hand_in(tmp_path / "class", "alice")
    shutil.copy(ROOT / "reference" / "transpose.py", alice)
    # The last is none of the course's own.
    shutil.copy(ROOT / "reference" / "vector_copy.py", alice)
    names, out = ["silu", "transpose", "vector_copy"], tmp_path / "out"
    again = ("grade", tmp_path / "class", "--out", out, "--only")

    def graded(*more: str) -> tuple[Result, str]:
        result = kernelmark(*again, *more)
        assert result.returncode == 0, result
        return Result.model_validate_json((out / "alice" / "result.json").read_bytes()), result.stdout

    first, said = graded(",".join(names))
    assert list(first.assignments) == names and first.score == 180 and "Skipped" not in said
    (alice / "transpose.py").write_text("def transpose(x, out):\n    pass\n")
    # Killed before it was drawn, as it were.
    (out / "alice" / "result.json").unlink()
    second, said = graded("silu,transpose")
    assert "Skipped 1 of 2 assignments: graded already from the same files, tests and environment (--force" in said
    assert second.assignments["silu"] == first.assignments["silu"]
    assert second.assignments["vector_copy"] == first.assignments["vector_copy"]
    assert second.assignments["transpose"].verdict == "wrong_answer" and second.score == 120
    assert [note for note in second.notes if note.startswith("SiLU was graded earlier (")]
    third, said = graded("silu", "--force")
    assert third == second and "1 grade that counts has a newer attempt beside it" in said
    refused("--student 'bob': no such student", *again, "silu", "--student", "bob")


def test_a_doctor_runs_anywhere(tmp_path: Path) -> None:
    result = kernelmark("doctor", cwd=tmp_path)
    assert result.returncode == 0, result
    assert "a kernel planned, " in result.stdout and re.search(r"isolation +level \d", result.stdout)


def without_bubblewrap(folder: Path) -> str:
    """A PATH on which there is no `bwrap`."""
    folder.mkdir()
    for name in ("sh", "rm", "chmod"):
        (folder / name).symlink_to(str(shutil.which(name)))
    return str(folder)


def test_grading_refuses_a_machine_that_isolates_less_than_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    alice = hand_in(tmp_path, "alice")
    monkeypatch.setenv("PATH", without_bubblewrap(tmp_path / "bin"))
    asked = ("grade", alice, "--only", "silu", "--out", tmp_path / "out", "--min-isolation", "3")
    result = kernelmark(*asked, apart=True)
    assert result.returncode == 2 and not (tmp_path / "out" / "alice").exists()
    assert "3 namespaced expected" in result.stderr and "apt install bubblewrap" in result.stderr
    result = kernelmark(*asked, "--allow-degraded", apart=True)
    assert result.returncode == 0, result.stderr
    environment = Result.model_validate_json((tmp_path / "out" / "alice" / "result.json").read_bytes()).environment
    assert int(environment.isolation[0]) < 3
    assert any("bubblewrap" in text for text in environment.isolation_missing)
    # What a machine lacks is for those who grade.
    assert "bubblewrap" in (tmp_path / "out" / "index.html").read_text()
    assert "bubblewrap" not in (tmp_path / "out" / "alice" / "report.html").read_text()


def test_the_course_names_the_isolation_that_grading_takes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    alice = hand_in(tmp_path, "alice")
    (tmp_path / "course.toml").write_text("[isolation]\nminimum = 4\n")
    monkeypatch.setenv("PATH", without_bubblewrap(tmp_path / "bin"))
    result = kernelmark("grade", alice, "--course", tmp_path / "course.toml", "--out", tmp_path / "out", apart=True)
    assert result.returncode == 2 and "4 sealed expected" in result.stderr
    assert len(result.stderr.strip().splitlines()) == 1
    # Who asks for less is told a command that asks for as little.
    asked = ("grade", alice, "--only", "silu", "--course", tmp_path / "course.toml", "--out", tmp_path / "out")
    result = kernelmark(*asked, "--min-isolation", "1")
    assert result.returncode == 0, result
    told = Result.model_validate_json((tmp_path / "out" / "alice" / "result.json").read_bytes()).reproduce
    assert "--min-isolation 1" in told
