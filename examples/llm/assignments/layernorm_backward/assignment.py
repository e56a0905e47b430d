"""Gradients of LayerNorm: one output along the rows, and two that add up all rows, which programs have to share."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from typing import Any

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
    OneOf,
    Output,
    Spread,
    assignment,
    cases,
    mistakes,
    timed,
)

BLOCKS = (32, 64, 128, 256, 512, 1024, 2048, 4096)
"""Sizes of the blocks that mistaken sums are made of."""
PROGRAMS = (1, 2, 4, 8, 16, 32, 64, 128)
"""Numbers of rows, or of programs, that mistaken sums over rows leave out or keep."""
SCALES = {"mixed": (0.5, 2.0), "large": (20.0, 200.0), "tiny": (1e-4, 1e-3)}
"""Lowest and highest standard deviation of a row of dout."""
RSTD = tuple(0.25 * 2 ** (k / 8) for k in range(24))

Gradients = tuple[Tensor, Tensor, Tensor]
Statistics = Callable[[Tensor, Tensor, Tensor], tuple[Tensor, Tensor] | None]
"""x, mean and rstd to the mean and rstd, (M,), that a mistaken kernel takes; None where they are right."""


def oracle(dout: Tensor, x: Tensor, weight: Tensor, mean: Tensor, rstd: Tensor) -> Gradients:
    """The right dx, of shape (M, N), dweight and dbias, (N,)."""
    normal, g = _normal(x, mean, rstd), dout.double() * weight.double()
    by_weight = dout.double() * normal
    return _dx(g, normal, rstd, _mean(g), _mean(g * normal)), by_weight.sum(dim=0), dout.double().sum(dim=0)


def distributions(case: Case) -> Mapping[str, Distribution]:
    """mean and rstd are drawn as x is, not computed from it: who computes them again has others."""
    return {"dout": Spread(scale=SCALES[case.values], offset=0.5), "x": Spread(scale=(0.5, 2.0), offset=1.0),
            "weight": Spread(), "mean": Spread(), "rstd": OneOf(RSTD)}


def dx_tolerance(inputs: Inputs, expected: Tensor) -> Tensor:
    """The absolute error allowed for each element of dx."""
    normal, rstd = _normal(inputs["x"], inputs["mean"], inputs["rstd"]), inputs["rstd"].double()[:, None]
    g, size = inputs["dout"].double() * inputs["weight"].double(), _size(inputs)
    # Numbers added one after another, the worst sensible order, err by √n/2 units of the mean size of the terms; those
    # of the second mean are products of four roundings, 2 units. Then two products, two differences and the product
    # with rstd: half a unit each of what they make, at most of |g| + |mean| + |x̂ · mean|. Twice all that.
    adding = math.sqrt(inputs["x"].shape[1] - 1) / 2
    first, second = _mean(g.abs()), _mean(g.abs() * size)
    moved = 4 * g.abs() + (adding + 4) * first + normal.abs() * (adding + 8) * second
    return EPS32 * rstd * (moved + 4 * size * _mean(g * normal).abs()) + SMALLEST_NORMAL32


def dweight_tolerance(inputs: Inputs, expected: Tensor) -> Tensor:
    """The absolute error allowed for each element of dweight."""
    size = inputs["dout"].double().abs() * _size(inputs)
    return EPS32 * (3 + _adding(size)) * size.sum(dim=0) + SMALLEST_NORMAL32


def _size(inputs: Inputs) -> Tensor:
    """The sizes of the terms of x̂, which a kernel may compute as x · rstd − mean · rstd, too."""
    size: Tensor = (inputs["x"].double().abs() + inputs["mean"].double().abs()[:, None])
    return size * inputs["rstd"].double()[:, None]


def dbias_tolerance(inputs: Inputs, expected: Tensor) -> Tensor:
    """The absolute error allowed for each element of dbias."""
    return EPS32 * _adding(inputs["dout"]) * inputs["dout"].double().abs().sum(dim=0) + SMALLEST_NORMAL32


def _adding(terms: Tensor) -> float:
    """The error of a sum over rows, in units of the sum of the terms' sizes."""
    # Half a unit of the sum so far at each addition. Few terms may all have one sign, and so may errors: a half unit of
    # all sizes together for each addition, allowed twice. Of many terms with random signs the sum so far stays about √k
    # of k terms, and the errors fall at random; terms with one sign err by √M/8 in one order.
    return min(len(terms) - 1, 2.5 + math.sqrt(len(terms)) / 8)


def _normal(x: Tensor, mean: Tensor, rstd: Tensor) -> Tensor:
    return (x.double() - mean.double()[:, None]) * rstd.double()[:, None]


def _mean(terms: Tensor) -> Tensor:
    return terms.mean(dim=1, keepdim=True)


def _dx(g: Tensor, normal: Tensor, rstd: Tensor, mean: Tensor | float, with_normal: Tensor | float) -> Tensor:
    return rstd.double()[:, None] * (g - mean - normal * with_normal)


def _by_means(wrong: Callable[[Tensor], Tensor | None]) -> Callable[..., Tensor | None]:
    """dx by two wrong means: of terms (M, N) to (M, 1)."""
    def answer(dout: Tensor, x: Tensor, weight: Tensor, mean: Tensor, rstd: Tensor) -> Tensor | None:
        normal, g = _normal(x, mean, rstd), dout.double() * weight.double()
        first, second = wrong(g), wrong(g * normal)
        return None if first is None or second is None else _dx(g, normal, rstd, first, second)

    return answer


def _by_blocks(wrong: sums.WrongSum, block: int) -> Callable[[Tensor], Tensor | None]:
    def means(terms: Tensor) -> Tensor | None:
        total = wrong(terms, block)
        return None if total is None else total / terms.shape[1]

    return means


def _over_the_block(block: int) -> Callable[[Tensor], Tensor | None]:
    def means(terms: Tensor) -> Tensor | None:
        size = block or 1 << (terms.shape[1] - 1).bit_length()
        return None if size == terms.shape[1] else terms.sum(dim=1, keepdim=True) / size

    return means


def _with(change: Callable[..., Tensor | None]) -> Callable[..., Tensor | None]:
    """dx as `change(g, normal, rstd, mean of g, mean of g · normal, dout)` makes it."""
    def answer(dout: Tensor, x: Tensor, weight: Tensor, mean: Tensor, rstd: Tensor) -> Tensor | None:
        normal, g = _normal(x, mean, rstd), dout.double() * weight.double()
        return change(g, normal, rstd, _mean(g), _mean(g * normal), dout.double())

    return answer


def _again(*names: str) -> Statistics:
    """mean, rstd or both computed from x again."""
    def statistics(x: Tensor, mean: Tensor, rstd: Tensor) -> tuple[Tensor, Tensor] | None:
        if x.shape[1] == 1:
            return None
        variance, own = torch.var_mean(x.double(), dim=1, correction=0)
        return own if "mean" in names else mean, torch.rsqrt(variance + 1e-5) if "rstd" in names else rstd

    return statistics


def _shared(mean_of: int, rstd_of: int) -> Statistics:
    """So many rows have the mean, and so many the rstd, of the first of them."""
    def statistics(x: Tensor, mean: Tensor, rstd: Tensor) -> tuple[Tensor, Tensor] | None:
        row = torch.arange(len(x), device=x.device)
        return None if len(x) == 1 else (mean[row // mean_of * mean_of], rstd[row // rstd_of * rstd_of])

    return statistics


STATISTICS: tuple[tuple[str, str, Statistics], ...] = (
    ("statistics computed again", "mean and rstd were computed from x again: use the arguments.",
     _again("mean", "rstd")),
    ("mean computed again", "The mean was computed from x again: use the argument.", _again("mean")),
    ("rstd computed again", "rstd was computed from x again: use the argument.", _again("rstd")),
    ("mean not scaled", "The mean was subtracted after the product with rstd: x̂ is (x − mean) · rstd.",
     lambda x, mean, rstd: (mean.double() / rstd.double(), rstd)),
    ("no mean", "The mean was not subtracted: x̂ is (x − mean) · rstd.",
     lambda x, mean, rstd: (torch.zeros_like(mean), rstd)),
    *(("rstd of several rows", "Several rows have the rstd of the first of them: load that of each row.",
       _shared(1, rows)) for rows in PROGRAMS[1:]),
    *(("mean of several rows", "Several rows have the mean of the first of them: load that of each row.",
       _shared(rows, 1)) for rows in PROGRAMS[1:]),
    *(("statistics of several rows", "Several rows have mean and rstd of the first of them: load those of each row.",
       _shared(rows, rows)) for rows in PROGRAMS[1:]),
)


def _by_statistics() -> Iterator[Mistake]:
    for name, hint, statistics in STATISTICS:
        for number, output in enumerate(("dx", "dweight")):
            def answer(
                dout: Tensor, x: Tensor, weight: Tensor, mean: Tensor, rstd: Tensor,
                _statistics: Statistics = statistics, _number: int = number
            ) -> Tensor | None:
                found = _statistics(x, mean, rstd)
                return None if found is None else oracle(dout, x, weight, *found)[_number]

            yield Mistake(name=name, hint=hint, answer=answer, output=output)


DX: tuple[tuple[str, str, Callable[..., Tensor | None]], ...] = (
    ("no means", "Both means are missing: mean and deviation depend on x as well, so dx is less than rstd · g.",
     _with(lambda g, normal, rstd, first, second, dout: _dx(g, normal, rstd, 0, 0))),
    ("first mean missing", "mean(g) is missing from dx.",
     _with(lambda g, normal, rstd, first, second, dout: _dx(g, normal, rstd, 0, second))),
    ("second mean missing", "x̂ · mean(g · x̂) is missing from dx.",
     _with(lambda g, normal, rstd, first, second, dout: _dx(g, normal, rstd, first, 0))),
    ("second mean not times x̂", "mean(g · x̂) was subtracted as it is: multiply it by x̂ first.",
     _with(lambda g, normal, rstd, first, second, dout: rstd.double()[:, None] * (g - first - second))),
    ("means without the weight", "The weight is missing from the means: they are those of g and g · x̂.",
     _with(lambda g, normal, rstd, first, second, dout: _dx(g, normal, rstd, _mean(dout), _mean(dout * normal)))),
    ("first mean without the weight", "The weight is missing from the first mean: it is that of g.",
     _with(lambda g, normal, rstd, first, second, dout: _dx(g, normal, rstd, _mean(dout), second))),
    ("second mean without the weight", "The weight is missing from the second mean: it is that of g · x̂.",
     _with(lambda g, normal, rstd, first, second, dout: _dx(g, normal, rstd, first, _mean(dout * normal)))),
    ("means added", "The means were added: they are subtracted.",
     _with(lambda g, normal, rstd, first, second, dout: _dx(g, normal, rstd, -first, -second))),
    ("no rstd", "dx is to be multiplied by rstd once more.",
     _with(lambda g, normal, rstd, first, second, dout: g - first - normal * second)),
    ("rstd twice", "dx was multiplied by rstd twice: once is right.",
     _with(lambda g, normal, rstd, first, second, dout: _dx(g, normal, rstd.double().square(), first, second))),
    ("no weight", "The weight is missing from dx: g is dout · weight.",
     _with(lambda g, normal, rstd, first, second, dout:
           _dx(dout, normal, rstd, _mean(dout), _mean(dout * normal)) if g.shape[1] > 1 else None)),
    ("weight after the means", "The weight was multiplied last: it belongs in g, before the means.",
     lambda dout, x, weight, mean, rstd: oracle(dout, x, torch.ones_like(weight), mean, rstd)[0] * weight.double()
     if x.shape[1] > 1 else None),
    ("sums for means", "The sums of g and g · x̂ were subtracted: divide them by N.",
     _by_means(lambda terms: terms.sum(dim=1, keepdim=True) if terms.shape[1] > 1 else None)),
    ("means of columns", "The means were taken down the columns: they go along each row.",
     _by_means(lambda terms: terms.mean(dim=0, keepdim=True) if terms.numel() > 1 else None)),
    ("x for x̂", "x itself stands for x̂ in dx: x̂ is (x − mean) · rstd.",
     lambda dout, x, weight, mean, rstd: _dx(
         dout.double() * weight.double(), x.double(), rstd, _mean(dout.double() * weight.double()),
         _mean(dout.double() * weight.double() * x.double()))),
    *(("divided by the block", "The sums were divided by the size of the block: divide by N.",
       _by_means(_over_the_block(block))) for block in (0, *BLOCKS)),
    *((name, hint, _by_means(_by_blocks(wrong, block))) for name, hint, wrong in (
        ("first block only", "Only the first columns, one block of them, are in the means: they go over the whole row.",
         sums.first_block),
        ("last block only", "Only the last block is in the means: the loop replaces the total, it does not add to it.",
         sums.last_block),
        ("last block missing", "The last columns, a partial block, are missing from the means: they need N / BLOCK "
         "blocks, rounded up, the last one masked.", sums.whole_blocks),
    ) for block in BLOCKS),
)

Kept = Callable[[int, int], slice]
"""Takes the number of rows and a number of programs or rows; gives the rows that remain in a wrong sum."""
LOST: tuple[tuple[str, str, Kept], ...] = (
    ("first rows only", "Only the first rows, {step} of them, are in {output}: every row has to be added.",
     lambda m, step: slice(0, step)),
    ("first rows missing", "The first rows are missing from {output}: where do the loop and its rows begin?",
     lambda m, step: slice(step, m)),
    *(("last rows only", "Only the last rows are in {output}: a loop has to add to its total, not replace it, and "
       "programs that share {output} have to add, each into a place of its own, or by tl.atomic_add into zeros.", kept)
      for kept in (lambda m, step: slice(m - step, m), lambda m, step: slice((m - 1) // step * step, m))),
    ("rows of the last block missing", "The last rows, a partial block, are missing from {output}: it needs M / ROWS "
     "steps, rounded up, the last one masked.", lambda m, step: slice(0, m // step * step)),
    ("one row of several", "Only one row of several is in {output}: the parts of the other programs are not added.",
     lambda m, step: slice(0, m, 2 * step)),
)


def _over_rows(output: str, terms: Callable[..., Tensor]) -> Iterator[Mistake]:
    """Mistaken sums of `terms(**inputs)`, (M, N), over the rows."""
    for name, hint, kept in LOST:
        for step in PROGRAMS:
            def answer(_kept: Kept = kept, _step: int = step, **inputs: Any) -> Tensor | None:
                found = terms(**inputs)
                part = found[_kept(len(found), _step)] if _step <= len(found) else found
                return None if len(part) == len(found) else part.sum(dim=0)

            yield Mistake(name=name, hint=hint.format(step=step, output=output), answer=answer, output=output)


def _columns(inputs: Inputs, index: slice | Tensor) -> Inputs:
    """Column j of dout and x gives element j of dweight and dbias."""
    return {**inputs, "dout": inputs["dout"][:, index], "x": inputs["x"][:, index], "weight": inputs["weight"][index]}


ASSIGNMENT = assignment(
    name="layernorm_backward",
    title="LayerNorm, backward",
    formula="x̂[i, j] = (x[i, j] − mean[i]) · rstd[i] and g[i, j] = dout[i, j] · weight[j];  dx[i, j] = rstd[i] · "
            "(g[i, j] − Σ over k of g[i, k] / N − x̂[i, j] · Σ over k of g[i, k] · x̂[i, k] / N);  dweight[j] = Σ over i "
            "of dout[i, j] · x̂[i, j];  dbias[j] = Σ over i of dout[i, j]",
    order=6,
    parameters=(
        Input(name="dout", shape=("M", "N")), Input(name="x", shape=("M", "N")), Input(name="weight", shape=("N",)),
        Input(name="mean", shape=("M",)), Input(name="rstd", shape=("M",)), Output(name="dx", shape=("M", "N")),
        Output(name="dweight", shape=("N",)), Output(name="dbias", shape=("N",))),
    oracle=oracle,
    cases=cases(
        "M N", "1x1 5x9 257x3-tiny 7x1009 37x64-large 149x31 1031x17-large 3x4099 2x9001",
        gpu="70001x33 4099x4093 257x30011 8192x8192"),
    timed=timed("M N", "16384x4096 8192x4096 4096x2048", "32768x1024 16384x1024 8192x1024"),
    baseline=Baseline(
        name="torch.ops.aten.native_layer_norm_backward", compiled="torch.compile of native_layer_norm_backward"),
    distributions=distributions,
    tolerance={"dx": dx_tolerance, "dweight": dweight_tolerance, "dbias": dbias_tolerance},
    right_by_nature=dict.fromkeys(
        ("1x1: dbias: the input", "1x1: dbias: the mean"), "the sum of one element is itself"),
    rows={"dx": "dout x mean rstd", "dweight": _columns, "dbias": _columns},
    mistakes=(
        *mistakes(*DX), *_by_statistics(),
        *mistakes(
            ("x for x̂", "x itself was multiplied by dout: x̂ is (x − mean) · rstd.",
             lambda dout, x, weight, mean, rstd: (dout.double() * x.double()).sum(dim=0)),
            ("no rstd", "rstd is missing from x̂ in dweight.",
             lambda dout, x, weight, mean, rstd: (dout.double() * (x.double() - mean.double()[:, None])).sum(dim=0)),
            ("times the weight", "dweight was multiplied by the weight: it is the sum of dout · x̂ alone.",
             lambda dout, x, weight, mean, rstd: oracle(dout, x, weight, mean, rstd)[1] * weight.double()),
            ("mean for sum", "dweight was divided by M: it is a sum.",
             lambda dout, x, weight, mean, rstd: oracle(dout, x, weight, mean, rstd)[1] / len(x)
             if len(x) > 1 else None),
            *_over_rows("dweight", lambda dout, x, weight, mean, rstd: dout.double() * _normal(x, mean, rstd)),
            output="dweight"),
        *mistakes(
            ("times the weight", "dbias was multiplied by the weight: it is the sum of dout alone.",
             lambda dout, x, weight, mean, rstd: (dout.double() * weight.double()).sum(dim=0)),
            ("sum of dx", "dbias is the sum of dx: it is the sum of dout.",
             lambda dout, x, weight, mean, rstd: oracle(dout, x, weight, mean, rstd)[0].sum(dim=0)),
            ("dweight", "dbias holds dweight: it is the sum of dout alone.",
             lambda dout, x, weight, mean, rstd: oracle(dout, x, weight, mean, rstd)[1]),
            ("mean for sum", "dbias was divided by M: it is a sum.",
             lambda dout, x, weight, mean, rstd: dout.double().mean(dim=0) if len(x) > 1 else None),
            *_over_rows("dbias", lambda dout, x, weight, mean, rstd: dout.double()),
            output="dbias"),
    ),
)
