"""RMSNorm of one vector: a sum over everything, then a pass that needs it."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from grader.assignment import Assignment, Baseline, Case, Input, Inputs, Mistake, Output, Scalar

EPS32 = 2.0**-23
SMALLEST_NORMAL32 = 2.0**-126

CASES = (
    Case(name="1", sizes={"N": 1}),
    Case(name="7-tiny", sizes={"N": 7}, values="tiny"),
    Case(name="31", sizes={"N": 31}),
    Case(name="1009-tiny", sizes={"N": 1009}, values="tiny"),
    Case(name="1024", sizes={"N": 1024}),
    Case(name="4099", sizes={"N": 4099}),
    Case(name="16411-extreme", sizes={"N": 16411}, values="extreme"),
    Case(name="131101", sizes={"N": 131101}),
    Case(name="1048576-tiny", sizes={"N": 2**20}, values="tiny", needs="gpu"),
    Case(name="7999993-extreme", sizes={"N": 7999993}, values="extreme", needs="gpu"),
    Case(name="16777219", sizes={"N": 2**24 + 3}, needs="gpu"),
)

SCALES = {"mixed": (0.05, 10.0), "extreme": (1.0, 100.0), "tiny": (1e-4, 3e-3)}
"""Standard deviation of x, lowest and highest: eps, 1e-6 to 1e-4, outweighs the mean square of "tiny" ones."""


def make_inputs(case: Case, generator: torch.Generator) -> Inputs:
    """x (N,) of a random scale, with an offset of up to two scales and one outlier of 30 scales in every 256 elements;
    weight (N,) of both signs; eps between 1e-6 and 1e-4, evenly in its logarithm."""
    n = case.sizes["N"]
    low, high = SCALES[case.values]
    scale = low * (high / low) ** torch.rand(1, generator=generator)
    offset = 4 * torch.rand(1, generator=generator) - 2
    x = scale * (torch.randn(n, generator=generator) + offset)
    places = torch.randint(n, (n // 256,), generator=generator)
    x[places] = 30 * scale * torch.randn(n // 256, generator=generator)
    weight = torch.randn(n, generator=generator)
    return {"x": x, "weight": weight, "eps": 10 ** (-6 + 2 * torch.rand(1, generator=generator).item())}


def tolerance(inputs: Inputs, expected: Tensor) -> Tensor:
    """The absolute error allowed for each element."""
    # Squares, mean, eps, reciprocal root and the two products err by about 8 units of EPS32 together, 2 of them for a
    # GPU's rsqrt. N squares added one after another, the worst of sensible orders, err by EPS32/2 of the sum each, at
    # random: √N/2 units together, which the root halves. Sums by blocks stay far below.
    growth = 8 + math.sqrt(expected.numel()) / 4
    return EPS32 * growth * expected.abs() + SMALLEST_NORMAL32


def baseline(x: Tensor, weight: Tensor, eps: float, out: Tensor) -> None:
    # F.rms_norm gives one row to one block of threads: on a GPU a single long row leaves the rest of the machine idle,
    # and a ratio against it says nothing. These lines spread over all of it.
    torch.mul(x, torch.rsqrt(x.square().mean() + eps), out=out)
    out.mul_(weight)


def _answer(x: Tensor, weight: Tensor, divisor: Tensor) -> Tensor:
    return x.double() * weight.double() / divisor


def _mean_square(x: Tensor) -> Tensor:
    return x.double().square().mean()


def _padded(x: Tensor, weight: Tensor, eps: float) -> Tensor | None:
    n = x.numel()
    padded = 1 << (n - 1).bit_length()
    return None if padded == n else _answer(x, weight, torch.sqrt(x.double().square().sum() / padded + eps))


def _layer_norm(x: Tensor, weight: Tensor, eps: float) -> Tensor:
    centred = x.double() - x.double().mean()
    return _answer(centred, weight, torch.sqrt(_mean_square(centred) + eps))


def _own_block_only(block: int) -> Mistake:
    def answer(x: Tensor, weight: Tensor, eps: float) -> Tensor | None:
        n = x.numel()
        if n <= block:
            return None
        sums = torch.nn.functional.pad(x.double().square(), (0, -n % block)).view(-1, block).sum(dim=1)
        return _answer(x, weight, torch.sqrt(sums.repeat_interleave(block)[:n] / n + eps))

    return Mistake(
        name=f"own block of {block} only",
        hint=f"Each block of {block} was divided by the sum of its own squares: the sum goes over all blocks.",
        answer=answer,
    )


MISTAKES = (
    Mistake(
        name="no eps",
        hint="eps is missing: it is added to the mean of the squares, and matters when x is small.",
        answer=lambda x, weight, eps: _answer(x, weight, torch.sqrt(_mean_square(x))),
    ),
    Mistake(
        name="eps outside the root",
        hint="eps was added to the root: it belongs inside, √(mean + eps).",
        answer=lambda x, weight, eps: _answer(x, weight, torch.sqrt(_mean_square(x)) + eps),
    ),
    Mistake(
        name="no weight",
        hint="The weight is missing: multiply each element by its own.",
        answer=lambda x, weight, eps: x.double() / torch.sqrt(_mean_square(x) + eps),
    ),
    Mistake(
        name="sum for mean",
        hint="The sum of the squares was used: divide it by N.",
        answer=lambda x, weight, eps: (
            _answer(x, weight, torch.sqrt(x.double().square().sum() + eps)) if x.numel() > 1 else None
        ),
    ),
    Mistake(
        name="mean over the padded block",
        hint="The sum was divided by the block size, a power of two: divide by N.",
        answer=_padded,
    ),
    Mistake(
        name="no root",
        hint="The square root is missing: divide by √(mean + eps).",
        answer=lambda x, weight, eps: _answer(x, weight, _mean_square(x) + eps),
    ),
    Mistake(
        name="layer norm",
        hint="The mean of x was subtracted, as in LayerNorm: RMSNorm does not centre.",
        answer=_layer_norm,
    ),
    *(_own_block_only(block) for block in (256, 512, 1024, 2048, 4096, 8192)),
)

ASSIGNMENT = Assignment(
    name="rmsnorm_vector",
    title="RMSNorm of a vector",
    formula="out = x · weight / √(mean(x²) + eps)",
    order=2,
    parameters=(
        Input(name="x", shape=("N",)),
        Input(name="weight", shape=("N",)),
        Scalar(name="eps"),
        Output(name="out", shape=("N",)),
    ),
    cases=CASES,
    baseline=Baseline(name="x · rsqrt(mean(x²) + eps) · weight, eager", run=baseline),
    make_inputs=make_inputs,
    tolerance=tolerance,
    mistakes=MISTAKES,
)
