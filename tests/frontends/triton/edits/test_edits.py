"""The error model: which changes it finds, and that each makes another file that Python reads."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from grader.frontends.triton.edits import edits_of
from grader.model.assignment import shape_of
from grader.model.catalogue import assignments
from grader.plan.edits import Edit, edited
from grader.plan.messages import Given, GivenScalar, GivenTensor
from tests.graded import FILES
from tests.members import HERE, whole

MEMBERS = sorted(path for room in ("accepted", "wrong_answer", "runtime_error") for path in (HERE / room).iterdir())
PARSED = 100
"""About so many edits of a member are parsed, from first to last."""


def given_of(name: str) -> list[Given]:
    """The parameters of an assignment's function, at its smallest sizes."""
    assignment = assignments()[name]
    case = next(iter(assignment.cases))
    return [GivenScalar(name=one.name, value=1e-5) if one.kind == "scalar" else GivenTensor(
        name=one.name, shape=list(shape_of(one, case)), dtype=one.dtype, output=one.kind == "output")
        for one in assignment.parameters]


def found(text: str, function: str) -> list[Edit]:
    return edits_of(text, function, given_of(function)).edits


@pytest.mark.parametrize("folder", MEMBERS, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_every_edit_makes_another_file_that_python_reads(folder: Path) -> None:
    for file in sorted(whole(folder).glob("*.py")):
        if file.name not in FILES:
            continue
        text = file.read_bytes().decode()
        try:
            before = ast.dump(ast.parse(text))
        except SyntaxError:
            assert found(text, FILES[file.name]) == []
            continue
        edits = found(text, FILES[file.name])
        after = [edited(text, edit) for edit in edits]
        assert len({text, *after}) == 1 + len(after)
        some = after[:: 1 + len(after) // PARSED]
        assert [one for one in some if ast.dump(ast.parse(one)) == before] == []
        assert all(edit.line == 1 + text.count("\n", 0, edit.spans[0].start) for edit in edits)
