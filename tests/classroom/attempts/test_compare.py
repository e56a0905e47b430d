"""Who would move, by how much, in which checks and why."""

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from grader.classroom.attempts import compare
from grader.classroom.attempts.store import Store
from grader.classroom.attempts.student_files import refresh
from grader.course.late import LatePolicy
from grader.results.result import Environment, Result, with_assignments
from tests.classroom.attempts.made import add, draft
from tests.command import kernelmark, refused
from tests.pages import samples


def record(verdict: str = "accepted", *, speed: float | None = None, device: str = "cpu") -> Result:
    made = samples.result("ada", {"silu": "wrong_answer"} if verdict == "wrong_answer" else {}, speed=speed is not None)
    silu = made.assignments["silu"]
    if speed is not None:
        silu.performance.points = speed
        silu.score = silu.correctness.points + speed
    environment: Environment = samples.environment(device)
    return with_assignments(made, {"silu": silu}, environment=environment)


def mended(result: Result) -> Result:
    result.assignments["silu"].repair = samples.REPAIR
    return result


def recorded(store: Store, result: Result | None, **fields: Any) -> None:
    silu = result.assignments["silu"] if result else None
    told: dict[str, Any] = {}
    if silu is not None:
        told = {"verdict": silu.verdict, "score": silu.score, "max_score": silu.max_score}
    store.add([(draft(**{**told, **fields}), result)], "log")


WHY = {
    "a fixed case": (record("wrong_answer"), record(), {"tests": "fixed"},
                     "specification: other files of the assignment, version of the judge or limits"),
    "points": (record("wrong_answer"), record(), {"rules": "new", "of": 1},
               "specification: other points or thresholds"),
    "another GPU": (record(device="A100", speed=30), record(device="H200", speed=20), {"environment": "gpu"},
                    "environment: device A100 → H200; timing only: every check ended as before"),
    "another GPU of several": (record("wrong_answer", device="A100"), record(device="H200"), {},
                               "environment: device A100 → H200"),
    "timing": (record(speed=30), record(speed=20), {}, "timing only: every check ended as before"),
    "speed asked for": (record(), record(speed=20), {"environment": "with speed"},
                        "environment: speed measured or not; timing only: every check ended as before"),
    "a change that was found": (record("wrong_answer"), mended(record("wrong_answer")), {"tests": "new"},
                                "specification: other files of the assignment, version of the judge or limits"),
    "other inputs": (record("wrong_answer"), record(), {}, "inputs: nothing changed, but other inputs were drawn"),
}


@pytest.mark.parametrize(("before", "after", "fields", "why"), WHY.values(), ids=WHY)
def test_why_a_grade_would_move(
    tmp_path: Path, before: Result, after: Result, fields: dict[str, Any], why: str
) -> None:
    with Store.create(tmp_path) as store:
        recorded(store, before)
        recorded(store, after, **fields)
        (move,) = compare.moves(store, LatePolicy())
    then, now = before.assignments["silu"], after.assignments["silu"]
    assert "; ".join(move.why) == why and move.points == now.score - then.score
    assert move.moved == (then.verdict != now.verdict or then.score != now.score)
    assert bool(move.checks) == (then.verdict != now.verdict)
    if not move.moved:
        assert compare.lines([move], []) == ["1 newer attempt: 0 would move a grade, 0 up, 0 down"]
        return
    first = compare.lines([move], [])[0]
    assert first.startswith(f"ada silu: {then.score:g} of 100 → {now.score:g} of 100 ({move.points:+g})")
    assert first.endswith(why)


def test_a_failure_of_ours_is_shown_and_displaces_nothing(tmp_path: Path) -> None:
    with Store.create(tmp_path) as store:
        recorded(store, record())
        recorded(store, None, error="the grading process died, twice")
        assert compare.moves(store, LatePolicy()) == []
        (failed,) = compare.failures(store)
        assert compare.lines([], [failed]) == [
            "ada silu: infrastructure: graded again and failed through no fault of the student's; the grade stays "
            "(the grading process died, twice)", "0 newer attempts: 0 would move a grade, 0 up, 0 down"]


def test_diff_apply_and_undo_from_the_command_line(tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    with Store.create(out) as store:
        recorded(store, record("wrong_answer"))
        refresh(store, out, LatePolicy())
        recorded(store, record(), tests="fixed")
    asked = ("--out", out)

    def said(*words: str | Path) -> str:
        result = kernelmark(*words, *asked)
        assert (result.returncode, result.stderr) == (0, ""), result
        return result.stdout

    page = (out / "ada" / "report.html").read_text()
    shown = said("diff")
    assert shown.startswith("ada silu: 0 of 100 → 60 of 100 (+60), wrong_answer → accepted; specification: other files")
    assert "failed → not there" in shown and shown.endswith("1 newer attempt: 1 would move a grade, 1 up, 0 down\n")
    assert said("apply", "--only", "silu", "--student", "ada").startswith("1 newer attempt counts now")
    assert said("apply", "--undo") == "1 grade is taken back\n"
    refused("--only 'slu': no such assignment in ", "apply", "--only", "slu", *asked)
    assert (out / "ada" / "report.html").read_text() == page
    assert said("apply").startswith("1 newer attempt counts now")
    assert Result.model_validate_json((out / "ada" / "result.json").read_bytes()).score == 60
    assert '"ada",60,' in (out / "gradebook.csv").read_text() and "(+60)" not in said("diff")
    assert said("apply", "--undo") == "1 grade is taken back\n"
    assert (out / "ada" / "report.html").read_text() == page and '"ada",0,' in (out / "gradebook.csv").read_text()
    refused("nothing to undo", "apply", "--undo", *asked)
    refused("holds no attempts", "diff", "--out", tmp_path)


def test_what_was_graded_under_another_course_file_says_so_beside_the_others(tmp_path: Path) -> None:
    with Store.create(tmp_path) as store:
        recorded(store, record())
        recorded(store, record(), student="bob", slug="bob")
        refresh(store, tmp_path, LatePolicy())
        assert "another course file" not in (tmp_path / "ada" / "result.json").read_text()
        recorded(store, record(), student="eve", slug="eve", rules="new")
        refresh(store, tmp_path, LatePolicy())
    marked = {name: "another course file" in (tmp_path / name / "result.json").read_text() for name in
              ("ada", "bob", "eve")}
    assert marked == {"ada": True, "bob": True, "eve": False}
    assert "another course file" in (tmp_path / "ada" / "report.html").read_text()


def test_report_gradebook_export_and_grade_show_the_attempt_that_counts(tmp_path: Path) -> None:
    out, course = tmp_path / "results", tmp_path / "course.toml"
    out.mkdir()
    # The third would be the best without the points that it loses for being late.
    made = {20: "2026-10-01T10:00:00Z", 50: "2026-10-01T11:00:00Z", 60: "2026-10-02T10:00:00Z",
            40: "2026-10-02T11:00:00Z"}
    with Store.create(out) as store:
        for score, at in made.items():
            silu = samples.assignment("silu", "wrong_answer", score=score)
            add(store, draft(submission=at, submitted_at=at, verdict="wrong_answer", score=score, max_score=100),
                result=with_assignments(samples.result("ada"), {"silu": silu}))
        store.choose(store.attempts()[0])
    # From "chosen" to "last" and back: no rule leaves a trace of its own.
    for count, score, late in (("chosen", 20, "no"), ("best", 50, "no"), ("latest", 40, "yes"), ("chosen", 20, "no")):
        course.write_text(f'assignments = ["silu"]\n[late]\ncount = "{count}"\npercent = 20\n'
                          "[late.deadlines]\nsilu = 2026-10-01T12:00:00Z\n")
        asked = ("--out", out, "--course", course)
        if (out / "ada").is_dir():
            assert "older than the grade" in kernelmark("explain-grade", "ada", *asked).stderr, count
        assert kernelmark("apply", *asked).returncode == 0
        assert json.loads((out / "ada" / "result.json").read_text())["assignments"]["silu"]["score"] == score, count
        assert f'"ada",{score},' in (out / "gradebook.csv").read_text(), count
        explained = kernelmark("explain-grade", "ada", *asked)
        assert f"{score:9}  {score} of 100 points" in f"  {explained.stdout}" and not explained.stderr, explained
        exported = tmp_path / "grades.csv"
        result = kernelmark("export", "csv", out, "--course", course, "--out", exported, "--force")
        assert result.returncode == 0 and "older" not in result.stderr, result
        (row,) = csv.DictReader(exported.read_text().splitlines())
        assert [row[name] for name in ("submitted_at", "late", "score", "silu_points")] == [
            made[score], late, str(score), str(score)], row
