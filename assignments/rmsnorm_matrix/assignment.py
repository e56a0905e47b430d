"""RMSNorm of each row of a matrix: many reductions side by side."""

from __future__ import annotations

import math
from collections.abc import Mapping

import torch
from torch import Tensor

from grader.assignment import Assignment, Baseline, Case, Input, Inputs, Mistake, Output, Scalar, TimedCase, Work
from grader.kit.inputs import Distribution, Number, Outliers, Spread, maker

EPS32 = 2.0**-23
SMALLEST_NORMAL32 = 2.0**-126

CASES = (
    Case(name="1x1", sizes={"rows": 1, "cols": 1}),
    Case(name="5x9", sizes={"rows": 5, "cols": 9}),
    Case(name="3x257-tiny", sizes={"rows": 3, "cols": 257}, values="tiny"),
    Case(name="1x1009", sizes={"rows": 1, "cols": 1009}),
    Case(name="37x64", sizes={"rows": 37, "cols": 64}),
    Case(name="149x31-tiny", sizes={"rows": 149, "cols": 31}, values="tiny"),
    Case(name="3x4099", sizes={"rows": 3, "cols": 4099}),
    Case(name="17x1031-extreme", sizes={"rows": 17, "cols": 1031}, values="extreme"),
    Case(name="2x20011", sizes={"rows": 2, "cols": 20011}),
    Case(name="70001x33", sizes={"rows": 70001, "cols": 33}, needs="gpu"),
    Case(name="4099x4093-extreme", sizes={"rows": 4099, "cols": 4093}, values="extreme", needs="gpu"),
    # A row in one block is a sensible kernel: beyond 32,768 columns its compilation takes most of a minute.
    Case(name="257x30011", sizes={"rows": 257, "cols": 30011}, needs="gpu"),
    Case(name="8192x8192", sizes={"rows": 8192, "cols": 8192}, needs="gpu"),
)
TIMED = (
    TimedCase(
        name="8192x8192", sizes={"rows": 8192, "cols": 8192},
        smaller=({"rows": 4096, "cols": 4096}, {"rows": 2048, "cols": 2048})),
    TimedCase(
        name="32768x1024", sizes={"rows": 32768, "cols": 1024},
        smaller=({"rows": 16384, "cols": 1024}, {"rows": 8192, "cols": 1024})),
)

SCALES = {"mixed": (0.05, 10.0), "extreme": (1.0, 100.0), "tiny": (1e-4, 3e-3)}
"""Standard deviation of a row, lowest and highest: eps, 1e-6 to 1e-4, outweighs the mean square of "tiny" ones."""


EPS = Number(1e-6, 1e-4)


def distributions(case: Case) -> Mapping[str, Distribution]:
    """Each row of x has a scale and an offset of its own, and outliers; the weights have both signs."""
    x = Spread(scale=SCALES[case.values], offset=2.0, outliers=Outliers(256, times=30))
    return {"x": x, "weight": Spread(), "eps": EPS}


def tolerance(inputs: Inputs, expected: Tensor) -> Tensor:
    """The absolute error allowed for each element."""
    # Squares, mean, eps, reciprocal root and the two products err by about 8 units of EPS32 together, 2 of them for a
    # GPU's rsqrt. n squares added one after another, the worst of sensible orders, err by EPS32/2 of the sum each, at
    # random: √n/2 units together, which the root halves. Sums by blocks stay far below.
    growth = 8 + math.sqrt(expected.shape[1]) / 4
    return EPS32 * growth * expected.abs() + SMALLEST_NORMAL32


def work(sizes: Mapping[str, int]) -> Work:
    """x and weight are read and out written, 4 bytes an element."""
    return Work(bytes=8 * sizes["rows"] * sizes["cols"] + 4 * sizes["cols"])


def rows(inputs: Inputs, index: slice | Tensor) -> Inputs:
    return {**inputs, "x": inputs["x"][index]}


def _answer(x: Tensor, weight: Tensor, divisor: Tensor) -> Tensor:
    return x.double() * weight.double() / divisor


def _mean_square(x: Tensor) -> Tensor:
    return x.double().square().mean(dim=1, keepdim=True)


def _sum(x: Tensor, weight: Tensor, eps: float) -> Tensor | None:
    cols = x.shape[1]
    return None if cols == 1 else _answer(x, weight, torch.sqrt(_mean_square(x) * cols + eps))


def _padded(x: Tensor, weight: Tensor, eps: float) -> Tensor | None:
    cols = x.shape[1]
    padded = 1 << (cols - 1).bit_length()
    return None if padded == cols else _answer(x, weight, torch.sqrt(_mean_square(x) * cols / padded + eps))


def _first_columns(block: int) -> Mistake:
    def answer(x: Tensor, weight: Tensor, eps: float) -> Tensor | None:
        cols = x.shape[1]
        total = x[:, :block].double().square().sum(dim=1, keepdim=True)
        return None if cols <= block else _answer(x, weight, torch.sqrt(total / cols + eps))

    return Mistake(
        name="first block only",
        hint="Only the squares of the first columns, one block of them, are in the sum: it goes over the whole row.",
        answer=answer,
    )


def _whole_blocks(block: int) -> Mistake:
    def answer(x: Tensor, weight: Tensor, eps: float) -> Tensor | None:
        cols = x.shape[1]
        total = x[:, : cols // block * block].double().square().sum(dim=1, keepdim=True)
        return None if cols % block == 0 else _answer(x, weight, torch.sqrt(total / cols + eps))

    return Mistake(
        name="last block missing",
        hint="The last columns, a partial block, are missing from the sum: it needs triton.cdiv(cols, BLOCK) blocks, "
        "the last one masked.",
        answer=answer,
    )


def _layer_norm(x: Tensor, weight: Tensor, eps: float) -> Tensor:
    centred = x.double() - x.double().mean(dim=1, keepdim=True)
    return _answer(centred, weight, torch.sqrt(_mean_square(centred) + eps))


def _weight_by_row(x: Tensor, weight: Tensor, eps: float) -> Tensor | None:
    rows, cols = x.shape
    if rows > cols or cols == 1:
        return None
    return x.double() * weight.double()[:rows, None] / torch.sqrt(_mean_square(x) + eps)


def _whole_matrix(x: Tensor, weight: Tensor, eps: float) -> Tensor | None:
    return None if x.shape[0] == 1 else _answer(x, weight, torch.sqrt(x.double().square().mean() + eps))


def _by_column(x: Tensor, weight: Tensor, eps: float) -> Tensor | None:
    return None if x.numel() == 1 else _answer(x, weight, torch.sqrt(x.double().square().mean(dim=0) + eps))


MISTAKES = (
    Mistake(
        name="no eps",
        hint="eps is missing: it is added to the mean of the squares, and matters in rows of small numbers.",
        answer=lambda x, weight, eps: _answer(x, weight, torch.sqrt(_mean_square(x))),
    ),
    Mistake(
        name="eps outside the root",
        hint="eps was added to the root: it belongs inside, √(mean + eps).",
        answer=lambda x, weight, eps: _answer(x, weight, torch.sqrt(_mean_square(x)) + eps),
    ),
    Mistake(
        name="no weight",
        hint="The weight is missing: multiply each element by the weight of its column.",
        answer=lambda x, weight, eps: x.double() / torch.sqrt(_mean_square(x) + eps),
    ),
    Mistake(
        name="sum for mean",
        hint="The sum of the squares was used: divide it by the number of columns.",
        answer=_sum,
    ),
    Mistake(
        name="mean over the padded block",
        hint="The sum was divided by the block size, a power of two: divide by the number of columns.",
        answer=_padded,
    ),
    Mistake(
        name="no root",
        hint="The square root is missing: divide by √(mean + eps).",
        answer=lambda x, weight, eps: _answer(x, weight, _mean_square(x) + eps),
    ),
    Mistake(
        name="layer norm",
        hint="The mean of the row was subtracted, as in LayerNorm: RMSNorm does not centre.",
        answer=_layer_norm,
    ),
    Mistake(
        name="one mean for the whole matrix",
        hint="All rows were divided by one number: each row has a mean square of its own.",
        answer=_whole_matrix,
    ),
    Mistake(
        name="mean of columns",
        hint="The mean was taken down the columns: it goes along each row.",
        answer=_by_column,
    ),
    Mistake(
        name="weight by row",
        hint="The weight was indexed by row: it has one element for each column.",
        answer=_weight_by_row,
    ),
    *(make(block) for make in (_first_columns, _whole_blocks) for block in (32, 64, 128, 256, 512, 1024, 2048, 4096)),
)

PARAMETERS = (
    Input(name="x", shape=("rows", "cols")),
    Input(name="weight", shape=("cols",)),
    Scalar(name="eps"),
    Output(name="out", shape=("rows", "cols")),
)
ASSIGNMENT = Assignment(
    name="rmsnorm_matrix",
    title="RMSNorm of a matrix",
    formula="out[i, j] = x[i, j] · weight[j] / √(mean over j of x[i, j]² + eps)",
    order=3,
    parameters=PARAMETERS,
    cases=CASES,
    baseline=Baseline(name="torch.nn.functional.rms_norm", compiled="torch.compile of rms_norm"),
    distributions=distributions,
    make_inputs=maker(PARAMETERS, distributions),
    tolerance=tolerance,
    mistakes=MISTAKES,
    rows=rows,
    timed=TIMED,
    work=work,
)
