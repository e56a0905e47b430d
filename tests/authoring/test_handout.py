"""Handouts say what assignments and the course say, and leave the author's text alone."""

import shutil
from pathlib import Path

from grader.authoring import handout
from grader.course.assignment import Baseline
from grader.course.cases import Case, cases
from grader.course.catalogue import assignments
from grader.course.course import Course, read_course
from grader.course.parameters import Input, Output
from grader.home import ROOT
from grader.kit.author import assignment
from grader.kit.inputs import Bytes, Distribution
from grader.kit.whole import OneOf, Whole
from tests.command import kernelmark
from tests.rows import each_row

COURSE = read_course(ROOT / "course.toml", frozenset(assignments()))
OTHER = Course.model_validate({
    "assignments": ["gemm"],
    "points": {"credit": "per_case", "assignments": {"gemm": {"correctness": 11, "performance": 22.5}}},
    "thresholds": {"assignments": {"gemm": {"floor": 0.17, "target": 0.71}}},
    "policy": {"assembly": "refuse"},
})
TEXT = "# Title\nabove\n<!-- {part}: -->\nan earlier text\n<!-- end -->\n\nbelow <!-- end -->\n"


def test_no_handout_is_out_of_date() -> None:
    problems = [problem for path, drawn in handout.texts(assignments(), COURSE, ROOT).items()
                for problem in handout.problems(path, drawn)]
    assert not problems
    assert (ROOT / handout.NOTEBOOK).read_text(encoding="utf-8") == handout.notebook(assignments(), COURSE, ROOT)


@each_row("name", assignments())
def test_a_handout_names_every_argument_and_case(name: str) -> None:
    assignment = assignments()[name]
    drawn = handout.parts(assignment, COURSE)
    assert all(f"| `{p.name}` |" in drawn["task"] for p in assignment.parameters)
    assert all(f"`{case.name}`" in drawn["checks"] for case in assignment.cases)
    assert all(f"`{case.name}`" in drawn["points"] for timed in assignment.timed for case in timed.siblings())


def test_points_and_rules_are_the_courses() -> None:
    drawn = handout.parts(assignments()["gemm"], OTHER)
    assert "11 points for right answers, a share for each case" in drawn["points"]
    assert "22.5 points for speed" in drawn["points"] and "0 at 0.17 × the baseline's" in drawn["points"]
    assert "22.5 at 0.71 × or more," in drawn["points"]
    assert "assembly is refused" in drawn["allowed"]
    usual = handout.parts(assignments()["gemm"], COURSE)
    assert "if every case passes" in usual["points"] and "assembly" not in usual["allowed"]
    (table,) = (drawn["files"] for drawn in handout.texts(assignments(), OTHER, ROOT).values() if "files" in drawn)
    assert "`gemm.py`" in table and "`silu.py`" not in table


def test_what_is_particular_to_an_assignment_is_said() -> None:
    column = handout.parts(assignments()["copy_first_column"], COURSE)
    assert "(rows, cols) | float32 | in host memory" in column["task"] and "(rows,)" in column["task"]
    assert "`copy_`" in column["allowed"] and "Every bit must match" in column["checks"]
    assert "any 32 bits that are a finite number" in column["checks"]
    assert "| `eps` | | float | between 1e-6 and 0.0001," in handout.parts(
        assignments()["rmsnorm_vector"], COURSE)["task"]
    silu, gemm = (handout.parts(assignments()[name], COURSE)["checks"] for name in ("silu", "gemm"))
    assert ("`-extreme` | normal; each row has a standard deviation of 0.1 to 3 and a mean within ±2; "
            "one in 4 between ±8 and ±16,384 |") in silu
    assert "rounding to float16 explains: most elements by 1e-3 of their value" in gemm
    assert "Arithmetic in float16 fails" not in gemm
    assert "half of the rows are 16 times as large" in gemm


def test_what_is_said_of_contents_is_said_once() -> None:
    def contents(case: Case) -> dict[str, Distribution]:
        wide = Whole(-9, 9) if "wide" in case.values else OneOf(tuple(range(-5, 3)))
        return {"x": wide, "y": wide, "z": OneOf((1, 2)), "w": Whole(0, 1) if case.values == "late" else Whole(0, 2)}

    inputs = [Input(name=name, shape=("N",), dtype="int32") for name in "xyzw"]
    made = assignment(
        name="sums", title="", formula="", parameters=(*inputs, Output(shape=("N",), dtype="int32")),
        oracle=lambda x, y, z, w: x + y + z + w,
        cases=cases("N", "1 5-wide 7-late 8-late-wide"), baseline=Baseline(name="", compiled=""),
        distributions=contents)
    (_, table) = handout.parts(made, COURSE)["checks"].split("\n\n")
    assert table.splitlines() == [
        "| tensors | cases | contents |", "| --- | --- | --- |",
        "| `x`, `y` | with `-wide` | whole numbers from −9 to 9 |",
        "| `x`, `y` | others | one of 8 numbers from −5 to 2 |", "| `z` | all | 1 or 2 |",
        "| `w` | `-late` | whole numbers from 0 to 1 |",
        "| `w` | others | whole numbers from 0 to 2 |"]


def test_what_is_said_of_bytes() -> None:
    kinds = {"mixed": Bytes(), "pure": Bytes(2), "coarse": Bytes(6)}
    picture, output = Input(name="x", shape=(3, "M", "N"), dtype="uint8"), Output(shape=("M", "N"), dtype="uint8")
    made = assignment(
        name="negative", title="", formula="", parameters=(picture, output), oracle=lambda x: 255 - x[0].double(),
        cases=cases("M N", "1x1 5x9-pure 7x8-coarse"), baseline=Baseline(name="", compiled=""),
        distributions=lambda case: {"x": kinds[case.values]},
        tolerance=lambda inputs, expected: 2 + 0 * expected)
    drawn = handout.parts(made, COURSE)
    assert "| `x` | (3, M, N) | uint8 | contiguous, must stay as it is |" in drawn["task"]
    assert "| `out` | (M, N) | uint8 | contiguous, arrives full of one arbitrary byte |" in drawn["task"]
    assert "Each element may lie 2 levels from the answer in float64, rounded." in drawn["checks"]
    assert all(f"| {row} |" in drawn["checks"] for row in (
        "others | any byte", "`-pure` | 0 and 255 alone", "`-coarse` | 6 levels from 0 to 255"))
    exact = handout.parts(made.model_copy(update={"tolerance": None}), COURSE)
    assert "Every bit must match." in exact["checks"]


def test_drawing_leaves_the_authors_text_alone(tmp_path: Path) -> None:
    path = tmp_path / "handout.md"
    path.write_text(TEXT.format(part="task"))
    assert [*handout.problems(path, {"task": "new\n"})] == [
        f"{path}: the part 'task' is out of date; run kernelmark handouts"]
    assert handout.draw(path, {"task": "new\n"})
    assert path.read_text() == TEXT.format(part="task").replace("an earlier text", "new").replace(
        "<!-- task: -->", handout.MARK.format(name="task"))
    assert not [*handout.problems(path, {"task": "new\n"})] and not handout.draw(path, {"task": "new\n"})


def test_a_part_without_marks_is_told_and_another_left(tmp_path: Path) -> None:
    path = tmp_path / "handout.md"
    path.write_text(TEXT.format(part="other"))
    assert not handout.draw(path, {"task": "new\n"})
    (problem,) = handout.problems(path, {"task": "new\n"})
    assert "add lines <!-- task: --> and <!-- end -->" in problem


def test_the_command_draws_what_a_course_says(tmp_path: Path) -> None:
    root = tmp_path / "copy"
    for name in ("assignments", "student_template"):
        shutil.copytree(ROOT / name, root / name)
    course = root / "course.toml"
    course.write_text('assignments = ["gemm"]\npoints.correctness = 12.5\n')

    def drawn() -> tuple[int, str, str]:
        result = kernelmark("handouts", "--course", course, cwd=tmp_path)
        return result.returncode, result.stdout, result.stderr

    code, said, _ = drawn()
    assert code == 0 and "assignments/silu/handout.md\n" in said and "student_template/README.md\n" in said
    assert "12.5 points for right answers" in (root / "assignments/silu/handout.md").read_text()
    assert drawn() == (0, "", "")
    gemm = root / "assignments/gemm/handout.md"
    gemm.write_text(gemm.read_text().replace("<!-- checks:", "<!--"))
    code, said, wrong = drawn()
    assert (code, said) == (1, "") and wrong.startswith("kernelmark: ") and "<!-- checks: -->" in wrong
    gemm.unlink()
    code, said, wrong = drawn()
    assert (code, said) == (2, "") and "gemm/handout.md: No such file" in wrong and len(wrong.splitlines()) == 1
