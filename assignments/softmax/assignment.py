"""Softmax of each row: a maximum, a sum that needs it, and a division that needs both."""

from __future__ import annotations

import math
from collections.abc import Mapping

import torch
from torch import Tensor

from grader.kit import sums
from grader.kit.author import (
    EPS32,
    SMALLEST_NORMAL32,
    Baseline,
    Case,
    Distribution,
    Input,
    Inputs,
    Output,
    Peaks,
    Spread,
    assignment,
    cases,
    mistakes,
    timed,
)

SCALES = {"mixed": ((0.3, 3.0), 5.0), "extreme": ((1.0, 8.0), 300.0)}
"""Standard deviations of a row, and its offset: "extreme" rows overflow, unless the maximum is subtracted."""
BLOCKS = (32, 64, 128, 256, 512, 1024, 2048, 4096)
"""Sizes of the blocks that mistaken sums are made of."""


def oracle(x: Tensor) -> Tensor:
    """The right answer in float64, of x's shape (rows, cols)."""
    return torch.softmax(x.double(), dim=1)


def distributions(case: Case) -> Mapping[str, Distribution]:
    """Each row of x has a scale and an offset of its own; some have a peak that only their own maximum holds."""
    scale, offset = SCALES[case.values]
    return {"x": Spread(scale=scale, offset=offset, absolute=True, peaks=Peaks())}


def tolerance(inputs: Inputs, expected: Tensor) -> Tensor:
    """The absolute error allowed for each element."""
    x = inputs["x"].double()
    below = x.amax(dim=1, keepdim=True) - x
    # exp(x − max) is exp2 of a product that is rounded twice, after a difference that is rounded once: relative error
    # 1.5·|x − max|·EPS32, allowed twice. exp2, sum and division err by about 8 units together; terms added one after
    # another by EPS32/2 of the sum each, at random: √n/2 units. Sums by blocks stay far below.
    relative = EPS32 * (8 + 3 * below + math.sqrt(x.shape[1]) / 2)
    allowed: Tensor = relative * expected + SMALLEST_NORMAL32
    return allowed


def _terms(x: Tensor) -> Tensor:
    return torch.exp(x.double() - x.double().amax(dim=1, keepdim=True))


def _less(x: Tensor, subtracted: Tensor) -> Tensor | None:
    """Softmax in float32 where another number than the maximum is subtracted from a row."""
    terms = torch.exp(x - subtracted)
    return (terms / terms.sum(dim=1, keepdim=True)).double()


def _zeros_beyond(block: int, x: Tensor) -> Tensor | None:
    """Lanes beyond the end hold 0 and enter the sum as exp(0 − max), where the maximum is not below 0."""
    missing, terms, top = -x.shape[1] % block, _terms(x), x.double().amax(dim=1, keepdim=True)
    total = terms.sum(dim=1, keepdim=True) + missing * torch.exp(-top)
    return None if missing == 0 or bool((top < 0).any()) else terms / total


def _by_lane(block: int, x: Tensor) -> Tensor | None:
    """Each lane of a loop has the maximum of its own elements."""
    lanes = torch.nn.functional.pad(x.double(), (0, -x.shape[1] % block), value=-math.inf).view(len(x), -1, block)
    terms = torch.exp(lanes - lanes.amax(dim=1, keepdim=True)).flatten(1)[:, : x.shape[1]]
    return terms / terms.sum(dim=1, keepdim=True)


BY_BLOCKS = (
    ("zeros beyond the end", "{Lane}s beyond the end of the row entered the sum as zeros: {give} "
     "{minus_infinity_load}.", _zeros_beyond),
    ("maximum of each lane", "Each {lane} subtracts the maximum of its own elements: subtract the largest of all of "
     "them, along the row and after any loop.", _by_lane),
)
WRONG_SUMS = (
    ("first block only", "Only the first columns, one block of them, are in the sum: it goes over the whole row.",
     sums.first_block),
    ("last block missing", "The last columns, a partial block, are missing from the sum: it needs "
     "cols / {width} blocks, rounded up, the last one {masked}.", sums.whole_blocks),
    ("last block only", "Only the last block is in the sum: the loop replaces the total, it does not add to it.",
     sums.last_block),
    ("first column missing", "The first column is missing from the sum: begin at 0.", sums.all_but_first),
    ("last column missing", "The last column is missing from the sum: {loop_to} < cols{halving}.", sums.all_but_last),
)
UNSCALED = (
    ("sum not rescaled", "The sum so far belongs to an older maximum: multiply it by exp(old − new) when a larger one "
     "comes, before the new one takes the old one's place.", sums.not_rescaled),
    ("lanes not scaled", "Each {lane}'s sum belongs to the maximum of its own elements: multiply it by exp(that "
     "maximum − the row's) before the {lane}s' sums are added.", sums.lanes_not_scaled),
)

ASSIGNMENT = assignment(
    name="softmax",
    title="Softmax of rows",
    formula="out[i, j] = exp(x[i, j] − max_i) / Σ over k of exp(x[i, k] − max_i), max_i the largest of row i",
    order=9,
    parameters=(Input(name="x", shape=("rows", "cols")), Output(shape=("rows", "cols"))),
    forms={"cuda": "softmax(input=x, output=out, rows, cols)", "numba": "softmax(x, out)"},
    oracle=oracle,
    cases=cases(
        "rows cols", "1x1 5x9 4x257-extreme 1x1009 37x64 149x31-extreme 3x4099 2x20016",
        gpu="70001x33 4099x4093-extreme 257x30011 8192x8192"),
    timed=timed("rows cols", "8192x8192 4096x4096 2048x2048", "32768x1024 16384x1024 8192x1024"),
    baseline=Baseline(name="torch.softmax", compiled="torch.compile of softmax"),
    distributions=distributions,
    tolerance=tolerance,
    rows="x", structure={"one_pass": True, "writes_at_most": 1.1, "coalesced": True, "launches_at_most": 1},
    right_by_nature=dict.fromkeys(
        ("1x1: ones", "1x1: half precision", "1x1: an earlier answer"), "one element is all of its row"),
    mistakes=mistakes(
        ("not divided", "These are exp(x − max): each is to be divided by the sum of its row.",
         lambda x: _terms(x) if x.shape[1] > 1 else None),
        ("no maximum", "The row's maximum is not subtracted, or 0 takes its place in some {lane}s: exp overflows "
         "beyond 88, and the sum is 0 where all lie below −103.", lambda x: _less(x, torch.zeros_like(x[:, :1]))),
        *(("not the row's maximum", "exp overflows where an element lies over 88 above what is subtracted: that is the "
           "largest of the whole row, and not its first element, its mean or a block's maximum.",
           lambda x, block=block: _less(x, (x[:, :block].amax if block else x.mean)(dim=1, keepdim=True))
           if x.shape[1] > max(1, block) else None) for block in (0, 1, *BLOCKS)),
        ("maximum not below 0", "The maximum is never below 0, even of negative numbers: begin at {minus_infinity}, "
         "and let no {lane} put 0 in its place.", lambda x: _less(x, x.amax(dim=1, keepdim=True).clamp(min=0))),
        ("one more in the sum", "The sum of each row is 1 too large: does it begin at 0?",
         lambda x: _terms(x) / (1 + _terms(x).sum(dim=1, keepdim=True))),
        ("logarithm", "This is the logarithm of the softmax.", lambda x: torch.log_softmax(x.double(), dim=1)),
        ("along columns", "The maximum and the sum went down the columns: they go along each row.",
         lambda x: torch.softmax(x.double(), dim=0) if x.numel() > 1 else None),
        ("whole matrix", "All rows were divided by one sum: each row has a maximum and a sum of its own.",
         lambda x: torch.softmax(x.double().view(-1), dim=0).view(x.shape) if x.shape[0] > 1 else None),
        ("mean for sum", "The mean was used: divide by the sum.",
         lambda x: oracle(x) * x.shape[1] if x.shape[1] > 1 else None),
        ("divided by their number", "These are exp(x − max) divided by how many they are: divide by their sum.",
         lambda x: _terms(x) / x.shape[1] if x.shape[1] > 1 else None),
        *((name, hint, lambda x, wrong=wrong, block=block: wrong(block, x))
          for name, hint, wrong in BY_BLOCKS for block in BLOCKS),
        *sums.wrong_sums((*WRONG_SUMS, *sums.OF_WARPS), BLOCKS, _terms, lambda total, x: _terms(x) / total),
        *sums.wrong_sums(UNSCALED, BLOCKS, lambda x: x.double(), lambda total, x: _terms(x) / total),
    ),
)
