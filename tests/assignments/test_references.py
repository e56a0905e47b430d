"""The oracles against formulas written another way. The reference kernels are graded in tests/test_submissions.py."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from grader.catalogue import assignments, right_answer

SEED = 7


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
