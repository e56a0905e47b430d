"""Assignments are found by scanning, and each comes with all that a student and the judge need."""

from __future__ import annotations

import ast
import math
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch

from grader.assignment import Assignment, shape_of
from grader.catalogue import ROOT, CatalogueError, assignments, right_answer

TAUGHT = ["silu", "rmsnorm_vector", "rmsnorm_matrix", "copy_first_column", "transpose", "gemm"]
LARGE_BLOCK = 4096
"""Elements of a block that a student may choose: some case must need more than one."""
FOLDERS = ("assignments", "reference", "student_template")

SEVENTH = {
    "assignments/doubling/assignment.py": """
from grader.assignment import Baseline, Input, Output
from grader.kit.author import assignment, cases
from grader.kit.inputs import Spread

ASSIGNMENT = assignment(
    name="doubling", title="Doubling", formula="out = 2 x", order=7,
    parameters=(Input(name="x", shape=("N",)), Output(shape=("N",))),
    oracle=lambda x: 2 * x.double(), cases=cases("N", "5"),
    baseline=Baseline(name="torch.mul", compiled="none"),
    distributions=lambda case: {"x": Spread()},
)
""",
    "assignments/doubling/handout.md": "# Doubling\n",
    "reference/doubling.py": "def doubling(x, out):\n    raise NotImplementedError\n",
    "student_template/doubling.py": "def doubling(x, out):\n    raise NotImplementedError\n",
}

by_name = pytest.mark.parametrize("name", TAUGHT)


def functions(path: Path) -> dict[str, list[str]]:
    """The functions at a file's top level, with the names of their parameters."""
    tree = ast.parse(path.read_text())
    return {node.name: [a.arg for a in node.args.args] for node in tree.body if isinstance(node, ast.FunctionDef)}


def parameters(assignment: Assignment) -> list[str]:
    return [p.name for p in assignment.parameters]


@pytest.fixture
def other_root(tmp_path: Path) -> Iterator[Path]:
    """A copy of the three folders; what is loaded from it leaves again."""
    for folder in FOLDERS:
        shutil.copytree(ROOT / folder, tmp_path / folder, ignore=shutil.ignore_patterns("__pycache__"))
    before = dict(sys.modules)
    yield tmp_path
    for name in [n for n in sys.modules if n.startswith(("assignments.", "reference."))]:
        del sys.modules[name]
    sys.modules.update({n: m for n, m in before.items() if n.startswith(("assignments.", "reference."))})


def files(root: Path) -> set[str]:
    return {str(path.relative_to(root)) for path in root.rglob("*") if path.is_file()}


def test_six_are_found_in_the_order_taught() -> None:
    assert list(assignments()) == TAUGHT


@by_name
def test_each_has_handout_reference_and_template(name: str) -> None:
    assignment = assignments()[name]
    handout = (ROOT / "assignments" / name / "handout.md").read_text()
    assert assignment.signature in handout
    reference = functions(ROOT / "reference" / f"{name}.py")
    assert reference[name] == parameters(assignment)
    assert functions(ROOT / "student_template" / f"{name}.py")[name] == parameters(assignment)


@by_name
def test_template_runs_and_says_that_it_is_not_written(name: str) -> None:
    path = ROOT / "student_template" / f"{name}.py"
    space: dict[str, object] = {"__name__": name, "__file__": str(path)}
    exec(compile(path.read_text(), str(path), "exec"), space)
    function = space[name]
    assert callable(function)
    with pytest.raises(NotImplementedError, match=name):
        function(*[None for _ in parameters(assignments()[name])])


@by_name
def test_cases_rise_in_size_and_reach_the_hard_shapes(name: str) -> None:
    assignment = assignments()[name]
    sizes = [case.sizes for case in assignment.cases_for("cpu")]
    assert all(value == 1 for value in sizes[0].values()), "the smallest case comes first"
    assert any(max(s.values()) > 1 and not max(s.values()) & (max(s.values()) - 1) for s in sizes), "a power of two"
    assert any(math.prod(shape_of(assignment.output, case)) > LARGE_BLOCK for case in assignment.cases_for("cpu"))
    assert [c.needs for c in assignment.cases] == sorted((c.needs for c in assignment.cases), key=["any", "gpu"].index)
    assert len(assignment.cases_for("cuda")) > len(sizes), "large cases for a GPU"


def test_a_seventh_touches_three_paths_and_no_list(other_root: Path) -> None:
    before = files(other_root)
    for path, text in SEVENTH.items():
        (other_root / path).parent.mkdir(exist_ok=True)
        (other_root / path).write_text(text)
    assert list(assignments(other_root)) == [*TAUGHT, "doubling"]
    doubling = assignments(other_root)["doubling"]
    assert torch.equal(right_answer(doubling, {"x": torch.ones(5)}), 2 * torch.ones(5, dtype=torch.float64))
    added = files(other_root) - before
    assert {"/".join(Path(path).parts[:2]) for path in added} == {
        "assignments/doubling", "reference/doubling.py", "student_template/doubling.py",
    }


def test_no_source_lists_the_assignments() -> None:
    telling = [name for name in TAUGHT if "_" in name]
    lists = [
        str(path.relative_to(ROOT))
        for path in sorted((ROOT / "grader").rglob("*.py"))
        if sum(name in path.read_text() for name in telling) > 1
    ]
    assert not lists


def test_a_folder_that_is_no_assignment_is_named(tmp_path: Path) -> None:
    (tmp_path / "assignments" / "odd").mkdir(parents=True)
    with pytest.raises(CatalogueError, match="odd"):
        assignments(tmp_path)
