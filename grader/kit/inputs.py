"""Distributions of inputs, as data: `maker` draws tensors from them anywhere, `grader.kit.fused` many at once on a GPU.

A tensor of one dimension counts as a single row. All tensors of a call are drawn together, since some share secrets.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor

from grader.model.cases import Case, shape_of
from grader.model.parameters import Inputs, Parameter, Scalar, given


@dataclass(frozen=True)
class Outliers:
    """Outliers: one of every `every` neighbouring elements (a power of two, at most 256), at a secret place.

    It is multiplied by `times`; or, with `exponents`, replaced by ±m·2^e with e a whole number from the first to the
    last exponent and m evenly distributed from 1 to 2.
    """

    every: int
    times: float = 1.0
    exponents: tuple[int, int] | None = None


@dataclass(frozen=True)
class Loud:
    """Loud positions: about half of the positions along an axis are `times` as large as the quiet others. All loud
    tensors of a call share them. They come in pairs, one in the first and one in the second half, whose products cancel
    between a tensor of `sign` 1 and one of `sign` −1, except for a `times`-th of a quiet element in each.

    So a sum of products along the axis is a small difference of large sums, as large as the sum of the quiet positions:
    a single rounding on the way shows, and no position can be left out.
    """

    axis: Literal[0, 1]
    sign: Literal[1, -1]
    times: float = 16.0


@dataclass(frozen=True)
class Spread:
    """Random numbers around zero, times a scale, plus an offset.

    The scale lies between two numbers; its logarithm is evenly distributed, or with `even` the scale itself. The offset
    lies within ±`offset`, measured in scales, or with `absolute` as it is. Each index along `axis` (0: each row) has
    its own scale and offset; with None all elements share them.
    """

    scale: tuple[float, float] = (1.0, 1.0)
    offset: float = 0.0
    axis: Literal[0, 1] | None = 0
    even: bool = False
    absolute: bool = False
    outliers: Outliers | None = None
    loud: Loud | None = None


@dataclass(frozen=True)
class Bits:
    """All patterns of 32 bits that are finite numbers. In the cases of an assignment one element in `EVERY_EDGE` is a
    number at an edge (`EDGES`), which chance would not draw: 0 + −0 is 0, so a sum loses the sign of −0."""


EDGES = (0, 1, 0x007FFFFF, 0x00800000, 0x7F7FFFFF)
"""0, the smallest and largest subnormal number, the smallest normal one, the largest, in 31 bits beside the sign."""
EVERY_EDGE = 8


@dataclass(frozen=True)
class Bytes:
    """Whole numbers from 0 to 255 in `levels` even steps: all 256 numbers, or with 2 levels just 0 and 255."""

    levels: Literal[2, 4, 6, 16, 18, 52, 86, 256] = 256

    @property
    def step(self) -> int:
        return 255 // (self.levels - 1)


@dataclass(frozen=True)
class Number:
    """A scalar between two numbers, whose logarithm is evenly distributed."""

    low: float
    high: float

    @property
    def middle(self) -> float:
        return math.sqrt(self.low * self.high)


Distribution = Spread | Bits | Bytes | Number
Distributions = Callable[[Case], Mapping[str, Distribution]]


@dataclass(frozen=True)
class Tables:
    """The tables that a Spread draws for some slots, besides the elements' own numbers.

    `scale` and `offset`: float32 of shape (slots, indices along the axis, or 1). `partner`: int32 of shape (slots,
    positions along the loud axis), −1 for a quiet position, the early position of its pair for a loud one.
    """

    scale: Tensor
    offset: Tensor
    partner: Tensor | None = None


def maker(
    parameters: Sequence[Parameter], distributions: Distributions
) -> Callable[[Case, torch.Generator], Inputs]:
    """An assignment's `make_inputs`: draws all parameters of a case from a generator, on its device."""

    def make_inputs(case: Case, generator: torch.Generator) -> Inputs:
        named = distributions(case)
        shapes = {parameter.name: shape_of(parameter, case) for parameter in given(parameters)
                  if not isinstance(parameter, Scalar)}
        partners = partner_tables(named, shapes, 1, generator)
        inputs: dict[str, Tensor | float] = {}
        for parameter in given(parameters):
            distribution = named[parameter.name]
            if isinstance(parameter, Scalar):
                assert isinstance(distribution, Number)
                share = torch.rand(1, generator=generator, device=generator.device).item()
                inputs[parameter.name] = distribution.low * (distribution.high / distribution.low) ** share
            else:
                dtype = getattr(torch, parameter.dtype)
                inputs[parameter.name] = _draw(
                    distribution, shape_of(parameter, case), dtype, partners.get(parameter.name), generator)
        return inputs

    return make_inputs


def tables(
    spread: Spread, shape: Sequence[int], slots: int, partner: Tensor | None, generator: torch.Generator
) -> Tables:
    """Draws the scales and offsets of a tensor for so many slots."""
    rows, columns = as_matrix(shape)
    size = 1 if spread.axis is None else (rows, columns)[spread.axis]
    low, high = spread.scale
    shares = torch.rand(2, slots, size, generator=generator, device=generator.device)
    scale = low + (high - low) * shares[0] if spread.even else low * (high / low) ** shares[0]
    offset = spread.offset * (2 * shares[1] - 1)
    return Tables(scale, offset if spread.absolute else offset * scale, partner)


def partner_tables(
    distributions: Mapping[str, Distribution], shapes: Mapping[str, Sequence[int]], slots: int,
    generator: torch.Generator,
) -> dict[str, Tensor]:
    """`Tables.partner` for each tensor with loud positions, which all share it."""
    partners: dict[str, Tensor] = {}
    shared: Tensor | None = None
    for name, distribution in distributions.items():
        if isinstance(distribution, Spread) and distribution.loud is not None:
            size = as_matrix(shapes[name])[distribution.loud.axis]
            shared = _pairs(size, slots, generator) if shared is None else shared
            assert shared.shape[1] == size, "loud axes of one call have one size"
            partners[name] = shared
    return partners


def as_matrix(shape: Sequence[int]) -> tuple[int, int]:
    *rows, columns = shape
    return math.prod(rows), columns


def _pairs(size: int, slots: int, generator: torch.Generator) -> Tensor:
    half, pairs = size // 2, size // 4
    order = torch.rand(2, slots, half, generator=generator, device=generator.device).argsort(dim=2)[:, :, :pairs]
    early, late = order[0], order[1] + size - half
    partner = torch.full((slots, size), -1, dtype=torch.int64, device=generator.device)
    return partner.scatter_(1, early, early).scatter_(1, late, early).to(torch.int32)


def _draw(
    distribution: Distribution, shape: Sequence[int], dtype: torch.dtype, partner: Tensor | None,
    generator: torch.Generator,
) -> Tensor:
    rows, columns = as_matrix(shape)
    device = generator.device
    if isinstance(distribution, Bits):
        bits = torch.randint(-(2**31), 2**31, tuple(shape), generator=generator, device=device).to(torch.int32)
        # Clearing a bit of an exponent of all ones leaves a finite number.
        bits = torch.where((bits & 0x7F800000) == 0x7F800000, bits & ~0x00800000, bits)
        edges = torch.tensor(EDGES, dtype=torch.int64, device=device).to(torch.int32)
        chosen = torch.randint(EVERY_EDGE * len(EDGES), tuple(shape), generator=generator, device=device)
        edge = edges[chosen.clamp_max(len(EDGES) - 1)] | (bits & -(2**31))
        return torch.where(chosen < len(EDGES), edge, bits).view(torch.float32)
    if isinstance(distribution, Bytes):
        numbers = torch.randint(
            distribution.levels, tuple(shape), generator=generator, device=device, dtype=torch.uint8)
        return numbers.mul_(distribution.step)
    assert isinstance(distribution, Spread)
    drawn = tables(distribution, shape, 1, partner, generator)
    along = (1, -1) if distribution.axis == 1 else (-1, 1)
    x = torch.randn(rows, columns, generator=generator, device=device)
    x = torch.addcmul(drawn.offset.view(along), drawn.scale.view(along), x)
    if distribution.outliers is not None:
        _put_outliers(distribution.outliers, x.view(-1), generator)
    x = x.to(dtype)
    if distribution.loud is not None:
        assert partner is not None
        _make_loud(distribution.loud, x if distribution.loud.axis == 0 else x.t(), partner[0].long())
    return x.view(*shape)


def _put_outliers(outliers: Outliers, x: Tensor, generator: torch.Generator) -> None:
    # One place in each group, so that no place comes twice: the number of threads would decide which value stays. A
    # permutation of all places would cost more than everything else.
    count, device = x.numel() // outliers.every, generator.device
    places = torch.arange(count, device=device) * outliers.every
    places += torch.randint(outliers.every, (count,), generator=generator, device=device)
    if outliers.exponents is None:
        x[places] *= outliers.times
        return
    low, high = outliers.exponents
    exponents = torch.randint(low, high + 1, (count,), generator=generator, device=device)
    signs = 2.0 * torch.randint(2, (count,), generator=generator, device=device) - 1
    x[places] = torch.ldexp(signs * (1 + torch.rand(count, generator=generator, device=device)), exponents)


def _make_loud(loud: Loud, x: Tensor, partner: Tensor) -> None:
    """`x` has the loud axis first, and is changed in place."""
    positions = torch.arange(len(partner), device=partner.device)
    (early,) = torch.where(partner == positions)
    (late,) = torch.where((partner >= 0) & (partner != positions))
    x[early] *= loud.times
    x[late] = x[late] / loud.times + loud.sign * x[partner[late]]
