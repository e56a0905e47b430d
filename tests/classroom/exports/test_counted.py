"""What counts in every export: assignments of the course, those that are asked for, and grades by attempts."""

import csv
import inspect
import json
from pathlib import Path

import pytest

from grader.classroom.attempts.selected import pending
from grader.classroom.attempts.store import Store
from grader.classroom.attempts.student_files import refresh
from grader.commands.export import app
from grader.course.late import LatePolicy
from grader.course.submission import Submission
from grader.grading.job import JobOutcome
from grader.results.mark import Mark
from tests.classroom.attempts.made import add, draft, kept
from tests.classroom.exports.made import hand_in, person, taken
from tests.classroom.exports.test_sheets import export, rows_of
from tests.command import kernelmark, refused
from tests.pages.samples import KERNELS, result

LATE = "2026-03-02T10:00:00+01:00"
POLICY = "[late]\npercent = 50\ndeadlines = { silu = 2026-03-02T00:00:00+01:00, gemm = 2026-03-02T00:00:00+01:00 }\n"


@pytest.fixture
def out(tmp_path: Path) -> Path:
    """Ada and a pair, right in all six, handed in hours late for silu and gemm."""
    path = tmp_path / "out"
    path.mkdir()
    for name, members in (("ada", ("ada",)), ("pair", ("bo", "lin"))):
        assert kept(JobOutcome(Submission(name, Path(name), name), result(name)), path, members=members,
                    submitted_at=LATE) == []
    taken(tmp_path / "class", "git", *(hand_in(name, *map(person, members), at=LATE, tag="submit/1",
                                               origin=f"gpu-kernels-{name}")
                                       for name, members in (("ada", ["ada"]), ("pair", ["bo", "lin"]))))
    return path


def test_what_the_course_does_not_have_any_more_does_not_count(tmp_path: Path, out: Path) -> None:
    (tmp_path / "course.toml").write_text(f'assignments = ["silu", "copy_first_column"]\n{POLICY}'.replace(
        ", gemm = 2026-03-02T00:00:00+01:00", ""))
    course, gone = ("--course", "course.toml"), "; ".join(sorted({*KERNELS} - {"silu", "copy_first_column"}, key=[
        *KERNELS].index))
    line = f"kernelmark: {gone}: graded, but are no assignments of the course and do not count; pass the --course that"
    for kind in ("csv", "junit"):
        said, _ = export(kind, "out", *course, "--out", kind, cwd=tmp_path)
        assert any(one.startswith(line) for one in said), said
    rows = rows_of(tmp_path / "csv")
    assert {who: (row["grade"], row["max_score"], row["silu_grade"], row["copy_first_column_grade"], row["score"])
            for who, row in rows.items()} == dict.fromkeys(("ada", "bo", "lin"), ("90", "200", "30", "60", "120"))
    # No intake says when it was handed in.
    assert {row["submitted_at"] for row in rows.values()} == {LATE}
    assert not any("gemm" in heading for heading in rows["ada"]) and "gemm" not in (tmp_path / "junit").read_text()
    export("gradescope", "out", *course, "--student", "ada", "--out", "ada.json", cwd=tmp_path)
    data = json.loads((tmp_path / "ada.json").read_text())
    assert data["score"] == 90 and [
        (test["score"], test["max_score"]) for test in data["tests"] if "score" in test] == [(30, 100), (60, 100)]
    assert "50 % off: 1 day at 50 % each" in data["tests"][0]["output"]
    process = kernelmark("explain-grade", "ada", "--out", "out", *course, cwd=tmp_path)
    assert "gemm\n          –  no assignment of the course any more: 60 of 100 points not counted\n" in process.stdout
    assert process.stdout.endswith("\nada: 90 of 200\n")
    process = kernelmark("explain-grade", "--out", "out", *course, cwd=tmp_path)
    assert process.stdout.startswith("ada: 90 of 200\n") and process.stderr.startswith(line), process
    (tmp_path / "course.toml").write_text('assignments = ["gelu"]\n')
    refused("pass the --course that graded it", "export", "csv", "out", *course, "--out", "none.csv", cwd=tmp_path)


def test_every_export_takes_the_course() -> None:
    commands = {command.name or command.callback.__name__: inspect.signature(command.callback).parameters
                for command in app.registered_commands if command.callback}
    assert commands and [name for name, words in commands.items() if "course" not in words] == []


def test_one_assignment_by_the_late_policy(tmp_path: Path, out: Path) -> None:
    # A grace day is spent over the whole term, whatever is exported: on one of the two, here on gemm.
    (tmp_path / "course.toml").write_text(POLICY + '[[late.overrides]]\nstudent = "lin"\nassignment = "silu"\n'
                                          'points = 77\nreason = "orally"\nby = "Roe"\n')
    (tmp_path / "roster.csv").write_text("id,name,late_days\nada,Ada Byron,1\nbo,Bo,0\nlin,Li Lei,0\n")
    (tmp_path / "canvas.csv").write_text("Student,ID,SIS Login ID,Section,SiLU (7),GEMM (8)\n"
                                         "    Points Possible,,,,100,100\nAda,1,ada,A,,\nBo,2,bo,A,,\nLin,3,lin,A,,\n")
    (tmp_path / "moodle.csv").write_text("Identifier,Full name,ID number,Grade,Last modified (grade)\n" + "".join(
        f"Participant {n},{who.title()},{who},,-\n" for n, who in enumerate(("ada", "bo", "lin"), 1)))
    words = ("--course", "course.toml", "--roster", "roster.csv")
    for only, ada, bo, lin in (("silu", "30", "30", "77"), ("gemm", "60", "30", "30"),
                               ("silu,gemm", "90", "60", "107")):
        for kind, more in (("canvas", ("--column", "SiLU")), ("moodle", ())):
            said, _ = export(kind, "out", "--only", only, *words, "--sheet", f"{kind}.csv", *more, "--force", "--out",
                             "filled.csv", cwd=tmp_path)
            rows = list(csv.reader((tmp_path / "filled.csv").read_text().splitlines()))[2 if kind == "canvas" else 1:]
            assert [row[-1 if kind == "canvas" else 3] for row in rows] == [ada, bo, lin], (only, kind)
            assert (only == "silu,gemm") == any("has 100 points there, and 200 here" in line for line in said
                                                ) or kind == "moodle"
    export("csv", "out", *words, "--out", "all.csv", cwd=tmp_path)
    assert [(row["silu_grade"], row["gemm_grade"], row["transpose_grade"], row["grade"])
            for row in rows_of(tmp_path / "all.csv").values()] == [
                ("30", "60", "60", "330"), ("30", "30", "60", "300"), ("77", "30", "60", "347")]
    refused("--only 'gelu': no graded assignment of the course; choose from silu", "export", "csv", "out", "--only",
            "silu,gelu", *words, "--out", "no.csv", cwd=tmp_path)
    # One grade for both members, in formats that have one.
    for kind, whose in (("gradescope", ("--student", "pair")), ("classroom50", (
            "--intake", "class", "--classroom", "gpu", "--assignment", "kernels", "--organisation", "https://x.edu/o"))):
        process = kernelmark("export", kind, "out", *whose, *words, "--out", f"made/{kind}", cwd=tmp_path)
        assert "its members have different grades (bo 300, lin 347), and the format has one for all" in process.stderr
        assert process.returncode == (2 if kind == "gradescope" else 0)


def test_what_people_give_is_in_every_total_and_where_there_is_room_for_words(tmp_path: Path, out: Path) -> None:
    with Store.existing(out) as store:
        store.mark([Mark(slug="ada", assignment="silu", points=5, comment="=tidy <b>", by="T. A."),
                    Mark(slug="pair", student="bo", assignment="gemm", points=-2.5, comment="came late", by="T. A."),
                    Mark(slug="", student="eve", assignment="silu", points=7, comment="oral exam", by="T. A.")])
    (tmp_path / "roster.csv").write_text("id,name\nada,Ada\nbo,Bo\nlin,Lin\neve,Eve\n")
    (tmp_path / "worksheet.csv").write_text(
        "Identifier,Full name,Email address,Grade,Last modified (grade),Feedback comments\n"
        + "".join(f"Participant {at},{who.title()},{who}@x.edu,,-,{text}\n"
                  for at, (who, text) in enumerate({"ada": "", "bo": "", "lin": "", "eve": "seen"}.items(), 7)))
    asked = ("--intake", "class", "--roster", "roster.csv")
    export("csv", "out", *asked, "--out", "grades.csv", cwd=tmp_path)
    rows = rows_of(tmp_path / "grades.csv")
    assert {who: row["grade"] for who, row in rows.items()} == {"ada": "365", "bo": "357.5", "lin": "360", "eve": "7"}
    assert {who: (row["silu_marks"], row["gemm_marks"], row["gemm_grade"]) for who, row in rows.items()} == {
        "ada": ("5", "", "60"), "bo": ("", "-2.5", "57.5"), "lin": ("", "", "60"), "eve": ("7", "", "")}
    assert "=tidy <b>" in rows["ada"]["silu_comment"] and rows["lin"]["gemm_comment"] == ""
    said, _ = export("moodle", "out", *asked, "--sheet", "worksheet.csv", "--out", "filled.csv", cwd=tmp_path)
    filled = {row["Full name"]: row for row in csv.DictReader((tmp_path / "filled.csv").read_text().splitlines())}
    assert {who: row["Grade"] for who, row in filled.items()} == {"Ada": "365", "Bo": "357.5", "Lin": "360", "Eve": "7"}
    assert filled["Ada"]["Feedback comments"].endswith("+5 points; =tidy &lt;b&gt;")
    assert filled["Lin"]["Feedback comments"] == "" and filled["Eve"]["Feedback comments"] == "seen"
    assert ("kernelmark: eve: comments are left out, since the sheet has other feedback there; empty those cells "
            "to fill them") in said
    # What one member alone is told is in no file of the group.
    with Store.existing(out) as store:
        store.mark([Mark(slug="pair", student="bo", assignment="gemm", comment="came late", by="T. A."),
                    Mark(slug="pair", assignment="gemm", comment="to both", by="T. A.")])
    export("gradescope", "out", "--student", "pair", "--out", "pair.json", cwd=tmp_path)
    assert ("came late" not in (theirs := (tmp_path / "pair.json").read_text())) and "to both" in theirs
    export("gradescope", "out", "--student", "ada", "--out", "ada.json", cwd=tmp_path)
    data = json.loads((tmp_path / "ada.json").read_text())
    assert data["score"] == 365 and "+5 points; =tidy <b>" in data["tests"][0]["output"]
    export("classroom50", "out", "--intake", "class", "--classroom", "gpu", "--assignment", "kernels", "--organisation",
           "https://github.com/uni", "--out", "made", cwd=tmp_path)
    assert json.loads((tmp_path / "made" / "ada.json").read_text())["score"] == 365
    assert "tidy" in json.loads((tmp_path / "made" / "ada.json").read_text())["tests"][0]["message"]


def test_points_where_nobody_handed_in_anything_are_an_assignments(tmp_path: Path, out: Path) -> None:
    (tmp_path / "course.toml").write_text('assignments = ["silu", "gelu"]\n')
    (tmp_path / "roster.csv").write_text("id,name\nada,Ada\nbo,Bo\nlin,Lin\neve,Eve\nkim,Kim\n")
    words = ("--course", "course.toml", "--roster", "roster.csv")
    for who, *more in (("ada", "--points", "10", "--comment", "oral"), ("eve", "--comment", "was ill")):
        assert kernelmark("mark", who, "gelu", *more, "--out", "out", *words, cwd=tmp_path).returncode == 0
    export("csv", "out", *words, "--out", "grades.csv", cwd=tmp_path)
    rows = rows_of(tmp_path / "grades.csv")
    assert {who: (row["grade"], row["max_score"], row["gelu_grade"], row["gelu_marks"], row["gelu_comment"][-7:])
            for who, row in rows.items()} == {
        "ada": ("70", "200", "10", "10", "s; oral"), "bo": ("60", "200", "", "", ""), "lin": ("60", "200", "", "", ""),
        "eve": ("", "200", "", "", "was ill"), "kim": ("", "", "", "", "")}
    process = kernelmark("explain-grade", "--out", "out", *words, cwd=tmp_path)
    assert [line.split(": ")[1] for line in process.stdout.splitlines()] == [
        "70 of 200", "60 of 200", "60 of 200", "0 of 200", "0 of 200"]
    export("gradescope", "out", "--student", "ada", *words, "--out", "ada.json", cwd=tmp_path)
    export("classroom50", "out", "--intake", "class", "--classroom", "gpu", "--assignment", "kernels", "--organisation",
           "https://github.com/uni", *words, "--out", "made", cwd=tmp_path)
    for file, most, text in (("ada.json", "max_score", "output"), ("made/ada.json", "max-score", "message")):
        data = json.loads((tmp_path / file).read_text())
        rows_ = [test for test in data["tests"] if "score" in test]
        assert (data["score"], [(row["score"], row[most]) for row in rows_]) == (70, [(60, 100), (10, 100)])
        assert rows_[1][text].endswith("oral")
    (tmp_path / "canvas.csv").write_text("Student,ID,SIS Login ID,Section,GELU (7)\n    Points Possible,,,,100\n"
                                         "Ada,1,ada,A,\nBo,2,bo,A,\n")
    (tmp_path / "moodle.csv").write_text("Identifier,Full name,ID number,Grade,Maximum grade,Feedback comments\n"
                                         "Participant 1,Ada,ada,,100,\nParticipant 2,Bo,bo,,100,\n")
    for kind in ("canvas", "moodle"):
        said, _ = export(kind, "out", "--only", "gelu", *words, "--sheet", f"{kind}.csv", "--out", f"filled-{kind}.csv",
                         *(("--column", "GELU") if kind == "canvas" else ()), cwd=tmp_path)
        assert not any("points are not scaled" in line for line in said)
    assert list(csv.reader((tmp_path / "filled-canvas.csv").read_text().splitlines()))[2:] == [
        ["Ada", "1", "ada", "A", "10"]]
    ada, bo = csv.DictReader((tmp_path / "filled-moodle.csv").read_text().splitlines())
    assert (ada["Grade"], ada["Feedback comments"][-7:], bo["Grade"]) == ("10", "s; oral", "")


def test_a_killed_apply_is_told_by_what_reads_next(tmp_path: Path, out: Path) -> None:
    better = result("ada", speed=True)
    with Store.existing(out) as store:
        add(store, draft(verdict="accepted", score=99, max_score=100, members=("ada",), submitted_at=LATE),
            result=better.model_copy(update={"assignments": {"silu": better.assignments["silu"]}}))
        # All that `apply` does before it writes files.
        store.decide(after for _, after in pending(store.attempts(), store.decisions()))
        line = "ada: report.html and result.json are older than the grade, as after a command that was killed or "
        for words in (("export", "csv", "out", "--out", "new.csv"), ("explain-grade", "ada", "--out", "out")):
            process = kernelmark(*words, cwd=tmp_path)
            assert process.returncode == 0 and f"kernelmark: {line}" in process.stderr, process
        # Points and feedback of one row are of one attempt.
        row = rows_of(tmp_path / "new.csv")["ada"]
        assert row["silu_grade"] == "99" and row["silu_speedup"]
        assert kernelmark("explain-grade", "pair", "--out", "out", cwd=tmp_path).stderr == ""
        assert refresh(store, out, LatePolicy()) == []
    process = kernelmark("explain-grade", "ada", "--out", "out", cwd=tmp_path)
    assert (process.returncode, process.stderr) == (0, "")
