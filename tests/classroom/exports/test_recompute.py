"""Every grade of a class of 60, computed twice by code that shares nothing, is in each export, cell by cell."""

from __future__ import annotations

import ast
import shutil
import sys
from pathlib import Path

import pytest

from grader.classroom.attempts.store import Store
from grader.classroom.attempts.student_files import refresh
from grader.course.course import read_course
from grader.course.sheet import read_sheet
from tests.classroom.exports import recompute
from tests.classroom.exports.term import DEADLINE, NAMES, made
from tests.classroom.exports.test_sheets import export

LATEST = """percent = 10
most = 40
cap = 80
grace_days = 2
"""
BEST = """count = "best"
percent = 7.5
by = "linear"
grace_days = 1
"""
PEOPLE = """
[[late.extensions]]
student = "s03"
until = 2026-03-31T12:00:00
[[late.extensions]]
student = "s51"
assignment = "gemm"
until = 2026-03-29T03:30:00
[[late.excused]]
student = "s04"
assignment = "silu"
reason = "ill"
by = "Roe"
[[late.overrides]]
student = "s05"
assignment = "gemm"
points = 77.5
reason = "orally"
by = "Roe"
[[late.overrides]]
student = "s59"
assignment = "silu"
points = 33
reason = "orally"
by = "Roe"
"""
DEADLINES = "[late.deadlines]\n" + "".join(
    f"{name} = {(DEADLINE.replace(tzinfo=None)).isoformat()}\n" for name in NAMES)
CLASSROOM50 = ("--classroom", "gpu", "--assignment", "kernels", "--organisation", "https://github.com/course")


@pytest.fixture(scope="module")
def term(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return made(tmp_path_factory.mktemp("term"), seed=60)


@pytest.mark.parametrize("policy", [LATEST, pytest.param(BEST, marks=pytest.mark.full)], ids=["latest", "best"])
def test_every_cell_of_every_export(term: Path, policy: str) -> None:
    (term / "course.toml").write_text(
        f'assignments = [{", ".join(map(repr, NAMES))}]\n[points]\ncorrectness = 60\nperformance = 40\n'
        f'[late]\nzone = "Europe/Berlin"\n{policy}{DEADLINES}{PEOPLE}')
    # As `kernelmark apply` does: files show the attempt that counts under this policy.
    with Store.existing(term / "results") as store:
        assert refresh(store, term / "results", read_course(term / "course.toml", frozenset(NAMES)).late) == []
    shutil.rmtree(term / "exports", ignore_errors=True)
    course = ("results", "--course", "course.toml")
    whole = (*course, "--intake", "class", "--roster", "roster.csv")
    for end, only, column in (("all", (), "Kernels"), (NAMES[0], ("--only", NAMES[0]), "First")):
        export("canvas", *whole, *only, "--sheet", "canvas.csv", "--column", column, "--out",
               f"exports/canvas-{end}.csv", cwd=term)
        export("moodle", *whole, *only, "--sheet", "moodle.csv", "--out", f"exports/moodle-{end}.csv", cwd=term)
    export("csv", *whole, "--out", "exports/grades.csv", cwd=term)
    export("classroom50", *whole, *CLASSROOM50, "--out", "exports/classroom50", cwd=term)
    export("junit", *course, "--out", "exports/checks.xml", cwd=term)
    sound = [path.parent.name for path in sorted((term / "results").glob("repo*/result.json"))
             if '"verdict": "infrastructure_error"' not in path.read_text()]
    for folder in sound[::10]:
        export("gradescope", *whole, "--student", folder, "--out", f"exports/gradescope/{folder}.json", cwd=term)
    assert recompute.differences(term) == []
    # A cell that is off by a hundredth is found.
    path = term / "exports" / "grades.csv"
    grades = read_sheet(path)
    (row,) = (row for row in grades.rows if row[0] == "s59")
    row[grades.header.index("grade")] = "33.01"
    path.write_text(grades.text())
    assert recompute.differences(term) == ["csv, s59, grade: '33.01', not '33'"]


def test_the_second_computation_shares_no_code_with_the_first() -> None:
    names = {node.module if isinstance(node, ast.ImportFrom) else alias.name
             for node in ast.walk(ast.parse(Path(recompute.__file__).read_text()))
             if isinstance(node, ast.Import | ast.ImportFrom) for alias in node.names}
    assert {str(name).partition(".")[0] for name in names} <= sys.stdlib_module_names
