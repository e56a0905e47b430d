"""SiLU of a matrix: the first kernel, one element at a time."""

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

EXPONENTS = {"mixed": (64, (3, 6)), "extreme": (4, (3, 13))}
"""One in so many elements lies between powers of two: at ±8 to ±128, or at ±8 to ±16,384, where exp overflows."""


def oracle(x: Tensor) -> Tensor:
    """The right answer in float64, of x's shape (M, N)."""
    return x.double() * torch.sigmoid(x.double())


def distributions(case: Case) -> Mapping[str, Distribution]:
    """Each row of x has a scale and an offset of its own, so that one element differs much from silu(x) = x."""
    every, exponents = EXPONENTS[case.values]
    return {"x": Spread(scale=(0.1, 3.0), offset=2.0, absolute=True, outliers=Outliers(every, exponents=exponents))}


def tolerance(inputs: Inputs, expected: Tensor) -> Tensor:
    """The absolute error allowed for each element."""
    x = inputs["x"].double()
    # A GPU's exp2, division, product and sum err by at most 2 + 2 + 0.5 + 0.5 units of EPS32: 8 leaves room for one
    # more operation. exp(−x) is exp2(−x·log2 e), whose argument is rounded twice: relative error |x|·EPS32 of exp, of
    # which the share 1 − σ(x) reaches the answer; allowed twice.
    relative = EPS32 * (8 + 2 * x.abs() * torch.sigmoid(-x))
    # x/2·(1 + tanh(x/2)) is right as well, but loses EPS32 of the 1; tanh is ±1 beyond |x| = 20.
    absolute = EPS32 * x.abs().clamp(max=20)
    # exp(−x) above 2^126 may be divided to zero, and results below the smallest normal number flushed to zero.
    underflow = SMALLEST_NORMAL32 * (1 + 2 * x.abs())
    allowed: Tensor = relative * expected.abs() + absolute + underflow
    return allowed


def _gelu(x: Tensor) -> Tensor:
    x = x.double()
    return 0.5 * x * (1 + torch.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))


ASSIGNMENT = assignment(
    name="silu",
    title="SiLU",
    formula="out = x · σ(x) = x / (1 + exp(−x))",
    order=1,
    parameters=(Input(name="x", shape=("M", "N")), Output(shape=("M", "N"))),
    forms={"cuda": "silu(input=x, output=out, n=M*N)", "numba": "silu(x, out)"},
    oracle=oracle,
    cases=cases(
        "M N", "1x1 5x9 1x1009 1031x1-extreme 64x64 67x127-extreme 3x5471 420x503",
        gpu="4099x4093-extreme 8192x8192"),
    timed=timed("M N", "8192x8192 4096x4096 2048x2048", "16384x4096 8192x2048 4096x1024"),
    structure={"one_pass": True, "writes_at_most": 1.1, "coalesced": True, "launches_at_most": 1},
    baseline=Baseline(name="torch.ops.aten.silu.out", compiled="torch.compile of silu"),
    distributions=distributions,
    tolerance=tolerance,
    rows="x",
    mistakes=mistakes(
        ("sigmoid", "This is σ(x) alone: SiLU multiplies it by x.", lambda x: torch.sigmoid(x.double())),
        ("wrong sign in the exponent", "This is x · σ(−x): look at the sign in exp(−x).",
         lambda x: x.double() * torch.sigmoid(-x.double())),
        ("minus for plus", "This is x / (1 − exp(−x)): the denominator is a sum.",
         # In float32, where the difference loses digits.
         lambda x: (x / (1 - torch.exp(-x))).double()),
        ("no one", "This is x / exp(−x), x · exp(x): the 1 in the denominator is missing.",
         lambda x: x.double() * torch.exp(x.double())),
        ("no brackets", "This is x + exp(−x): brackets are missing around the denominator, x / (1 + exp(−x)).",
         lambda x: x.double() + torch.exp(-x.double())),
        ("upside down", "This is (1 + exp(−x)) / x: numerator and denominator are exchanged.",
         lambda x: (1 + torch.exp(-x.double())) / x.double()),
        ("tanh", "This is x · tanh(x): SiLU multiplies x by σ(x) = 1 / (1 + exp(−x)).",
         lambda x: x.double() * torch.tanh(x.double())),
        ("softplus", "This is ln(1 + exp(x)), the softplus: SiLU is x / (1 + exp(−x)).",
         lambda x: torch.logaddexp(x.double(), torch.zeros_like(x.double()))),
        ("inverse factor", "This is x · (1 + exp(−x)): the factor belongs in the denominator.",
         lambda x: x.double() * (1 + torch.exp(-x.double()))),
        ("relu", "This is max(x, 0), the ReLU: SiLU is smooth, and a little below zero for negative x.",
         lambda x: x.double().clamp(min=0)),
        ("powers of two", "This is x / (1 + 2^(−x)): {exp2} is not {exp}.",
         lambda x: x.double() * torch.sigmoid(x.double() * math.log(2))),
        ("quick gelu", "This is x · σ(1.702 · x), which stands for the GELU: SiLU has no factor beside x.",
         lambda x: x.double() * torch.sigmoid(1.702 * x.double())),
        ("gelu", "This is the GELU in its tanh form: SiLU is x / (1 + exp(−x)).", _gelu),
    ),
)
