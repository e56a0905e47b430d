"""A full disk, a lost fork server and an interruption are told, cost nobody their grade and leave nothing behind."""

import contextlib
import json
import os
import re
import signal
import sqlite3
import subprocess
import sys
import time
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from grader.classroom.attempts.store import Store
from grader.grading import grading
from grader.grading.job import Job, JobOutcome
from grader.home import ROOT
from grader.results.result import Result
from grader.sandbox.confine import processes
from tests.classroom.attempts.made import add, draft
from tests.command import SECONDS, SILU, eventually, gone, hand_in, kernelmark, load, refused
from tests.rows import beside

DATA = beside(__file__)
# As typed at a terminal: what these tests are run by may ignore signals, as a script's `&` and nohup do.
COMMAND = ("env", "--default-signal", sys.executable, "-m", "grader")


def test_a_full_disk_is_a_failure_of_ours_and_told(tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=600k", "tmpfs", out], capture_output=True, text=True, check=False)
    if mounted.returncode != 0:
        pytest.skip(f"a small tmpfs cannot be mounted here: {mounted.stderr.strip()}")
    try:
        students = tmp_path / "class"
        for number in range(6):
            hand_in(students, f"student{number}")
        # Room for what is known to be written, and not for what six reports come to.
        (out / "filler").write_bytes(b"x" * 385_000)
        result = kernelmark("grade", students, "--out", out, "--only", "silu")
        assert result.returncode == 3
        assert re.search("No space left on device|disk is full", result.stderr) and "Traceback" not in result.stderr
        assert result.stdout.count("60 of 60 points") == 6
        for path in out.glob("*/result.json"):
            Result.model_validate_json(path.read_bytes())
        # With room again it is as if there had been.
        (out / "filler").unlink()
        assert kernelmark("grade", students, "--out", out, "--only", "silu").returncode == 0
        with Store.existing(out) as store:
            assert sorted(one.student for one in store.attempts() if not one.failed) == sorted(os.listdir(students))
        assert {one.verdict for one in load(out).values()} == {"accepted"} and len(load(out)) == 6
    finally:
        subprocess.run(["umount", out], check=True)


def test_attempts_that_cannot_be_read_any_more_cost_neither_the_class_page_nor_the_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("ada", "bob"):
        hand_in(tmp_path / "class", name)
    out, graded = tmp_path / "out", grading.grade

    def grade(job: Job, *more: Any) -> JobOutcome:
        if job.submission.student == "bob":
            # In place, under the process that has it open.
            (out / ".attempts" / "attempts.sqlite3").write_bytes(b"x" * 100_000)
        return graded(job, *more)

    monkeypatch.setattr(grading, "grade", grade)
    result = kernelmark("grade", tmp_path / "class", "--out", out, "--only", "silu", "--json")
    assert result.returncode == 3 and "Traceback" not in result.stderr, result
    ada, bob, end = map(json.loads, result.stdout.splitlines())
    assert (ada["student"], bob["student"]) == ("ada", "bob") and (ada["failures"], len(bob["failures"])) == ([], 1)
    # One of bob, and one of all that comes after.
    assert end["event"] == "end" and len(end["failures"]) == 2, end
    assert result.stderr.count("file is not a database") == 2, result
    page = (out / "index.html").read_text()
    assert ">ada<" in page and "file is not a database" in page and "as of" not in page


def test_a_hand_in_that_cannot_be_recorded_costs_nobody_else_a_grade(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    students, out = tmp_path / "class", tmp_path / "out"
    hand_in(students, "ada")

    def handed_in(day: int) -> None:
        (students / "intake.json").write_text(json.dumps({
            "schema": "kernelmark/intake/v1", "kind": "folders", "source": "class", "submissions": [
                {"folder": "ada", "members": [{"id": "ada"}], "origin": ["ada"],
                 "submitted_at": f"2026-10-0{day}T12:00:00+02:00"}]}))

    handed_in(1)
    asked = ("grade", students, "--out", out, "--only", "silu", "--json")
    assert kernelmark(*asked).returncode == 0
    handed_in(2)
    hand_in(students, "bob")
    connect = sqlite3.connect
    with contextlib.closing(connect(out / ".attempts" / "attempts.sqlite3")) as other:
        other.execute("begin immediate")
        # By itself it waits five seconds for another to end, and does so for each of the two.
        monkeypatch.setattr(sqlite3, "connect", partial(connect, timeout=0.1))
        result = kernelmark(*asked)
    assert result.returncode == 3 and "Traceback" not in result.stderr, result
    bob, end = map(json.loads, result.stdout.splitlines())
    assert (bob["student"], bob["verdicts"]) == ("bob", {"silu": "accepted"})
    assert len(end["failures"]) == 2 and end["failures"][0].startswith("attempts not recorded: database is locked")
    assert ">ada<" in (out / "index.html").read_text()


def test_what_is_graded_and_results_lie_apart(tmp_path: Path) -> None:
    ada = hand_in(tmp_path / "class", "ada")
    (tmp_path / "link").symlink_to(ada)
    for out in (ada.parent, ada / "results", tmp_path / "link" / "results"):
        refused(f"--out {out}: lies in", "grade", ada.parent, "--out", out)
    assert os.listdir(ada) == ["silu.py"]
    (results := tmp_path / "results").mkdir()
    with Store.create(results) as store:
        add(store, draft())
    refused("is a folder of results", "grade", results, "--out", tmp_path / "out")


# By the C library: what goes through Python is refused.
DAEMONS: str = DATA["daemons"]


def lose_a_fork_server(students: Path, out: Path) -> tuple[int, str, set[int]]:
    """Grade, and kill the fork server whose submission is at work on DAEMONS. Return exit status, errors, processes."""
    with subprocess.Popen(
        [sys.executable, "-m", "grader", "grade", students, "--out", out, "--only", "silu", "--jobs", "1"],
        cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as process:
        seen: set[int] = set()
        busy: list[int] = []

        def daemons_run() -> bool:
            seen.update(processes.descendants(process.pid))
            busy[:] = [pid for pid in _fork_servers(process.pid) if len(processes.descendants(pid)) >= 4]
            return bool(busy)

        eventually(daemons_run, SECONDS)
        for pid in busy:
            os.kill(pid, signal.SIGKILL)
        _, errors = process.communicate(timeout=SECONDS)
        return process.returncode, errors, seen


def test_a_failure_of_ours_never_replaces_a_grade_and_nothing_outlives_a_lost_fork_server(tmp_path: Path) -> None:
    students, out = tmp_path / "class", tmp_path / "out"
    alice = hand_in(students, "alice")
    assert kernelmark("grade", students, "--out", out, "--only", "silu").returncode == 0
    hand_in(students, "bob")
    (alice / "silu.py").write_text(DAEMONS + SILU)
    status, errors, seen = lose_a_fork_server(students, out)
    assert status == 3
    assert "alice" in errors and "the earlier result was kept" in errors
    assert {student: result.verdict for student, result in load(out).items()} == dict.fromkeys(
        ["alice", "bob"], "accepted")
    with Store.existing(out) as store:
        assert [attempt.verdict for attempt in store.attempts("alice")] == ["accepted", "infrastructure_error"]
    eventually(lambda: not [pid for pid in seen if _session(Path(f"/proc/{pid}/stat"))])


def _fork_servers(root: int) -> list[int]:
    """Those below `root`, without the bubblewrap around them."""
    found = []
    for pid in processes.descendants(root):
        command = _command(pid)
        if command.split("\0")[0].endswith("python") and "grader.sandbox.forkserver.server" in command:
            # The workers are copies of it.
            found.append(pid)
    return [pid for pid in found if not any(pid in processes.descendants(other) for other in found)]


def _command(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_text()
    except OSError:
        return ""


@pytest.mark.parametrize(("number", "students", "lanes"), [
    pytest.param(signal.SIGTERM, "abcd", 1, id="terminated", marks=pytest.mark.full),
    pytest.param(signal.SIGINT, "ab", 2, id="interrupted, one of two lanes idle"),
    pytest.param(signal.SIGINT, "abcd", 1, id="interrupted", marks=pytest.mark.full),
    pytest.param(signal.SIGHUP, "abcd", 1, id="hung up", marks=pytest.mark.full),
])
def test_an_interrupted_run_keeps_what_it_has_says_so_and_leaves_nothing_behind(
    tmp_path: Path, number: signal.Signals, students: str, lanes: int
) -> None:
    for name in students:
        hand_in(tmp_path / "class", name, SILU if name == "a" else "import time\ntime.sleep(60)\n" + SILU)
    (tmp_path / "tmp").mkdir()
    process = subprocess.Popen(
        [*COMMAND, "grade", tmp_path / "class", "--out", tmp_path / "out", "--only", "silu", "--jobs", str(lanes)],
        cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        start_new_session=True, env={**os.environ, "TMPDIR": str(tmp_path / "tmp")})
    try:
        assert process.stdout is not None and process.stdout.readline().startswith(f"[1/{len(students)}] a:")
        if number != signal.SIGTERM:
            # By the terminal to all; by timeout(1) and the like once more.
            os.killpg(process.pid, number)
            time.sleep(0.01)
        process.send_signal(number)
        said, errors = process.communicate(timeout=60)
    finally:
        process.kill()
    assert process.returncode == 130 and errors == ""
    said = said.splitlines()[-1]
    assert said.startswith(f"Interrupted: 1 of {len(students)} graded in ") and said.endswith("out/index.html")
    assert list(load(tmp_path / "out")) == ["a"] and ">a<" in (tmp_path / "out" / "index.html").read_text()
    assert os.listdir(tmp_path / "tmp") == []
    eventually(lambda: gone(process.pid))


@pytest.mark.parametrize("number", [signal.SIGTERM, pytest.param(signal.SIGINT, marks=pytest.mark.full)])
def test_a_run_interrupted_while_it_starts_leaves_nothing_behind(tmp_path: Path, number: signal.Signals) -> None:
    hand_in(tmp_path, "alice")
    (tmp_path / "tmp").mkdir()
    process = subprocess.Popen(
        [*COMMAND, "grade", tmp_path / "alice", "--out", tmp_path / "out", "--only", "silu"],
        cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
        env={**os.environ, "TMPDIR": str(tmp_path / "tmp")})
    try:
        eventually(lambda: any("spawn_main" in _command(pid) for pid in processes.descendants(process.pid)), SECONDS)
        process.send_signal(number)
        said, errors = process.communicate(timeout=60)
    finally:
        process.kill()
    assert (process.returncode, said) == (130, "") and errors == "kernelmark: interrupted before anything was graded\n"
    assert os.listdir(tmp_path / "tmp") == [] and set(os.listdir(tmp_path / "out")) <= {".attempts"}
    eventually(lambda: gone(process.pid))


def _session(stat: Path) -> int:
    """The session of a process; 0 for one that has ended. A lane in the process of these tests adopts orphans, and what
    it has not waited for is listed still."""
    try:
        state, _, _, session, *_ = stat.read_text().rpartition(")")[2].split()
    except OSError:
        return 0
    return 0 if state == "Z" else int(session)
