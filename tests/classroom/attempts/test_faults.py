"""A real class whose disk runs full and that is graded on is as it would have been, attempt by attempt."""

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from grader.classroom.attempts.store import Store
from grader.home import ROOT
from grader.results.result import Result
from tests.command import SECONDS, SILU, hand_in, kernelmark

Table = dict[str, tuple[str, str, float, str | None, list[tuple[str, str]]]]


@dataclass(frozen=True)
class Class:
    """Two students, and what an undisturbed run made of them."""

    students: Path
    table: Table
    gradebook: str


def words(students: Path, out: Path) -> list[str | Path]:
    # One seed: the inputs are those of the undisturbed run.
    return ["grade", students, "--out", out, "--only", "silu", "--jobs", "1", "--seed", "7", "--device", "cpu",
            "--course", students.parent / "course.toml"]


def finish(students: Path, out: Path) -> None:
    done = kernelmark(*words(students, out))
    assert done.returncode == 0, done


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
    # Changes that mend what is wrong are not looked for: that takes seconds.
    (root / "course.toml").write_text('[hints]\nlevel = "off"\n')
    hand_in(students, "ada")
    hand_in(students, "bob", SILU.replace("tl.exp(-x)", "tl.exp(x)"))
    members = [{"folder": name, "members": [{"id": name}], "origin": [name],
                "submitted_at": f"2026-10-0{day}T12:00:00+02:00"} for day, name in enumerate(("ada", "bob"), 1)]
    (students / "intake.json").write_text(json.dumps({
        "schema": "kernelmark/intake/v1", "kind": "folders", "source": "class", "submissions": members}))
    finish(students, root / "out")
    found = table(root / "out")
    assert {name: row[1] for name, row in found.items()} == {"ada": "accepted", "bob": "wrong_answer"}
    assert found["ada"][3] == "2026-10-01T12:00:00+02:00"
    return Class(students, found, (root / "out" / "gradebook.csv").read_text())


def test_a_disk_that_is_full_loses_nobody_for_good(undisturbed: Class, tmp_path: Path) -> None:
    out = tmp_path / "out"
    limited = ["bash", "-c", 'ulimit -f 40; exec "$@"', "bash", sys.executable, "-m", "grader"]
    done = subprocess.run([*limited, *map(str, words(undisturbed.students, out))], cwd=ROOT, capture_output=True,
                          text=True, timeout=SECONDS, check=False)
    assert done.returncode == 3 and "attempts not recorded" in done.stderr and "Traceback" not in done.stderr, done
    finish(undisturbed.students, out)
    # What the judge could not write is a failure of ours, recorded where there was room.
    assert table(out, failures=True) == undisturbed.table
    assert (out / "gradebook.csv").read_text() == undisturbed.gradebook
