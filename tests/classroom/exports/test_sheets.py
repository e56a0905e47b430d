"""The instructor's own sheets: the rows and the column that are meant are filled, and nothing else is touched."""

import csv
import os
from pathlib import Path

import pytest

from grader.classroom.intake.manifest import Kind, Member, OmittedFile
from grader.course.sheet import read_sheet
from grader.course.submission import Submission
from grader.grading.job import JobOutcome
from tests.classroom.attempts.made import kept
from tests.classroom.exports import rules
from tests.classroom.exports.made import graded, hand_in, person, taken
from tests.command import kernelmark, refused
from tests.pages.samples import assignment, result

CANVAS, MOODLE = (Path(__file__).with_name(name).read_text(encoding="utf-8") for name in ("canvas.csv", "moodle.csv"))
CLASS = {"byronada_101": {}, "group": {"gemm": "wrong_answer"}, "moemax_105": {}, "poepam_106": {},
         "roerob_107": {"gemm": "infrastructure_error"}, "zoe_999": {}}


def export(*words: str | Path, cwd: Path) -> tuple[list[str], str]:
    """What was said on the side, and the output. What was written is held against the platform's rules."""
    process = kernelmark("export", *words, cwd=cwd)
    assert process.returncode == 0, process
    kind, path, sheet = str(words[0]), rules.option(words, "--out"), rules.option(words, "--sheet")
    if path and (sheet or kind in rules.RULES):
        rules.follows(kind, cwd / path, cwd / sheet if sheet else None)
    return process.stderr.splitlines(), process.stdout


def canvas_class(root: Path) -> None:
    graded(root / "out", CLASS)
    taken(root / "class", "canvas", hand_in("byronada_101", person("101", "byronada")),
          hand_in("group", person("lin", "Li Lei", "102"), person("s3", "Jane Doe", "-", "jane1@x.edu")),
          hand_in("moemax_105", person("105")), hand_in("poepam_106", person("106")),
          hand_in("roerob_107", person("107")), hand_in("zoe_999", person("999", "zoe")),
          hand_in("late_1", person("1")))


def test_canvas_rows_and_column_that_are_meant(tmp_path: Path) -> None:
    canvas_class(tmp_path)
    (tmp_path / "sheet.csv").write_text(CANVAS)
    said, output = export("canvas", "out", "--sheet", "sheet.csv", "--column", "Kernels", "--intake", "class", "--out",
                          "filled.csv", cwd=tmp_path)
    rows = list(csv.reader((tmp_path / "filled.csv").read_text().splitlines()))
    # No other assignment, no total, no row without a grade; the points possible as they were.
    assert rows == [
        ["Student", "ID", "SIS User ID", "SIS Login ID", "Integration ID", "Section", "Kernels (12)"],
        ["", "", "", "", "", "", ""], ["    Points Possible", "", "", "", "", "", "600"],
        ["Byron, Ada", "101", "s1", "ada@x.edu", "", "A", "360"], ["Lei, Li", "102", "s2", "lin@x.edu", "", "A", "300"],
        ["Doe, Jane", "103", "s3", "jane1@x.edu", "", "B", "300"]]
    assert (tmp_path / "sheet.csv").read_text() == CANVAS and output.startswith("filled.csv: 3 grades")
    for line in ("moemax_105: 105: is excused (EX); left out", "poepam_106: 106: is not assigned (N/A); left out",
                 "roerob_107: no total, since the points of these are open: gemm",
                 "zoe_999: 999: in no row of the sheet", "late_1: handed in, and not graded",
                 "no grade here for 3 rows of the sheet: Doe, Jane; Roe, Rob; Student, Test"):
        assert f"kernelmark: {line}" in said, said


def test_canvas_with_semicolons_decimal_commas_and_another_maximum(tmp_path: Path) -> None:
    ada = result("Byron, Ada")
    ada.assignments["silu"] = assignment("silu", score=52.5)
    ada.score = 352.5
    graded(tmp_path / "out", {"ada": ada})
    head = "\ufeffStudent;ID;SIS Login ID;Section;Kernels (12)\r\n    Points Possible;;;;100,5\r\n"
    (tmp_path / "sheet.csv").write_text(f"{head}Byron, Ada;101;ada;A;17,5\r\n")
    said, _ = export("canvas", "out", "--sheet", "sheet.csv", "--out", "filled.csv", cwd=tmp_path)
    assert (tmp_path / "filled.csv").read_bytes().decode() == f"{head}Byron, Ada;101;ada;A;352,5\r\n"
    assert "kernelmark: Kernels (12) has 100.5 points there, and 600 here: points are not scaled" in said
    assert "kernelmark: 1 of these had another grade in the sheet" in said


def test_a_name_that_two_have_is_nobodys(tmp_path: Path) -> None:
    graded(tmp_path / "out", {"Jane Doe": {}, "s7": {}})
    (tmp_path / "sheet.csv").write_text(CANVAS)
    said, _ = export("canvas", "out", "--sheet", "sheet.csv", "--column", "Kernels (12)", "--out", "filled.csv",
                     cwd=tmp_path)
    assert "kernelmark: Jane Doe: Jane Doe: 2 rows of the sheet may be meant; left out" in said
    # By what the course calls a student.
    assert [row[1] for row in read_sheet(tmp_path / "filled.csv").rows[3:]] == ["107"]


@pytest.mark.parametrize(("kind", "members"), [
    # The student whom the roster calls 102 is not Canvas's user 102.
    ("gradescope", {"ada": person("102", "Ada Byron")}),
    # The number of an anonymous download is no user's.
    ("canvas", {"anon": person("102", "anon"), "byronada_101": person("101", "byronada")}),
])
def test_no_other_number_is_taken_for_a_canvas_users(tmp_path: Path, kind: Kind, members: dict[str, Member]) -> None:
    graded(tmp_path / "out", {folder: {} for folder in members})
    taken(tmp_path / "class", kind, *(hand_in(folder, member) for folder, member in members.items()))
    (tmp_path / "sheet.csv").write_text(CANVAS)
    export("canvas", "out", "--sheet", "sheet.csv", "--column", "Kernels", "--intake", "class", "--out", "filled.csv",
           cwd=tmp_path)
    assert [row[1] for row in read_sheet(tmp_path / "filled.csv").rows[3:]] == ["101"]


def test_moodle_everything_else_survives(tmp_path: Path) -> None:
    graded(tmp_path / "out", {"Ada_Byron_101": {}, "Jane_Doe_103": {"gemm": "wrong_answer"}})
    taken(tmp_path / "class", "moodle", hand_in("Ada_Byron_101", person("101", "Ada Byron")),
          hand_in("Jane_Doe_103", person("103", "Jane Doe")))
    (tmp_path / "sheet.csv").write_text(MOODLE)
    said, output = export("moodle", "out", "--sheet", "sheet.csv", "--column", "Bewertung", "--intake", "class",
                          "--out", "filled.csv", cwd=tmp_path)
    before, after = read_sheet(tmp_path / "sheet.csv").rows, read_sheet(tmp_path / "filled.csv").rows
    before[1][5], before[3][5] = "360", "300"
    assert after == before and output.startswith("filled.csv: 2 grades")
    assert not any("scaled" in line for line in said)


def test_a_row_of_moodle_that_is_locked_is_left_out(tmp_path: Path) -> None:
    graded(tmp_path / "out", {"Ada_Byron_101": {}, "Jane_Doe_103": {}})
    taken(tmp_path / "class", "moodle", hand_in("Ada_Byron_101", person("101")),
          hand_in("Jane_Doe_103", person("103")))
    (tmp_path / "sheet.csv").write_text("Identifier,Full name,Grade,Grade can be changed\n"
                                        "Participant 101,Ada Byron,,No\nParticipant 103,Jane Doe,,Yes\n")
    said, _ = export("moodle", "out", "--sheet", "sheet.csv", "--intake", "class", "--out", "filled.csv", cwd=tmp_path)
    assert [row[2] for row in read_sheet(tmp_path / "filled.csv").rows[1:]] == ["", "360"]
    assert "kernelmark: Ada_Byron_101: 101: the sheet says that its grade cannot be changed; left out" in said


def test_a_sheet_of_others_is_refused(tmp_path: Path) -> None:
    graded(tmp_path / "out", {"x_901": {}, "y_902": {}})
    (tmp_path / "sheet.csv").write_text(CANVAS)
    refused("sheet.csv: none of 2 grades has a row there (", "export", "canvas", "out", "--sheet", "sheet.csv",
            "--column", "Kernels", "--out", "filled.csv", cwd=tmp_path)
    assert not (tmp_path / "filled.csv").exists()


def test_what_was_handed_in_and_holds_no_file_says_so_in_the_table(tmp_path: Path) -> None:
    graded(tmp_path / "out", {"ann": {"silu": "missing"}, "bo": {"silu": "missing"}})
    pdf = OmittedFile(name="a.pdf", why="no file of ours")
    taken(tmp_path / "class", "folders",
          hand_in("ann", person("ann")).model_copy(update={"taken": {}, "left": [pdf]}),
          hand_in("bo", person("bo")).model_copy(update={"taken": {}, "left": []}))
    export("csv", "out", "--intake", "class", "--out", "grades.csv", cwd=tmp_path)
    head, *rows = read_sheet(tmp_path / "grades.csv").rows
    assert [row[head.index("problems")] for row in rows] == ["a.pdf: no file of ours", "no file"]


def test_moodle_by_mail_where_the_source_was_another(tmp_path: Path) -> None:
    graded(tmp_path / "out", {"kernels-lin": {}})
    taken(tmp_path / "class", "git", hand_in("kernels-lin", person("101", email="lin@x.edu")))
    (tmp_path / "sheet.csv").write_text(MOODLE)
    export("moodle", "out", "--sheet", "sheet.csv", "--column", "Bewertung", "--intake", "class", "--out", "filled.csv",
           cwd=tmp_path)
    assert [row[5] for row in read_sheet(tmp_path / "filled.csv").rows[1:]] == ["", "360", ""]


USAGE = {
    "no results": (("canvas", "none", "--sheet", "s.csv"), "none: No such file or directory; name a folder of results"),
    "empty": (("canvas", "empty", "--sheet", "s.csv"), "empty: holds no result"),
    "no sheet": (("canvas", "out", "--sheet", "none.csv"), "none.csv: No such file or directory; name a CSV file"),
    "not Canvas's": (("canvas", "out", "--sheet", "m.csv"), "no columns Student and ID"),
    "not Moodle's": (("moodle", "out", "--sheet", "s.csv", "--column", "Kernels (12)"), "names no participants"),
    "column": (("canvas", "out", "--sheet", "s.csv", "--column", "Kernel"),
               "--column 'Kernel': not a column of s.csv; choose from 'Quiz (7)', 'Kernels (12)'"),
    "which column": (("canvas", "out", "--sheet", "s.csv"), "--column: not given for s.csv; choose from 'Quiz (7)'"),
    "intake": (("canvas", "out", "--sheet", "s.csv", "--intake", "out"), "the folder that kernelmark intake wrote"),
    "the sheet itself": (("canvas", "out", "--sheet", "s.csv", "--column", "Kernels", "--out", "s.csv"),
                         "already exists"),
    "standard output": (("csv", "out", "--out", "-"), "--out -: is not for standard output; name a file"),
    "a device": (("csv", "out", "--out", "/dev/null", "--force"),
                 "--out /dev/null: already exists and is no regular file; choose another name"),
}


@pytest.mark.parametrize(("words", "says"), USAGE.values(), ids=USAGE)
def test_a_usage_error_is_told_and_nothing_is_written(tmp_path: Path, words: tuple[str, ...], says: str) -> None:
    graded(tmp_path / "out", {"s7": {}})
    (tmp_path / "empty").mkdir()
    (tmp_path / "s.csv").write_text(CANVAS)
    (tmp_path / "m.csv").write_text(MOODLE)
    process = kernelmark("export", *words, *([] if "--out" in words else ["--out", "new.csv"]), cwd=tmp_path)
    assert process.returncode == 2 and says in process.stderr, process
    assert "; " in process.stderr.splitlines()[-1] and not (tmp_path / "new.csv").exists()
    assert (tmp_path / "s.csv").read_text() == CANVAS


def rows_of(path: Path) -> dict[str, dict[str, str]]:
    """A table of people by id."""
    head, *rows = read_sheet(path).rows
    return {row[0]: dict(zip(head, row, strict=True)) for row in rows}


LATE = """[late]
percent = 50
deadlines = { silu = 2026-03-02T00:00:00+01:00 }
"""


def late_class(root: Path) -> None:
    """Two people graded under Canvas's numbers, who handed in hours late."""
    (root / "out").mkdir()
    for name in ("byronada_101", "leili_102"):
        assert kept(JobOutcome(Submission(name, Path(name), name), result(name)), root / "out", members=(name[-3:],),
                    submitted_at="2026-03-02T10:00:00+01:00") == []
    (root / "course.toml").write_text(LATE)


def test_policy_holds_without_an_intake_and_for_a_folder_that_it_lacks(tmp_path: Path) -> None:
    late_class(tmp_path)
    taken(tmp_path / "class", "canvas", hand_in("leili_102", person("102", "leili")))
    for words in ((), ("--intake", "class")):
        export("csv", "out", *words, "--course", "course.toml", "--force", "--out", "grades.csv", cwd=tmp_path)
        assert {who: row["grade"] for who, row in rows_of(tmp_path / "grades.csv").items()} == {
            "101": "330", "102": "330"}


def test_who_has_no_grade_by_policy_is_told_and_gets_no_raw_score(tmp_path: Path) -> None:
    late_class(tmp_path)
    graded(tmp_path / "out", {"zoe": {}})
    taken(tmp_path / "class", "canvas", hand_in("leili_102", person("102"), person("999")))
    said, _ = export("csv", "out", "--intake", "class", "--course", "course.toml", "--out", "grades.csv", cwd=tmp_path)
    assert {who: row["grade"] for who, row in rows_of(tmp_path / "grades.csv").items()} == {
        "101": "330", "102": "330", "999": "", "zoe": ""}
    for who in ("leili_102: 999", "zoe: zoe"):
        assert any(line.startswith(f"kernelmark: {who}: no grade, since no recorded attempt is theirs;")
                   and line.endswith("grade this one") for line in said), said


def test_a_roster_that_comes_at_export_brings_its_days_and_the_names_of_course_toml(tmp_path: Path) -> None:
    late_class(tmp_path)
    taken(tmp_path / "class", "canvas", hand_in("byronada_101", person("101", "byronada"), late=True),
          hand_in("leili_102", person("102", "leili"), late=False))
    (tmp_path / "roster.csv").write_text("id,name,late_days\nadab,Ada Byron,\nlin,Li Lei,1\n")
    (tmp_path / "course.toml").write_text(
        LATE + '[[late.extensions]]\nstudent = "adab"\nuntil = 2026-03-03T00:00:00+01:00\n')
    words = ("--intake", "class", "--roster", "roster.csv")
    said, _ = export("csv", "out", *words, "--course", "course.toml", "--out", "grades.csv", cwd=tmp_path)
    assert {who: row["grade"] for who, row in rows_of(tmp_path / "grades.csv").items()} == {
        "adab": "360", "lin": "360"} and not any("[late]" in line for line in said)
    # The deadline and its extension say who is late; what the platform marked holds where there is none.
    for only, late in (("silu", {"adab": "no", "lin": "yes"}), ("gemm", {"adab": "yes", "lin": "no"})):
        export("csv", "out", *words, "--course", "course.toml", "--only", only, "--out", f"{only}.csv", cwd=tmp_path)
        assert {who: row["late"] for who, row in rows_of(tmp_path / f"{only}.csv").items()} == late
    # What explains a grade knows people by the same ids.
    asked = ("--out", "out", "--course", "course.toml")
    for who in ("adab", "101", "byronada_101"):
        process = kernelmark("explain-grade", who, *asked, *words, cwd=tmp_path)
        assert process.returncode == 0 and process.stdout.endswith("\nadab (byronada_101): 360 of 600\n"), process
    process = kernelmark("explain-grade", *asked, *words, cwd=tmp_path)
    assert (process.stdout, process.stderr) == (
        "adab (byronada_101): 360 of 600\nlin (leili_102): 360 of 600, 1 of 1 grace days used\n", "")


def test_who_may_read_exported_grades_is_what_the_umask_says(tmp_path: Path) -> None:
    graded(tmp_path / "out", {"ada": {}})
    before = os.umask(0o077)
    try:
        export("csv", "out", "--out", "grades.csv", cwd=tmp_path)
    finally:
        os.umask(before)
    assert (tmp_path / "grades.csv").stat().st_mode & 0o777 == 0o600


def test_of_a_link_the_target_is_written(tmp_path: Path) -> None:
    graded(tmp_path / "out", {"ada": {}})
    (tmp_path / "grades.csv").symlink_to(tmp_path / "shared" / "grades.csv")
    for more in ((), ("--force",)):
        export("csv", "out", "--out", "grades.csv", *more, cwd=tmp_path)
    assert (tmp_path / "grades.csv").is_symlink() and "ada" in (tmp_path / "shared" / "grades.csv").read_text()


def test_what_is_excused_is_missing_from_the_points_that_a_grade_is_of(tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    for name in ("leili_102", "zoe_999"):
        assert kept(JobOutcome(Submission(name, Path(name), name), result(name)), out, members=(name[-3:],)) == []
    taken(tmp_path / "class", "canvas", hand_in("leili_102", person("102", "leili")),
          hand_in("zoe_999", person("999", "zoe")))
    (tmp_path / "sheet.csv").write_text(CANVAS)
    (tmp_path / "course.toml").write_text("".join(
        f'[[late.excused]]\nstudent = "{who}"\nassignment = "gemm"\nreason = "ill"\nby = "Roe"\n'
        for who in ("102", "201")))
    words = ("--intake", "class", "--course", "course.toml")
    said, _ = export("canvas", "out", "--sheet", "sheet.csv", "--column", "Kernels", *words, "--out", "filled.csv",
                     cwd=tmp_path)
    assert any(line.startswith("kernelmark: leili_102: 102: 300 of 500 points, and the rest excused") for line in said)
    assert "kernelmark: in 1 of these not all points were measured: speed needs a GPU" in said
    assert any("course.toml: [late] names '201', who has no grade" in line for line in said)
    export("csv", "out", *words, "--out", "grades.csv", cwd=tmp_path)
    head, *rows = read_sheet(tmp_path / "grades.csv").rows
    assert [dict(zip(head, row, strict=True))["max_score"] for row in rows] == ["500", "600"]
