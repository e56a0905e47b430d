"""The oracles against formulas written another way, and the reference kernels in Triton's interpreter.

The kernels run in one child process, started by this file as a script: the interpreter must be chosen before Triton is
imported, and pytest has imported it by then.
"""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from grader.assignment import shape_of
from grader.catalogue import ROOT, assignments, oracle, right_answer

SEED = 7
WORST_RATIO = 0.5
"""The reference kernels use at most half of the error allowed: an honest kernel of another make has room."""
CHILD_SECONDS = 60


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


@pytest.mark.parametrize("formula", FORMULAS, ids=lambda f: f.__name__)
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


def run_references() -> dict[str, dict[str, float]]:
    """Worst error over error allowed of each reference kernel, by assignment and case."""
    ratios: dict[str, dict[str, float]] = {}
    for name, assignment in assignments().items():
        oracle(name)
        kernel = getattr(sys.modules[f"reference.{name}"], name)
        ratios[name] = {}
        for case in assignment.cases_for("cpu"):
            inputs = assignment.make_inputs(case, torch.Generator().manual_seed(SEED))
            before = {key: value.clone() for key, value in inputs.items() if isinstance(value, Tensor)}
            dtype = getattr(torch, assignment.output.dtype)
            out = torch.full(shape_of(assignment.output, case), math.nan, dtype=dtype)
            kernel(**inputs, out=out)
            expected = right_answer(assignment, inputs)
            if assignment.tolerance is None:
                wrong = out.view(torch.int32) != expected.to(dtype).contiguous().view(torch.int32)
                ratio = wrong.double()
            else:
                ratio = (out.double() - expected).abs() / assignment.tolerance(inputs, expected)
            if any(not torch.equal(inputs[key], value) for key, value in before.items()):
                ratio = ratio + math.inf
            ratios[name][case.name] = ratio.nan_to_num(nan=1e9).max().item()
    return ratios


@pytest.fixture(scope="module")
def ratios() -> dict[str, dict[str, float]]:
    done = subprocess.run(
        [sys.executable, str(Path(__file__))],
        env={**os.environ, "TRITON_INTERPRET": "1", "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        timeout=CHILD_SECONDS,
    )
    assert done.returncode == 0, done.stderr
    found: Any = json.loads(done.stdout.splitlines()[-1])
    return {name: dict(cases) for name, cases in found.items()}


@pytest.mark.parametrize("name", assignments())
def test_reference_kernel_is_right(name: str, ratios: dict[str, dict[str, float]]) -> None:
    assert set(ratios[name]) == {case.name for case in assignments()[name].cases_for("cpu")}
    assert all(ratio <= WORST_RATIO for ratio in ratios[name].values()), ratios[name]


if __name__ == "__main__":
    print(json.dumps(run_references()))
