"""LayerNorm of each row, with the mean and the reciprocal deviation that the backward pass needs: three outputs."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping

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
    Mistake,
    Number,
    Outliers,
    Output,
    Scalar,
    Spread,
    assignment,
    cases,
    mistakes,
    timed,
)

BLOCKS = (32, 64, 128, 256, 512, 1024, 2048, 4096)
"""Sizes of the blocks that mistaken sums are made of."""
ROWS = {
    "mixed": Spread(scale=(0.05, 10.0), offset=2.0, outliers=Outliers(256, times=30)),
    "tiny": Spread(scale=(1e-4, 3e-3), offset=2.0),
    "offset": Spread(scale=(0.5, 2.0), offset=2000.0, absolute=True),
}
"""x by the values of a case. In "tiny" rows eps, 1e-6 to 1e-4, outweighs the variance; in "offset" rows the mean of
squares less the squared mean has no right digit in float32."""

Statistics = Callable[[Tensor], tuple[Tensor, Tensor] | None]
"""x (float64) to the means and variances, (M, 1) or (M, N), that a mistaken kernel takes; None where they are right."""


def oracle(x: Tensor, weight: Tensor, bias: Tensor, eps: float) -> tuple[Tensor, Tensor, Tensor]:
    """The right out, of shape (M, N), mean and rstd, (M,)."""
    mean, variance = _statistics(x.double())
    return _normal(x, weight, bias, eps, mean, variance), mean.squeeze(1), torch.rsqrt(variance + eps).squeeze(1)


def distributions(case: Case) -> Mapping[str, Distribution]:
    """Each row of x has its own scale and offset; weight and bias have both signs."""
    return {"x": ROWS[case.values], "weight": Spread(), "bias": Spread(), "eps": Number(1e-6, 1e-4)}


def mean_tolerance(inputs: Inputs, expected: Tensor) -> Tensor:
    """The absolute error allowed for each mean."""
    # n numbers added one after another, the worst sensible order, err by EPS32/2 of the sum so far at each addition, at
    # random: less than √n/4 units of the sum of |x|. A division and the rounding of the mean err by one more.
    n = inputs["x"].shape[1]
    size = inputs["x"].double().abs().mean(dim=1)
    return EPS32 * (math.sqrt(n - 1) / 2 + (2 if n > 1 else 1)) * size + SMALLEST_NORMAL32


def rstd_tolerance(inputs: Inputs, expected: Tensor) -> Tensor:
    """The absolute error allowed for each reciprocal deviation."""
    # Squares, their sum, mean, eps and a GPU's rsqrt err by about 6 units, and the sum by √n/2 in the worst order,
    # which the root halves. A mean in float32 errs by half a unit of itself, and with it each difference from a running
    # mean (Welford): by EPS32 of the mean over the deviation, allowed twice and halved by the root.
    n, mean = inputs["x"].shape[1], inputs["x"].double().mean(dim=1)
    return EPS32 * (6 + math.sqrt(n) / 4 + (mean.abs() * expected if n > 1 else 0)) * expected


def out_tolerance(inputs: Inputs, expected: Tensor) -> Tensor:
    """The absolute error allowed for each element of out."""
    weight, bias = inputs["weight"].double(), inputs["bias"].double()
    mean, rstd = (t.squeeze(1) for t in _statistics(inputs["x"].double()))
    rstd = torch.rsqrt(rstd + inputs["eps"])
    # The mean's error moves a whole row. A difference and two products err by 3 half units of the product, whose rstd
    # has an error of its own, and the sum with the bias by a half of the answer: twice all that.
    moved = (mean_tolerance(inputs, mean) if inputs["x"].shape[1] > 1 else torch.zeros_like(mean)) * rstd
    relative = rstd_tolerance(inputs, rstd) / rstd + 3 * EPS32
    return (moved[:, None] * weight.abs() + relative[:, None] * (expected - bias).abs() + EPS32 * expected.abs()
            + SMALLEST_NORMAL32)


def _statistics(x: Tensor) -> tuple[Tensor, Tensor]:
    variance, mean = torch.var_mean(x, dim=1, correction=0, keepdim=True)
    return mean, variance


def _normal(x: Tensor, weight: Tensor, bias: Tensor, eps: float, mean: Tensor, variance: Tensor) -> Tensor:
    return (x.double() - mean) * torch.rsqrt(variance + eps) * weight.double() + bias.double()


def _summed(wrong: sums.WrongSum, block: int) -> Statistics:
    """Both sums are made by blocks in the same wrong way."""
    def statistics(x: Tensor) -> tuple[Tensor, Tensor] | None:
        total = wrong(x, block)
        if total is None:
            return None
        mean = total / x.shape[1]
        squares = wrong((x - mean).square(), block)
        return None if squares is None else (mean, squares / x.shape[1])

    return statistics


def _over_the_block(block: int) -> Statistics:
    """`block` 0 is the smallest power of two that holds a row."""
    def statistics(x: Tensor) -> tuple[Tensor, Tensor] | None:
        n = x.shape[1]
        size = block or 1 << (n - 1).bit_length()
        mean = x.sum(dim=1, keepdim=True) / size
        return None if size == n else (mean, (x - mean).square().sum(dim=1, keepdim=True) / size)

    return statistics


def _zeros_beyond(block: int) -> Statistics:
    """Lanes beyond the end hold 0 and enter the sum of squares as mean²."""
    def statistics(x: Tensor) -> tuple[Tensor, Tensor] | None:
        n = x.shape[1]
        missing = (1 << (n - 1).bit_length()) - n if block == 0 else -n % block
        mean, variance = _statistics(x)
        return None if missing == 0 else (mean, variance + missing * mean.square() / n)

    return statistics


def _whole_matrix(x: Tensor) -> tuple[Tensor, Tensor] | None:
    return None if len(x) == 1 else (x.mean().expand(len(x), 1), x.var(correction=0).expand(len(x), 1))


def _unbiased(x: Tensor) -> tuple[Tensor, Tensor] | None:
    return None if x.shape[1] == 1 else (x.mean(dim=1, keepdim=True), x.var(dim=1, keepdim=True, correction=1))


STATISTICS: tuple[tuple[str, str, Statistics], ...] = (
    ("not centred", "The mean was not subtracted, as in RMSNorm: out and the variance both take x − mean.",
     lambda x: (torch.zeros_like(x[:, :1]), x.square().mean(dim=1, keepdim=True))),
    ("variance not centred", "The squares of x itself are in the variance: subtract the mean first, then square.",
     lambda x: (x.mean(dim=1, keepdim=True), x.square().mean(dim=1, keepdim=True))),
    ("N − 1", "The variance was divided by N − 1: LayerNorm divides by N.", _unbiased),
    ("sum for variance", "The sum of the squares was used for their mean: divide it by N.",
     lambda x: (_statistics(x)[0], _statistics(x)[1] * x.shape[1])),
    ("sum for mean", "The sum of the row was subtracted: divide it by N first.",
     lambda x: (x.sum(dim=1, keepdim=True), (x - x.sum(dim=1, keepdim=True)).square().mean(dim=1, keepdim=True))
     if x.shape[1] > 1 else None),
    ("whole matrix", "One mean and one variance serve the whole matrix: each row has its own.", _whole_matrix),
    ("along columns", "Mean and variance were taken down the columns, as in BatchNorm: they go along each row.",
     lambda x: (x.mean(dim=0, keepdim=True), x.var(dim=0, keepdim=True, correction=0)) if x.numel() > 1 else None),
    *(("divided by the block", "The sums were divided by the size of the block: divide by N.", _over_the_block(block))
      for block in (0, *BLOCKS)),
    *(("lanes beyond the end", "Lanes beyond the end of the row hold 0, and 0 − mean entered the variance: set the "
       "difference to 0 there, with tl.where.", _zeros_beyond(block)) for block in (0, *BLOCKS)),
    *((name, hint, _summed(wrong, block)) for name, hint, wrong in (
        ("first block only", "Only the first columns, one block of them, are in the sums: they go over the whole row.",
         sums.first_block),
        ("last block only", "Only the last block is in the sums: the loop replaces the total, it does not add to it.",
         sums.last_block),
        ("last block missing", "The last columns, a partial block, are missing from the sums: they need N / BLOCK "
         "blocks, rounded up, the last one masked.", sums.whole_blocks),
    ) for block in BLOCKS),
)


def _by_statistics() -> Iterator[Mistake]:
    for name, hint, statistics in STATISTICS:
        def answer(
            x: Tensor, weight: Tensor, bias: Tensor, eps: float, _statistics: Statistics = statistics
        ) -> Tensor | None:
            found = _statistics(x.double())
            return None if found is None else _normal(x, weight, bias, eps, *found)

        yield Mistake(name=name, hint=hint, answer=answer)


def _scaled(x: Tensor, scale: Callable[[Tensor], Tensor]) -> Tensor:
    mean, variance = _statistics(x.double())
    return (x.double() - mean) * scale(variance)


OUT: tuple[tuple[str, str, Callable[[Tensor, Tensor, Tensor, float], Tensor]], ...] = (
    ("no eps", "eps is missing: it is added to the variance, and matters where x hardly varies.",
     lambda x, weight, bias, eps: _normal(x, weight, bias, 0, *_statistics(x.double()))),
    ("eps outside the root", "eps was added to the deviation: it belongs inside, √(variance + eps).",
     lambda x, weight, bias, eps: _scaled(x, lambda v: 1 / (v.sqrt() + eps)) * weight.double() + bias.double()),
    ("no root", "The square root is missing: divide by √(variance + eps).",
     lambda x, weight, bias, eps: _scaled(x, lambda v: 1 / (v + eps)) * weight.double() + bias.double()),
    ("times the root", "x − mean was multiplied by the deviation: divide by it.",
     lambda x, weight, bias, eps: _scaled(x, lambda v: (v + eps).sqrt()) * weight.double() + bias.double()),
    ("fixed eps", "eps is written into the kernel as 1e-5: use the argument eps.",
     lambda x, weight, bias, eps: _normal(x, weight, bias, 1e-5, *_statistics(x.double()))),
    ("no weight", "The weight is missing: multiply element j of each row by weight[j].",
     lambda x, weight, bias, eps: oracle(x, torch.ones_like(weight), bias, eps)[0]),
    ("no bias", "The bias is missing: add bias[j] to element j of each row.",
     lambda x, weight, bias, eps: oracle(x, weight, torch.zeros_like(bias), eps)[0]),
    ("bias before the weight", "The bias was added before the product with the weight: multiply first.",
     lambda x, weight, bias, eps: oracle(x, weight, weight.double() * bias.double(), eps)[0]),
    ("weight and bias exchanged", "weight and bias were exchanged: the weight multiplies, the bias is added.",
     lambda x, weight, bias, eps: oracle(x, bias, weight, eps)[0]),
    ("1 + weight", "Elements were multiplied by 1 + weight, as in Gemma: multiply by the weight itself.",
     lambda x, weight, bias, eps: oracle(x, 1 + weight.double(), bias, eps)[0]),
)

def _kept(x: Tensor, eps: float, rstd: Tensor) -> Tensor:
    """An rstd (M,) in rows where E[x²] − mean² makes it as wrong, in float32, elsewhere the right one."""
    variance, squares = _statistics(x.double())[1].squeeze(1), x.double().square().mean(dim=1)
    # The two that are subtracted err by 2 units each, at most.
    error = 4 * EPS32 * squares
    # Elsewhere too little is lost for a case to show it.
    lost = (error > variance * 2**-17) & (rstd.isnan() | ((1 / rstd.square() - eps - variance).abs() <= error))
    return torch.where(lost, rstd, torch.rsqrt(variance + eps))


def _rstd_lost(x: Tensor, weight: Tensor, bias: Tensor, eps: float, rstd: Tensor | None = None) -> Tensor:
    if rstd is None:
        return torch.rsqrt(x.square().mean(dim=1) - x.mean(dim=1).square() + eps).double()
    return _kept(x, eps, rstd.double())


def _out_lost(x: Tensor, weight: Tensor, bias: Tensor, eps: float, out: Tensor | None = None) -> Tensor:
    weight, bias = weight.double(), bias.double()
    scaled = (x.double() - _statistics(x.double())[0]) * weight
    if out is None:
        return _rstd_lost(x, weight, bias, eps)[:, None] * scaled + bias
    # The rstd that brings each row nearest to what was answered, and the error of its mean, times that: least squares.
    answered = out.double() - bias
    squares, both, weights = ((a * b).sum(dim=1) for a, b in (
        (scaled, scaled), (scaled, weight), (weight.expand_as(scaled), weight)))
    first, second = ((answered * one).sum(dim=1) for one in (scaled, weight))
    whole = squares * weights - both.square()
    rstd = _kept(x, eps, (first * weights - second * both) / whole)
    most = rstd * mean_tolerance({"x": x}, rstd)
    moved = ((second * squares - first * both) / whole).clamp(-most, most).nan_to_num(0.0)
    return rstd[:, None] * scaled + moved[:, None] * weight + bias


LOST = ("The variance has lost its digits where numbers lie far from 0, as E[x²] − mean² does: subtract the mean "
        "first, then square.")

ASSIGNMENT = assignment(
    name="layernorm_forward",
    title="LayerNorm, forward",
    formula="mean[i] = Σ over j of x[i, j] / N;  rstd[i] = 1 / √(Σ over j of (x[i, j] − mean[i])² / N + eps);  "
            "out[i, j] = (x[i, j] − mean[i]) · rstd[i] · weight[j] + bias[j]",
    order=5,
    parameters=(
        Input(name="x", shape=("M", "N")), Input(name="weight", shape=("N",)), Input(name="bias", shape=("N",)),
        Scalar(name="eps"), Output(shape=("M", "N")), Output(name="mean", shape=("M",)),
        Output(name="rstd", shape=("M",))),
    oracle=oracle,
    cases=cases(
        "M N", "1x1 5x9 4x257-tiny 7x1009 37x64-offset 149x31-tiny 3x4099 17x1031-offset 2x20016",
        gpu="70001x33 4099x4093 257x30011 8192x8192"),
    timed=timed("M N", "8192x8192 4096x4096 2048x2048", "32768x1024 16384x1024 8192x1024"),
    baseline=Baseline(name="torch.native_layer_norm", compiled="torch.compile of native_layer_norm"),
    distributions=distributions,
    tolerance={"out": out_tolerance, "mean": mean_tolerance, "rstd": rstd_tolerance},
    rows="x",
    right_by_nature=dict.fromkeys(("1x1: mean: the input", "1x1: mean: the mean"), "the mean of one element is itself"),
    mistakes=(
        *mistakes(*OUT, ("digits lost", LOST, _out_lost)), *_by_statistics(),
        *mistakes(
            ("sum", "These are the sums of the rows: divide by N.",
             lambda x, weight, bias, eps: x.double().sum(dim=1) if x.shape[1] > 1 else None), output="mean"),
        *mistakes(
            ("variance", "These are the variances: rstd is 1 / √(variance + eps).",
             lambda x, weight, bias, eps: _statistics(x.double())[1].squeeze(1)),
            ("variance and eps", "These are variance + eps: rstd is 1 / √ of that.",
             lambda x, weight, bias, eps: _statistics(x.double())[1].squeeze(1) + eps),
            ("deviation", "These are the deviations, √(variance + eps): rstd is 1 / that.",
             lambda x, weight, bias, eps: (_statistics(x.double())[1].squeeze(1) + eps).sqrt()),
            ("digits lost", LOST, _rstd_lost), output="rstd"),
    ),
)
