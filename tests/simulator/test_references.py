"""The reference kernels and their stages, planned as a grading does and simulated at each size that needs no GPU."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

from grader.assignment import Assignment, Case, Input, Output, shape_of
from grader.catalogue import answer_and_tolerance
from grader.judge.compare import Comparison, compare
from grader.judge.inputs import draw
from grader.plan.messages import Simulated
from grader.plan.plan import Plan
from grader.simulator.main import Result, run
from tests.planner.harness import assignment_of, plan_cases
from tests.simulator.harness import memory, poison

ROOT = Path(__file__).parents[2]
# The stages that begin with PyTorch's own operators have no plan.
STAGES = [path for path in sorted(ROOT.glob("reference/stages/*/*/*.py")) if "torch" not in path.parent.name]
FILES = [*sorted(ROOT.glob("reference/*.py")), *STAGES]
EPS = 1e-5


def simulated(assignment: Assignment, case: Case, plan: Plan) -> tuple[Result, Comparison]:
    """What the plan's calls have shown, and the last one's output beside the oracle's answer."""
    memories: list[list[Any]] = []
    for number in range(len(plan.calls())):
        inputs: dict[str, Any] = {
            name: value if isinstance(value, torch.Tensor) else EPS
            for name, value in draw(assignment, case, number, cuda=False).items()}
        output = poison(*shape_of(assignment.output, case), dtype=getattr(torch, assignment.output.dtype))
        memories.append([memory(inputs[each.name].contiguous() if isinstance(each, Input) else output)
                         for each in assignment.parameters if isinstance(each, Input | Output)])  # fmt: skip
    result = run(plan, *memories, operations=10**10, file=assignment.file)
    return result, compare(output, *answer_and_tolerance(assignment, inputs))


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_reference_is_right_at_every_small_size(path: Path) -> None:
    assignment = assignment_of(path.stem)
    cases = assignment.cases_for("cpu")
    for case, plan in zip(cases, plan_cases(path, assignment, cases, debug=True), strict=True):
        assert isinstance(plan, Plan), plan
        result, comparison = simulated(assignment, case, plan)
        assert isinstance(result, Simulated), (case.name, result)
        assert comparison.passed, (case.name, comparison.worst_ratio)
        assert not result.findings, (case.name, result.findings)
