"""GELU in its tanh form: like SiLU, but a formula that a GPU has no instruction for, and whose parts cancel."""

from __future__ import annotations

import math
from collections.abc import Mapping

import torch
from torch import Tensor

from grader.kit.author import (
    EPS32,
    SMALLEST_NORMAL32,
    Baseline,
    Case,
    Distribution,
    Input,
    Inputs,
    Outliers,
    Output,
    Spread,
    assignment,
    cases,
    mistakes,
    timed,
)

EXPONENTS = {"mixed": (64, (3, 6)), "extreme": (4, (3, 12))}
"""One in so many elements lies between powers of two: at ±8 to ±128, or at ±8 to ±8,192, whose cube is 5e11."""
FACTOR, CUBIC = math.sqrt(2 / math.pi), 0.044715


def oracle(x: Tensor) -> Tensor:
    """The right answer in float64, of x's shape (M, N): x · σ(2 u), which is x/2 · (1 + tanh u) without cancelling."""
    return x.double() * torch.sigmoid(2 * _argument(x))


def distributions(case: Case) -> Mapping[str, Distribution]:
    """Each row of x has a scale and an offset of its own."""
    every, exponents = EXPONENTS[case.values]
    return {"x": Spread(scale=(0.1, 3.0), offset=2.0, absolute=True, outliers=Outliers(every, exponents=exponents))}


def tolerance(inputs: Inputs, expected: Tensor) -> Tensor:
    """The absolute error allowed for each element."""
    x, u = inputs["x"].double(), _argument(inputs["x"])
    # tanh, products and sums err by about 8 units of EPS32 together. The argument is made of five roundings, 3 units by
    # chance, of which the share 2·|u|·σ(−2u) reaches the answer; allowed twice.
    relative = EPS32 * (8 + 12 * u.abs() * torch.sigmoid(-2 * u))
    # x/2·(1 + tanh u) loses EPS32 of the 1; tanh is ±1 beyond |x| = 6.
    absolute = EPS32 * x.abs().clamp(max=6)
    allowed: Tensor = relative * expected.abs() + absolute + SMALLEST_NORMAL32 * (1 + 2 * x.abs())
    return allowed


def _argument(x: Tensor) -> Tensor:
    x = x.double()
    return FACTOR * (x + CUBIC * x**3)


def _with(x: Tensor, factor: float, cubic: float) -> Tensor:
    """GELU with other constants."""
    x = x.double()
    return x * torch.sigmoid(2 * factor * (x + cubic * x**3))


def _fitted(x: Tensor, out: Tensor | None, term: Tensor, rest: Tensor | float) -> Tensor | None:
    """GELU whose argument of tanh is a multiple of a term, and the rest: the multiple is that of most of an answer,
    twice the right one where there is none. None where an answer shows it nowhere."""
    x = x.double()
    if out is None:
        return x * torch.sigmoid(2 * (2 * FACTOR * term + rest))
    share = out.double() / x
    telling = (share - 0.5).abs() < 0.45
    if int(telling.sum()) < 8:
        return None
    multiple = ((torch.logit(share) / 2 - rest) / term)[telling].median()
    return x * torch.sigmoid(2 * (multiple * term + rest))


def _gate(x: Tensor, power: Tensor, first: Tensor | float | None = None) -> Tensor:
    """GELU with another power of x, or another term, in the argument of tanh."""
    x = x.double()
    return x * torch.sigmoid(2 * FACTOR * ((x if first is None else first) + CUBIC * power))


ASSIGNMENT = assignment(
    name="gelu",
    title="GELU",
    formula="out = x/2 · (1 + tanh(√(2/π) · (x + 0.044715 x³)))",
    order=8,
    parameters=(Input(name="x", shape=("M", "N")), Output(shape=("M", "N"))),
    forms={"cuda": "gelu(input=x, output=out, n=M*N)", "numba": "gelu(x, out)"},
    oracle=oracle,
    cases=cases(
        "M N", "1x1 5x9 1x1009 1031x1-extreme 64x64 67x127-extreme 420x503", gpu="4099x4093-extreme 8192x8192"),
    timed=timed("M N", "8192x8192 4096x4096 2048x2048", "16384x4096 8192x2048 4096x1024"),
    structure={"one_pass": True, "writes_at_most": 1.1, "coalesced": True, "launches_at_most": 1},
    baseline=Baseline(name="torch.nn.functional.gelu, tanh form", compiled="torch.compile of gelu"),
    distributions=distributions,
    tolerance=tolerance,
    rows="x",
    mistakes=mistakes(
        ("no cubic term", "The cube is missing: the argument of tanh is √(2/π) · (x + 0.044715 x³).",
         lambda x: x.double() * torch.sigmoid(2 * FACTOR * x.double())),
        ("ten times the cubic term", "The factor of x³ is 0.044715: this is the answer with 0.44715.",
         lambda x: _with(x, FACTOR, 10 * CUBIC)),
        ("square for cube", "x was squared where the formula has x³.", lambda x: _gate(x, x.double() ** 2)),
        ("product for sum", "This multiplies x by 1 + 0.044715 x³ or leaves out its x: the argument of tanh is "
         "√(2/π) · (x + 0.044715 x³).", lambda x: _gate(x, x.double() ** 3, 1.0)),
        ("root of 1/2", "The factor before the sum is √(1/2), as in the form with erf: the tanh form has √(2/π).",
         lambda x: _with(x, math.sqrt(0.5), CUBIC)),
        ("no root", "The factor before the sum is 2/π: its square root, √(2/π) = 0.7978845608, is meant.",
         lambda x: _with(x, 2 / math.pi, CUBIC)),
        ("root of 2 alone", "The factor before the sum is √2/π: the root goes over all of it, √(2/π) = 0.7978845608.",
         lambda x: _with(x, math.sqrt(2) / math.pi, CUBIC)),
        ("cube outside", "The factor √(2/π) multiplies x alone: it belongs before the whole sum x + 0.044715 x³.",
         lambda x: _with(x, FACTOR, CUBIC / FACTOR)),
        ("no factor", "The factor √(2/π) before the sum is missing.", lambda x: _with(x, 1.0, CUBIC)),
        ("sigmoid for tanh", "This is x/2 · (1 + σ(…)): the formula has tanh, which is 2 · σ(2 u) − 1.",
         lambda x: 0.5 * x.double() * (1 + torch.sigmoid(_argument(x)))),
        ("sigmoid of u", "This is x · σ(u): with σ in place of tanh it is x · σ(2 u).",
         lambda x: x.double() * torch.sigmoid(_argument(x))),
        ("minus for plus", "This is x/2 · (1 − tanh(…)): the formula has a plus.",
         lambda x: x.double() * torch.sigmoid(-2 * _argument(x))),
        ("error function", "This is the GELU by the error function: the assignment asks for the tanh form.",
         lambda x: 0.5 * x.double() * (1 + torch.erf(x.double() / math.sqrt(2)))),
        ("sigmoid form", "This is x · σ(1.702 x), another approximation of the GELU.",
         lambda x: x.double() * torch.sigmoid(1.702 * x.double())),
        ("silu", "This is x · σ(x), the SiLU: GELU's argument is 2 · √(2/π) · (x + 0.044715 x³).",
         lambda x: x.double() * torch.sigmoid(x.double())),
        ("no half", "This is twice the right answer: the factor 1/2 is missing.", lambda x: 2 * oracle(x)),
        ("no factor x", "This is 1/2 · (1 + tanh …) alone: GELU multiplies it by x.",
         lambda x: torch.sigmoid(2 * _argument(x))),
        ("no one", "This is x/2 · tanh(…): the 1 is missing.", lambda x: 0.5 * x.double() * torch.tanh(_argument(x))),
        ("another factor", "The factor before x + 0.044715 x³ is not √(2/π) = 0.7978845608.",
         lambda x, out=None: _fitted(x, out, x.double() + CUBIC * x.double()**3, 0.0)),
        ("another cubic term", "The factor before x³ is not 0.044715: look at its sign, and at "
         "brackets, in macros too.",
         lambda x, out=None: _fitted(x, out, CUBIC * x.double()**3, FACTOR * x.double())),
    ),
)
