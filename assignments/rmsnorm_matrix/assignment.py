"""RMSNorm of each row of a matrix: many reductions side by side."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from grader.kit import sums
from grader.kit.author import Baseline, Input, Output, Scalar, assignment, cases, mistakes, timed
from grader.kit.norms import by_mean, by_sum, distributions, mean_square, norm_mistakes, oracle, tolerance

BLOCKS = (32, 64, 128, 256, 512, 1024, 2048, 4096)
"""Sizes of the blocks that mistaken sums are made of."""
TILES = (0, 2, 4, 8, 16, 32)


def _weight_by_row(x: Tensor, weight: Tensor, eps: float) -> Tensor | None:
    rows, cols = x.shape
    if rows > cols or cols == 1:
        return None
    return by_mean(mean_square(x), x, weight[:rows, None], eps)


def _whole_matrix(x: Tensor, weight: Tensor, eps: float) -> Tensor | None:
    return None if x.shape[0] == 1 else by_mean(x.double().square().mean(), x, weight, eps)


def _down_the_columns(tile: int) -> Callable[[Tensor, Tensor, float], Tensor | None]:
    """The sum of each column of a tile of so many rows, 0 for all of them, divided by the number of columns."""
    def answer(x: Tensor, weight: Tensor, eps: float) -> Tensor | None:
        rows, cols = x.shape
        high = tile or rows
        # The last tile may have fewer rows than the others.
        whole, squares = rows - rows % high, x.double().square()
        tiles = squares[:whole].view(whole // high, high, cols).sum(dim=1).repeat_interleave(high, dim=0)
        rest = squares[whole:].sum(dim=0).expand(rows - whole, cols)
        return None if x.numel() == 1 else by_sum(torch.cat((tiles, rest)), x, weight, eps)

    return answer


WRONG_SUMS = (
    ("first block only",
     "Only the squares of the first columns, one block of them, are in the sum: it goes over the whole row.",
     sums.first_block),
    ("last block only", "Only the squares of the last block are in the sum: the loop replaces the total, it does not "
     "add to it.", sums.last_block),
    ("last block missing", "The last columns, a partial block, are missing from the sum: it needs "
     "cols / {width} blocks, rounded up, the last one {masked}.", sums.whole_blocks),
    ("first column missing", "The first column is missing from the sum: begin at 0.", sums.all_but_first),
    ("last column missing", "The last column is missing from the sum: {loop_to} < cols{halving}.", sums.all_but_last),
)

ASSIGNMENT = assignment(
    name="rmsnorm_matrix",
    title="RMSNorm of a matrix",
    formula="out[i, j] = x[i, j] · weight[j] / √(mean over j of x[i, j]² + eps)",
    order=3,
    parameters=(Input(name="x", shape=("rows", "cols")), Input(name="weight", shape=("cols",)), Scalar(name="eps"),
                Output(shape=("rows", "cols"))),
    forms={"cuda": "rms_norm_matrix(input=x, weight, output=out, rows, cols, epsilon=eps)",
           "numba": "rmsnorm_matrix(x, weight, eps, out)"},
    oracle=oracle,
    # A row in one block is a sensible kernel: beyond 32,768 columns its compilation takes most of a minute.
    cases=cases(
        "rows cols", "1x1 5x9 4x257-tiny 1x1009 37x64 149x31-tiny 3x4099 17x1031-extreme 2x20016",
        gpu="70001x33 4099x4093-extreme 257x30011 8192x8192"),
    timed=timed("rows cols", "8192x8192 4096x4096 2048x2048", "32768x1024 16384x1024 8192x1024"),
    structure={"one_pass": True, "writes_at_most": 1.1, "coalesced": True, "launches_at_most": 1},
    baseline=Baseline(name="torch.nn.functional.rms_norm", compiled="torch.compile of rms_norm"),
    distributions=distributions,
    tolerance=tolerance,
    rows="x",
    mistakes=mistakes(
        *norm_mistakes("the number of columns", BLOCKS),
        ("one mean for the whole matrix",
         "All rows were divided by one number: each row has a mean square of its own.", _whole_matrix),
        ("mean of columns", "The mean was taken down the columns: it goes along each row.",
         lambda x, weight, eps: by_mean(x.double().square().mean(dim=0), x, weight, eps) if x.numel() > 1 else None),
        *(("sum down the columns", "The sum was taken down the columns{of_tile}: it goes along each row{tl_sum}.",
           _down_the_columns(tile)) for tile in TILES),
        ("mean by rows", "The sum was divided by the number of rows: the mean of a row divides by the number of "
         "columns.", lambda x, weight, eps: by_sum(mean_square(x) * x.shape[1] ** 2 / x.shape[0], x, weight, eps)
         if x.shape[0] != x.shape[1] > 1 else None),
        ("weight by row", "The weight was indexed by row: it has one element for each column.", _weight_by_row),
        *sums.wrong_sums((*WRONG_SUMS, *sums.OF_WARPS), BLOCKS, lambda x, weight, eps: x.double().square(), by_sum),
    ),
)
