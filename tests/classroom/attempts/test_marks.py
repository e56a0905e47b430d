"""What people give beside the judge: nothing of it is lost, it counts once, and whom it concerns can read it."""

import csv
import io
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from grader.classroom.attempts.policy import class_grades
from grader.classroom.attempts.store import FILE, FOLDER, Store
from grader.course.roster import Student
from grader.course.submission import Submission
from grader.grading.job import JobOutcome
from grader.results.mark import Mark, counting, open_requests, signed
from grader.results.result import Result
from tests.classroom.attempts.made import KERNELS, add, draft, kept
from tests.classroom.attempts.test_policy import BOOK, NAMES, hand_in, late
from tests.command import kernelmark
from tests.pages import samples
from tests.rows import each_row

BY = ("--by", "T. Assistant")


def mark(points: float = 0, comment: str = "", **fields: Any) -> Mark:
    return Mark.model_validate({
        "slug": "ada", "assignment": "silu", "by": "T. A.", "points": points, "comment": comment, **fields})


@pytest.fixture
def out(tmp_path: Path) -> Path:
    """Ada alone, and a group of two, graded in all assignments."""
    (tmp_path / "out").mkdir()
    for student, members in (("ada", ("ada",)), ("group1", ("bob", "eve"))):
        result = samples.result(student)
        lines = kept(JobOutcome(Submission(student, tmp_path, student), result), tmp_path / "out", members=members)
        assert lines == []
    return tmp_path / "out"


def test_students_without_a_roster_are_in_the_order_of_their_names(out: Path, tmp_path: Path) -> None:
    assert kept(JobOutcome(Submission("Aaron", tmp_path, "Aaron"), samples.result("Aaron")), out) == []
    assert [line.split(":")[0] for line in said("explain-grade", out=out).splitlines()] == [
        "Aaron", "ada", "bob (group1)", "eve (group1)"]


def said(*arguments: str | Path, out: Path, status: int = 0) -> str:
    result = kernelmark(*arguments, "--out", out)
    assert result.returncode == status, result
    return result.stderr if status else result.stdout


def result_of(out: Path, folder: str = "ada") -> Result:
    return Result.model_validate_json((out / folder / "result.json").read_bytes())


def gradebook(out: Path) -> dict[str, dict[str, str]]:
    return {row["student"]: row for row in csv.DictReader(io.StringIO((out / "gradebook.csv").read_text()))}


def test_the_newest_mark_counts_and_an_answer_beside_it() -> None:
    made = [mark(5, id=1), mark(0, "why?", kind="request", id=2), mark(3, "corrected", id=3),
            mark(2, kind="answer", of=2, id=4), mark(1, "better", kind="answer", of=2, id=5), mark(4, slug="bob", id=6),
            mark(0, "again?", kind="request", id=7)]
    assert [mark.id for mark in counting(made)] == [2, 5, 3, 6, 7]
    assert [request.id for request in open_requests(made)] == [7]
    # Taken back.
    assert [one.id for one in counting([*made, mark(id=8)])] == [2, 5, 6, 7]
    assert (signed(5), signed(-2.5), signed(1e6)) == ("+5", "−2.5", "+1e+06")


DECIDED = {"student": "ada", "assignment": "silu", "reason": "explained it", "by": "T. A."}
GRADES: dict[str, tuple[dict[str, Any], list[Any], list[Mark], float | None, float]] = {
    "beside the automatic ones": ({}, [hand_in(1, 0)], [mark(5)], 65, 100),
    "after late work is considered": ({"percent": 10}, [hand_in(1, 20)], [mark(5)], 59, 100),
    "taken off, and not below nought": ({}, [hand_in(1, 0, 10)], [mark(-30)], 0, 100),
    "where nothing was handed in": ({}, [], [mark(7, slug="", student="ADA")], 7, 100),
    "a comment gives no points": ({}, [], [mark(0, "where is it?", slug="", student="ada")], None, 0),
    "not judged yet, it stays open": (
        {}, [hand_in(1, 0, verdict="needs_gpu")], [mark(5)], None, 100),
    "an override is final": ({"overrides": [DECIDED | {"points": 50}]}, [hand_in(1, 0)], [mark(5)], 50, 100),
    "excused": ({"excused": [DECIDED]}, [hand_in(1, 0)], [mark(5)], None, 0),
}


@each_row("example", GRADES)
def test_points_that_people_give_count(example: str) -> None:
    policy, work, marks, points, most = GRADES[example]
    roster = [] if work else [Student("ada")]
    books = dict.fromkeys(NAMES, BOOK) if work else {}
    (grade,) = class_grades(work, roster, late(**policy), dict.fromkeys(NAMES, 100.0), books, marks)
    line = grade.lines[0]
    assert (line.points, line.max_score) == (points, most)
    # What was given is told in any case.
    assert [step.text for step in line.steps].count(marks[0].said) == 1


def test_what_an_override_hides_is_told_and_takes_no_grace_days() -> None:
    made = hand_in(1, 20, 60), hand_in(2, 20, 90, "gemm")
    policy = late(percent=10, grace_days=1, overrides=[DECIDED | {"points": 50}])
    (grade,) = class_grades(made, [], policy, dict.fromkeys(NAMES, 100.0),
                            dict.fromkeys(NAMES, BOOK), [mark(5, "tidy")])
    assert [(line.points, line.grace_days) for line in grade.lines[:2]] == [(50, 0), (90, 1)]
    assert [(step.text.split(" (")[0], step.points) for step in grade.lines[0].steps][-3:] == [
        ("10 % off: 1 day at 10 % each", 54), ("T. A.: +5 points; tidy", 59),
        ("given by T. A., in place of 59: explained it", 50)]


def test_a_groups_mark_is_everybodys_and_a_members_own() -> None:
    group = [hand_in(1, 0, slug="g", student="g", members=("ada", "bob"))]
    marks = [mark(5, slug="g", id=1), mark(-1, slug="g", student="Bob", id=2)]
    grades = class_grades(group, [], late(), dict.fromkeys(NAMES, 100.0), dict.fromkeys(NAMES, BOOK), marks)
    assert [(grade.student, grade.points) for grade in grades] == [("ada", 65), ("bob", 64)]


def test_a_mark_is_in_the_report_on_the_class_page_and_in_the_gradebook(out: Path, tmp_path: Path) -> None:
    (gelu := tmp_path / "gelu.toml").write_text('assignments = ["gelu", "gemm"]\n')
    before = result_of(out)
    assert said("mark", "ada", "silu", "--points", "5", "--comment", "tidy <b>", *BY, out=out) == (
        "ada, silu: T. Assistant: +5 points; tidy <b>\n")
    after = result_of(out)
    assert after.score == before.score and after.assignments["silu"].given == 5
    report = (out / "ada" / "report.html").read_text()
    assert "+5 points; tidy &lt;b&gt;" in report and f"{before.score + 5:g}</b> with them" in report
    page = (out / "index.html").read_text()
    assert "tidy &lt;b&gt;" in page and f'data-v="{before.score + 5}"' in page
    row = gradebook(out)["ada"]
    assert (row["silu_marks"], row["silu_points"]) == ("5", "60") and "tidy <b>" in row["silu_comment"]
    assert gradebook(out)["group1"]["silu_marks"] == "" and "gemm_marks" not in row
    # A member's own mark is not in what the group shares; staff have it.
    said("mark", "EVE", "gemm", "--points", "-2.5", "--comment", "late", *BY, out=out)
    said("mark", "EVE", "gelu", "--comment", "where?", *BY, "--course", gelu, out=out)
    (theirs,) = result_of(out, ".staff/group1").assignments["gemm"].marks
    assert (theirs.student, theirs.points) == ("EVE", -2.5) and gradebook(out)["group1"]["gemm_comment"]
    assert [name for name in ("report.html", "result.json") if "EVE" in (out / "group1" / name).read_text()] == []
    output = said("explain-grade", "group1", out=out)
    assert output.count("for EVE: −2.5 points") == 1 and output.index("bob (group1)") < output.index("for EVE")


def test_nothing_is_lost_when_work_is_graded_again(out: Path) -> None:
    said("mark", "ada", "silu", "--points", "5", *BY, out=out)
    with Store.existing(out) as store:
        again = next(attempt for attempt in store.attempts("ada") if attempt.assignment == "silu")
        record = store.result(again)
        add(store, again.model_copy(update={"score": 0, "verdict": "wrong_answer", "tests": "new"}), result=record)
    said("apply", out=out)
    assert [mark.points for mark in result_of(out).assignments["silu"].marks] == [5]
    # 60 before, and 0 now, in one of the assignments.
    assert points_in(said("explain-grade", "ada", out=out).splitlines()[-1]) == result_of(out).score - 60 + 5
    with Store.existing(out) as store:
        assert [mark.points for mark in store.marks()] == [5]


def test_a_request_is_listed_until_it_is_answered(out: Path) -> None:
    assert said("requests", out=out) == "No request is without an answer\n"
    output = said("request", "bob", "gemm", "The mask is right.", "--by", "bob", out=out)
    assert output.startswith("Request 1 is recorded")
    assert said("requests", out=out) == (
        f"1: group1, gemm: {request_of(out).said}\n1 without an answer\n")
    page, report = (out / "index.html").read_text(), (out / "group1" / "report.html").read_text()
    assert "Requests for regrading" in page and "The mask is right." in page and "Not answered yet." in report
    assert "not answered yet" in said("explain-grade", "bob", out=out)
    said("answer", "1", "It is not.", *BY, out=out)
    second, first = said("answer", "1", "It is.", "--points", "3", *BY, out=out).splitlines()
    assert second == "group1, gemm: T. Assistant answers: +3 points; It is."
    assert first.startswith("in place of: ") and first.endswith("It is not.")
    assert said("requests", out=out) == "No request is without an answer\n"
    assert said("requests", "--all", out=out).count("\n") == 3
    assert "Requests for regrading" not in (out / "index.html").read_text()
    assert "Not answered yet." not in (out / "group1" / "report.html").read_text()
    bob, eve = (said("explain-grade", who, out=out).splitlines()[-1] for who in ("bob", "eve"))
    # The work is the group's, whoever asks.
    assert points_in(bob) == points_in(eve) == result_of(out, "group1").score + 3


def request_of(out: Path) -> Mark:
    with Store.existing(out) as store:
        return store.marks()[0]


def points_in(line: str) -> float:
    return float(line.split(": ")[1].split(" of ")[0])


def test_a_table_of_marks_is_recorded_once_and_as_a_whole(out: Path, tmp_path: Path) -> None:
    table = tmp_path / "marks.csv"
    table.write_text("Student;Assignment;Points;Comment;Who\nada;silu;2,5;tidy;T. A.\nBOB;gemm;−1;;\n\nada;gemm;;;\n",
                     encoding="utf-16")
    assert said("mark", "--csv", table, *BY, out=out) == (
        f"{table}: 2 marks recorded, 0 of them in place of earlier ones; 0 as they were\n")
    with Store.existing(out) as store:
        assert [(mark.slug, mark.student, mark.points, mark.by) for mark in store.marks()] == [
            ("ada", "", 2.5, "T. A."), ("group1", "BOB", -1, "T. Assistant")]
    assert "0 marks recorded, 0 of them in place of earlier ones; 2 as" in said("mark", "--csv", table, *BY, out=out)
    table.write_text("student,assignment,points\nada,silu,4\n")
    assert "1 marks recorded, 1 of them in place" in said("mark", "--csv", table, out=out)
    assert result_of(out).assignments["silu"].given == 4
    said("mark", "ada", "silu", "--points", "0", out=out)
    assert result_of(out).assignments["silu"].marks == []
    # All that was ever given is there still.
    with Store.existing(out) as store:
        assert [mark.points for mark in store.marks() if mark.slug == "ada"] == [2.5, 4, 0]


@pytest.mark.parametrize(("content", "says"), {
    "student,points\nada,5\n": "row 1: no 'assignment' in 'student, points'; use the headings student, assignment, "
                               "points, comment, by, each once, of which student and assignment are needed\n",
    "student,assignment,point\n": "row 1: 'point' in 'student, assignment, point'; use the headings student,",
    "id,name\n": "row 1: no 'student', no 'assignment', 'id', 'name' in 'id, name'; use the headings student,",
    "id," * 20_000 + "id\n": "row 1: no 'student', no 'assignment', 'id', 'id' in 'id, id, ",
    "Student,Assignment,By,Who\n": "row 1: 'by' in 'Student, Assignment, By, Who'; use the headings student,",
    "student,assignment,points\nada,silu,five\n": "row 2: points: 'five'; give a number such as 5",
    "student,assignment,points\nada,silu,1e400\n": "row 2: points: '1e400'; give a number",
    "student,assignment,points\nada,silu,101\n": "row 2: 101 points: silu has 100; give at most as many",
    "student,assignment,points\nada,silu,1\nmallory,silu,1\n": "row 3: student 'mallory': nobody in ",
    "student,assignment,points\nada,relu,1\n": "row 2: assignment 'relu': not of this course; choose from silu,",
    "student,assignment,points\nada,silu,1\nADA,silu,2\n": "row 3: this student and assignment have an earlier row",
    "student,assignment,points\nada,silu\n": "row 2: 2 values; give 3",
}.items())
def test_what_is_wrong_with_a_table_is_one_line_and_none_of_it_is_recorded(
    out: Path, tmp_path: Path, content: str, says: str
) -> None:
    table = tmp_path / "marks.csv"
    table.write_text(content)
    output = said("mark", "--csv", table, *BY, out=out, status=2)
    assert output.count("\n") == 1 and f"{table}, {says}" in output
    with Store.existing(out) as store:
        assert store.marks() == []


@pytest.mark.parametrize(("arguments", "says"), {
    ("mark", "ada"): "no student and assignment; give both",
    ("mark", "ada", "silu"): "neither --points nor --comment",
    ("mark", "ada", "silu", "--points", "nan"): "nan points: silu has 100",
    ("mark", "ada", "--csv", "marks.csv"): "--csv marks.csv: has students, points and comments; pass it alone",
    ("request", "ada", "silu", " "): "nothing is asked",
    ("answer", "1", "yes"): "1: no such request in ",
    ("mark", "--csv", "nowhere.csv"): "nowhere.csv: No such file or directory; name a CSV file",
}.items())
def test_what_is_wrong_with_a_mark_is_one_line(out: Path, arguments: tuple[str, ...], says: str) -> None:
    output = said(*arguments, out=out, status=2)
    assert output.count("\n") == 1 and says in output


def test_marks_stay_a_persons_by_a_newer_roster_and_are_missed_without_one(out: Path, tmp_path: Path) -> None:
    old, new = tmp_path / "old.csv", tmp_path / "new.csv"
    old.write_text("id,name\nzoe,Zoe\neve,Eve\n")
    new.write_text("id,name\ns1,Eve\ns2,Zoe\n")
    said("mark", "eve", "gemm", "--points", "5", *BY, out=out)
    said("mark", "zoe", "silu", "--points", "7", *BY, "--roster", old, out=out)
    line = "kernelmark: marks of zoe belong to nobody here; pass --roster\n"
    for words in (("export", "csv", out, "--out", tmp_path / "grades.csv"), ("explain-grade", "--out", out)):
        assert kernelmark(*words).stderr == line
    result = kernelmark("explain-grade", "--out", out, "--roster", new)
    totals = "s1 (group1): {} of 600\ns2: {} of 600\nada: 360 of 600\nbob (group1): 360 of 600\n"
    assert (result.stdout, result.stderr) == (totals.format(365, 7), "")
    # A newer mark takes the place of one under the earlier id.
    for who, name in (("s1", "gemm"), ("s2", "silu")):
        assert "in place of: " in said("mark", who, name, "--points", "9", *BY, "--roster", new, out=out)
    assert kernelmark("explain-grade", "--out", out, "--roster", new).stdout == totals.format(369, 9)


def test_a_member_whose_id_is_the_groups_folder_is_named_by_both(out: Path, tmp_path: Path) -> None:
    outcome = JobOutcome(Submission("anna", tmp_path, "anna"), samples.result("anna"))
    assert kept(outcome, out, members=("anna", "gina")) == []
    for who, points, whom in (("anna", 2, ", for everybody in the group (anna, gina)"), ("anna/Anna", 1, "")):
        output = said("mark", who, "silu", "--points", str(points), *BY, out=out)
        assert output.startswith(f"{who}, silu{whom}: T. Assistant") and "in place of" not in output
    assert "anna/bob'" in said("mark", "anna/bob", "silu", "--points", "1", *BY, out=out, status=2)
    assert {"anna: 363 of 600", "gina (anna): 362 of 600"} <= set(said("explain-grade", out=out).splitlines())


def test_records_of_the_first_version_are_read_and_get_marks(out: Path) -> None:
    path = out / FOLDER / FILE
    with sqlite3.connect(path) as connection:
        connection.executescript("drop table marks; pragma user_version = 1;")
    connection.close()
    with Store.existing(out) as store:
        assert store.marks() == [] and len(store.attempts()) == 2 * len(KERNELS)
        (made,) = store.mark([mark(5)])
        assert store.marks() == [made]
        add(store, draft(student="bob"))
    with sqlite3.connect(path) as connection:
        assert connection.execute("pragma user_version").fetchone() == (2,)
        with pytest.raises(sqlite3.IntegrityError, match="added to, never changed"):
            connection.execute("delete from marks")
    connection.close()
