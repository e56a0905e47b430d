"""A real class, killed at any moment and graded on, is the class as it would have been, attempt by attempt."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import pytest

from grader.model.catalogue import ROOT
from grader.model.result import Result
from grader.records.store import Store
from tests.command import SECONDS, SILU, hand_in

Table = dict[str, tuple[str, str, float, str | None, list[tuple[str, str]]]]


@dataclass(frozen=True)
class Class:
    """Two students, what an undisturbed run made of them, and how long it took, in seconds."""

    students: Path
    table: Table
    gradebook: str
    seconds: float


def command(students: Path, out: Path) -> list[str | Path]:
    # One seed: the inputs are those of the undisturbed run.
    return [sys.executable, "-m", "grader.cli", "grade", students, "--out", out, "--only", "silu", "--jobs", "1",
            "--seed", "7", "--device", "cpu"]


def finish(students: Path, out: Path, *words: str) -> str:
    done = subprocess.run([*command(students, out), *words], cwd=ROOT, capture_output=True, text=True,
                          timeout=SECONDS, check=False)
    assert done.returncode == 0, done
    return done.stdout


def table(out: Path, *, failures: bool = False) -> Table:
    """Every attempt, by student: file, verdict, points, time of submission, and how each check ended. Each student has
    one, and the student's files show it. There may be `failures` of ours besides."""
    with Store.existing(out) as store:
        found: Table = {}
        for one in store.attempts():
            if failures and one.failed:
                continue
            record = store.result(one)
            assert record is not None and one.student not in found, (one, found)
            shown = Result.model_validate_json((out / one.slug / "result.json").read_bytes())
            assert shown.assignments == record.assignments and (out / one.slug / "report.html").stat().st_size > 1000
            checks = record.assignments["silu"].correctness.checks
            found[one.student] = (one.submission, one.verdict, one.score, one.submitted_at,
                                  [(check.id, check.outcome) for check in checks])
        return found


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Class:
    root = tmp_path_factory.mktemp("undisturbed")
    students = root / "class"
    hand_in(students, "ada")
    hand_in(students, "bob", SILU.replace("tl.exp(-x)", "tl.exp(x)"))
    members = [{"folder": name, "members": [{"id": name}], "origin": [name],
                "submitted_at": f"2026-10-0{day}T12:00:00+02:00"} for day, name in enumerate(("ada", "bob"), 1)]
    (students / "intake.json").write_text(json.dumps({
        "schema": "kernelmark/intake/v1", "kind": "folders", "source": "class", "submissions": members}))
    began = time.monotonic()
    finish(students, root / "out")
    seconds = time.monotonic() - began
    found = table(root / "out")
    assert {name: row[1] for name, row in found.items()} == {"ada": "accepted", "bob": "wrong_answer"}
    assert found["ada"][3] == "2026-10-01T12:00:00+02:00"
    return Class(students, found, (root / "out" / "gradebook.csv").read_text(), seconds)


# Ten take half as many whole runs.
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("kills", [1, pytest.param(100, marks=pytest.mark.full)])
def test_a_class_killed_at_any_moment_is_the_same_in_the_end(undisturbed: Class, tmp_path: Path, kills: int) -> None:
    dice, killed, classes = random.Random(kills), 0, 0
    out = tmp_path / "0"
    while killed < kills:
        process = subprocess.Popen(command(undisturbed.students, out), cwd=ROOT, stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL, start_new_session=True)
        try:
            process.wait(timeout=dice.uniform(0, 1.1 * undisturbed.seconds))
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
            process.wait()
            killed += 1
            # Its lanes go with it; the clock of the files is wrong meanwhile.
            os.utime(undisturbed.students / "ada" / "silu.py", (0, 0))
            if killed < kills:
                continue
            finish(undisturbed.students, out)
        assert process.returncode in (0, -signal.SIGKILL)
        assert table(out) == undisturbed.table and (out / "gradebook.csv").read_text() == undisturbed.gradebook
        classes += 1
        out = tmp_path / str(classes)
    last = tmp_path / str(classes - 1)
    assert finish(undisturbed.students, last).startswith("Skipped 2 of 2 assignments: graded already")
    assert table(last) == undisturbed.table


def test_a_disk_that_is_full_loses_nobody_for_good(undisturbed: Class, tmp_path: Path) -> None:
    out = tmp_path / "out"
    limited = ["bash", "-c", 'ulimit -f 40; exec "$@"', "bash"]
    done = subprocess.run([*limited, *map(str, command(undisturbed.students, out))], cwd=ROOT, capture_output=True,
                          text=True, timeout=SECONDS, check=False)
    assert done.returncode == 3 and "attempts not recorded" in done.stderr and "Traceback" not in done.stderr, done
    finish(undisturbed.students, out)
    # What the judge could not write is a failure of ours, recorded where there was room.
    assert table(out, failures=True) == undisturbed.table
    assert (out / "gradebook.csv").read_text() == undisturbed.gradebook
