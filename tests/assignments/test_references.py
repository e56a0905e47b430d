"""The oracles against formulas written another way, and reference kernels at sizes that no case without a GPU reaches.

At all others the reference kernels are graded in tests/test_submissions.py, and their stages in test_stages.py.
"""

import math
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor

from grader.course.assignment import Assignment
from grader.course.cases import Case, shape_of
from grader.course.catalogue import answer_and_tolerance, assignments, right_answer
from grader.course.parameters import Input, Output
from grader.home import ROOT
from grader.judging.answers.compare import Comparison, compare
from grader.judging.answers.inputs import draw
from grader.languages.triton.confined.simulator.main import run
from grader.languages.triton.confined.simulator.state import Mode
from grader.plan.messages import Simulated
from grader.plan.plan import Plan
from grader.simulation.memory import Result
from tests.languages.triton.planner.harness import plan_file
from tests.languages.triton.simulator.harness import memory, poison
from tests.rows import each_row

SEED = 7
EPS = 1e-5


def silu(x: Tensor) -> Tensor:
    return x.double() * (0.5 + 0.5 * torch.tanh(x.double() / 2))


def rmsnorm_vector(x: Tensor, weight: Tensor, eps: float) -> Tensor:
    mean = math.fsum(v * v for v in x.tolist()) / x.numel()
    products = [v * w for v, w in zip(x.tolist(), weight.tolist(), strict=True)]
    return torch.tensor([product / math.sqrt(mean + eps) for product in products], dtype=torch.float64)


def rmsnorm_matrix(x: Tensor, weight: Tensor, eps: float) -> Tensor:
    return torch.stack([rmsnorm_vector(row, weight, eps) for row in x])


def copy_first_column(matrix: Tensor) -> Tensor:
    return torch.tensor([row[0] for row in matrix.tolist()], dtype=torch.float64)


def transpose(x: Tensor) -> Tensor:
    return torch.tensor(list(zip(*x.tolist(), strict=True)), dtype=torch.float64)


def gemm(a: Tensor, b: Tensor) -> Tensor:
    columns = list(zip(*b.tolist(), strict=True))
    rows = [[math.fsum(p * q for p, q in zip(row, column, strict=True)) for column in columns] for row in a.tolist()]
    return torch.tensor(rows, dtype=torch.float64)


FORMULAS: list[Callable[..., Tensor]] = [silu, rmsnorm_vector, rmsnorm_matrix, copy_first_column, transpose, gemm]
FORMULA_ELEMENTS = 10_000
"""Python sums one element after another: the smaller cases are enough."""


@each_row("formula", FORMULAS, ids=lambda f: f.__name__)
def test_oracle_equals_another_formula(formula: Callable[..., Tensor]) -> None:
    assignment = assignments()[formula.__name__]
    compared = 0
    for case in assignment.cases_for("cpu"):
        if math.prod(case.sizes.values()) > FORMULA_ELEMENTS:
            continue
        inputs = assignment.make_inputs(case, torch.Generator().manual_seed(SEED))
        torch.testing.assert_close(right_answer(assignment, inputs), formula(**inputs), rtol=1e-9, atol=1e-12)
        compared += 1
    assert compared >= 3


LARGE = {
    # 128 tiles of 128 by 128, and edges that no tile divides: the persistent kernel with descriptors.
    "gemm": ({"M": 2056, "N": 1032, "K": 72}, ["descriptor_kernel"]),
    # More than the registers of 132 multiprocessors are used for, and no whole number of blocks: two launches.
    "rmsnorm_vector": ({"N": 132 * 16384 + 5}, ["sum_of_squares_kernel", "scale_kernel"]),
    "rmsnorm_matrix": ({"rows": 3, "cols": 16385}, ["long_row_kernel"]),
    "transpose": ({"M": 260, "N": 132}, ["transpose_kernel"]),
}


def simulated(assignment: Assignment, case: Case, plan: Plan) -> tuple[Result, Comparison]:
    """What the plan's calls have shown, and the last one's output beside the oracle's answer."""
    memories: list[list[Any]] = []
    for number in range(len(plan.calls())):
        inputs: dict[str, Any] = {
            name: value if isinstance(value, torch.Tensor) else EPS
            for name, value in draw(assignment, case, number, cuda=False).items()}
        output = poison(*shape_of(assignment.output, case), dtype=getattr(torch, assignment.output.dtype))
        memories.append([memory(inputs[parameter.name].contiguous() if isinstance(parameter, Input) else output)
                         for parameter in assignment.parameters if isinstance(parameter, Input | Output)])  # fmt: skip
    result = run(
        plan, *memories, outputs=[assignment.output.name], operations=10**10,
        mode=Mode(file=assignment.file))
    return result, compare(output, *answer_and_tolerance(assignment, inputs))


@pytest.mark.parametrize("name", LARGE)
def test_what_a_reference_does_for_large_sizes_is_right(name: str) -> None:
    sizes, kernels = LARGE[name]
    assignment, case = assignments()[name], Case(name="large", sizes=sizes)
    plan = plan_file(ROOT / "reference" / f"{name}.py", assignment, case)
    assert isinstance(plan, Plan), plan
    assert [kernel.name for kernel in plan.kernels] == kernels
    result, comparison = simulated(assignment, case, plan)
    assert isinstance(result, Simulated) and not result.findings, result
    assert comparison.passed, comparison.worst_ratio


GEMM = assignments()["gemm"]
SEEDS = (11, 22, 33)
# So many times what is allowed, so that chance decides nothing.
RATIO = 3.0


@each_row("case", GEMM.cases_for("cpu"), ids=lambda case: case.name)
def test_a_running_sum_in_fp16_is_wrong(case: Case) -> None:
    assert GEMM.tolerance is not None
    for seed in SEEDS:
        inputs = GEMM.make_inputs(case, torch.Generator().manual_seed(seed))
        a, b = inputs["a"].float(), inputs["b"].float()
        expected = right_answer(GEMM, inputs)
        total = torch.zeros(expected.shape, dtype=torch.float16)
        for k in range(a.shape[1]):
            total = (total.float() + a[:, k : k + 1] * b[k : k + 1]).half()
        ratio = compare(total, expected, GEMM.tolerance(inputs, expected)).worst_ratio
        # One product is rounded once, whatever the accumulator.
        assert (ratio <= 1) if case.name == "1x1x1" else (ratio > RATIO)
