"""Assignments are found by scanning, and each comes with all that a student and the judge need."""

import re
from pathlib import Path

import pytest
from pydantic import ValidationError

from grader.course.assignment import Assignment
from grader.course.catalogue import assignments
from grader.errors import UserError
from grader.home import ROOT
from grader.languages import front_ends

by_name = pytest.mark.parametrize("name", assignments())


def parameters(assignment: Assignment) -> list[str]:
    return [p.name for p in assignment.parameters]


def test_all_are_found_in_the_order_taught() -> None:
    folders = {path.parent.name for path in (ROOT / "assignments").glob("*/assignment.py")}
    orders = [assignment.order for assignment in assignments().values()]
    assert set(assignments()) == folders and orders == sorted(set(orders))


@by_name
def test_template_runs_and_says_that_it_is_not_written(name: str) -> None:
    path = ROOT / "student_template" / f"{name}.py"
    space: dict[str, object] = {"__name__": name, "__file__": str(path)}
    exec(compile(path.read_text(), str(path), "exec"), space)
    function = space[name]
    assert callable(function)
    with pytest.raises(NotImplementedError, match=name):
        function(*[None for _ in parameters(assignments()[name])])


def test_no_source_lists_the_assignments() -> None:
    telling = [name for name in assignments() if "_" in name]
    lists = [
        str(path.relative_to(ROOT))
        for path in sorted((ROOT / "grader").rglob("*.py"))
        if sum(name in path.read_text() for name in telling) > 1
    ]
    assert not lists


def test_a_folder_that_is_no_assignment_is_named(tmp_path: Path) -> None:
    (tmp_path / "assignments" / "odd").mkdir(parents=True)
    with pytest.raises(UserError, match="odd"):
        assignments(tmp_path)


def test_an_assignment_is_in_a_language_that_there_is() -> None:
    silu = assignments()["silu"]
    assert (silu.file, silu.signature) == ("silu.py", "silu(x, out)")
    assert silu.written("silu.f90").file == "silu.py"
    suffixes = ", ".join(sorted({front_end.suffix for front_end in front_ends().values()}))
    with pytest.raises(ValidationError, match=re.escape(f"suffix: expected one of {suffixes}, got '.f90'")):
        Assignment(**{**dict(silu), "suffix": ".f90"})
