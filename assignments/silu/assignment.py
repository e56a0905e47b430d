"""SiLU of a matrix: the first kernel, one element at a time."""

from __future__ import annotations

import math
from collections.abc import Mapping

import torch
from torch import Tensor

from grader.assignment import Assignment, Baseline, Case, Input, Inputs, Mistake, Output, TimedCase, Work
from grader.kit.inputs import Distribution, Outliers, Spread, maker

EPS32 = 2.0**-23
SMALLEST_NORMAL32 = 2.0**-126

CASES = (
    Case(name="1x1", sizes={"M": 1, "N": 1}),
    Case(name="5x9", sizes={"M": 5, "N": 9}),
    Case(name="1x1009", sizes={"M": 1, "N": 1009}),
    Case(name="1031x1-extreme", sizes={"M": 1031, "N": 1}, values="extreme"),
    Case(name="64x64", sizes={"M": 64, "N": 64}),
    Case(name="67x127-extreme", sizes={"M": 67, "N": 127}, values="extreme"),
    Case(name="3x5471", sizes={"M": 3, "N": 5471}),
    Case(name="419x503", sizes={"M": 419, "N": 503}),
    Case(name="4099x4093-extreme", sizes={"M": 4099, "N": 4093}, values="extreme", needs="gpu"),
    Case(name="8192x8192", sizes={"M": 8192, "N": 8192}, needs="gpu"),
)
TIMED = (
    TimedCase(name="8192x8192", sizes={"M": 8192, "N": 8192}, smaller=({"M": 4096, "N": 4096}, {"M": 2048, "N": 2048})),
    TimedCase(
        name="16384x4096", sizes={"M": 16384, "N": 4096}, smaller=({"M": 8192, "N": 2048}, {"M": 4096, "N": 1024})),
)


EXPONENTS = {"mixed": (64, (3, 6)), "extreme": (4, (3, 13))}
"""One in so many elements lies between powers of two: at ±8 to ±128, or at ±8 to ±16,384, where exp overflows."""


def distributions(case: Case) -> Mapping[str, Distribution]:
    """Each row of x has a scale and an offset of its own, so that one element differs much from silu(x) = x."""
    every, exponents = EXPONENTS[case.values]
    return {"x": Spread(scale=(0.1, 3.0), offset=2.0, absolute=True, outliers=Outliers(every, exponents=exponents))}


def tolerance(inputs: Inputs, expected: Tensor) -> Tensor:
    """The absolute error allowed for each element."""
    x = inputs["x"].double()
    size = expected.abs()
    # A GPU's exp2, division, product and sum err by at most 2 + 2 + 0.5 + 0.5 units of EPS32: 8 leaves room for one
    # more operation. exp(−x) is exp2(−x·log2 e), whose argument is rounded twice: relative error |x|·EPS32 of exp, of
    # which the share 1 − σ(x) reaches the answer; allowed twice.
    relative = EPS32 * (8 + 2 * x.abs() * torch.sigmoid(-x))
    # x/2·(1 + tanh(x/2)) is right as well, but loses EPS32 of the 1; tanh is ±1 beyond |x| = 20.
    absolute = EPS32 * x.abs().clamp(max=20)
    # exp(−x) above 2^126 may be divided to zero, and results below the smallest normal number flushed to zero.
    underflow = SMALLEST_NORMAL32 * (1 + 2 * x.abs())
    allowed: Tensor = relative * size + absolute + underflow
    return allowed


def work(sizes: Mapping[str, int]) -> Work:
    """x is read and out written, 4 bytes an element."""
    return Work(bytes=8 * sizes["M"] * sizes["N"])


def rows(inputs: Inputs, index: slice | Tensor) -> Inputs:
    return {"x": inputs["x"][index]}


def _gelu(x: Tensor) -> Tensor:
    x = x.double()
    return 0.5 * x * (1 + torch.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))


MISTAKES = (
    Mistake(
        name="sigmoid",
        hint="This is σ(x) alone: SiLU multiplies it by x.",
        answer=lambda x: torch.sigmoid(x.double()),
    ),
    Mistake(
        name="wrong sign in the exponent",
        hint="This is x · σ(−x): look at the sign in exp(−x).",
        answer=lambda x: x.double() * torch.sigmoid(-x.double()),
    ),
    Mistake(
        name="inverse factor",
        hint="This is x · (1 + exp(−x)): the factor belongs in the denominator.",
        answer=lambda x: x.double() * (1 + torch.exp(-x.double())),
    ),
    Mistake(
        name="relu",
        hint="This is max(x, 0), the ReLU: SiLU is smooth, and a little below zero for negative x.",
        answer=lambda x: x.double().clamp(min=0),
    ),
    Mistake(
        name="gelu",
        hint="This is the GELU in its tanh form: SiLU is x / (1 + exp(−x)).",
        answer=_gelu,
    ),
)

PARAMETERS = (Input(name="x", shape=("M", "N")), Output(name="out", shape=("M", "N")))
ASSIGNMENT = Assignment(
    name="silu",
    title="SiLU",
    formula="out = x · σ(x) = x / (1 + exp(−x))",
    order=1,
    parameters=PARAMETERS,
    cases=CASES,
    baseline=Baseline(name="torch.ops.aten.silu.out", compiled="torch.compile of silu"),
    distributions=distributions,
    make_inputs=maker(PARAMETERS, distributions),
    tolerance=tolerance,
    mistakes=MISTAKES,
    rows=rows,
    timed=TIMED,
    work=work,
)
