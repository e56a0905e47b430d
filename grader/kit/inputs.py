"""Distributions of inputs, as data: `maker` draws tensors from them anywhere, `grader.kit.fused` many at once on a GPU.

Distributions of whole numbers, bools and given values are in `grader.kit.whole`. A tensor of one dimension counts as a
single row. All tensors of a call are drawn together, since some share secrets.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor

from grader.course.cases import Case, dtype_of, shape_of
from grader.course.parameters import Inputs, Parameter, Scalar, Value, given
from grader.errors import UserError
from grader.kit.whole import Sizes, Values


@dataclass(frozen=True)
class Outliers:
    """Outliers: one of every `every` neighbouring elements (a power of two, at most 256), at a secret place.

    The element is multiplied by `times`; or, with `exponents`, replaced by ±m·2^e, where e is a whole number from the
    first to the last exponent, and m is uniformly distributed from 1 to 2.
    """

    every: int
    times: float = 1.0
    exponents: tuple[int, int] | None = None


@dataclass(frozen=True)
class Loud:
    """Loud positions: about half of the positions along an axis, which are `times` as large as the quiet others. All
    loud tensors of a call share them. They come in pairs, one in the first half and one in the second. In products of a
    tensor of `sign` 1 and a tensor of `sign` −1 the two of a pair cancel, except for a `times`-th of a quiet element in
    each.

    So a sum of products along the axis is a small difference of large sums, about as large as the sum of the quiet
    positions. A single rounding on the way shows in it, and no position can be left out.
    """

    axis: Literal[0, 1]
    sign: Literal[1, -1]
    times: float = 16.0


@dataclass(frozen=True)
class Peaks:
    """Peaks: one of every `every` rows, at a secret place, has a peak, a few neighbouring elements behind the first
    element that are the row's largest. All other elements of the row are lowered by a number from the first to the last
    of `lower`.

    The first such row, and every other one after it, has its peak in its last quarter: behind the blocks that a kernel
    begins with. So exp overflows unless a kernel subtracts the maximum of the whole row. Tensors of timed calls have no
    peaks.
    """

    every: int = 2
    lower: tuple[float, float] = (110.0, 150.0)


@dataclass(frozen=True)
class Spread:
    """Random numbers around zero, times a scale, plus an offset.

    The scale lies between two numbers; its logarithm is uniformly distributed, or with `even` the scale itself. The
    offset lies within ±`offset`, in units of the scale, or with `absolute` as it is. Each index along `axis` (0: each
    row) has its own scale and offset; with None all elements share them. With `distinct` no number comes twice in a
    row, along the last axis, so a function whose result depends on the order of equal numbers has one right answer.
    """

    scale: tuple[float, float] = (1.0, 1.0)
    offset: float = 0.0
    axis: Literal[0, 1] | None = 0
    even: bool = False
    absolute: bool = False
    outliers: Outliers | None = None
    loud: Loud | None = None
    distinct: bool = False
    peaks: Peaks | None = None


@dataclass(frozen=True)
class Bits:
    """All patterns of bits that are finite numbers of a float dtype. In the cases of an assignment, one element in
    `EVERY_EDGE` is a number at an edge (`edges`), which chance would rarely draw. One is −0, whose sign a kernel loses
    if it adds 0."""


EVERY_EDGE = 8
PEAK = 8
"""Number of elements of a peak in a long row. In a short row, a peak has one of PEAK elements of the row."""
MIXINGS = 3


def edges(dtype: torch.dtype) -> tuple[int, int, int, int, int]:
    """Return five patterns of bits of a float dtype, without the sign: 0, the smallest and the largest subnormal
    number, the smallest normal and the largest number."""
    info, integer = torch.finfo(dtype), _INTEGERS[dtype.itemsize]
    normal, largest = (int(torch.tensor(x, dtype=dtype).view(integer)) for x in (info.smallest_normal, info.max))
    return 0, 1, normal - 1, normal, largest


_INTEGERS = {1: torch.int8, 2: torch.int16, 4: torch.int32, 8: torch.int64}
_NUMBERS = {"float": torch.float64, "int": torch.int64, "bool": torch.bool}


@dataclass(frozen=True)
class Bytes:
    """Whole numbers from 0 to 255 in `levels` even steps: all 256 numbers, or with 2 levels just 0 and 255."""

    levels: Literal[2, 4, 6, 16, 18, 52, 86, 256] = 256

    @property
    def step(self) -> int:
        return 255 // (self.levels - 1)


@dataclass(frozen=True)
class Number:
    """A scalar between two numbers, whose logarithm is uniformly distributed."""

    low: float
    high: float

    @property
    def middle(self) -> float:
        return math.sqrt(self.low * self.high)


Distribution = Spread | Bits | Bytes | Number | Values
Distributions = Callable[[Case], Mapping[str, Distribution]]


@dataclass(frozen=True)
class Tables:
    """The tables that a Spread draws for some slots, beside each element's own number.

    `scale` and `offset`: float32 of shape (slots, indices along the axis, or 1). `partner`: int32 of shape (slots,
    positions along the loud axis), −1 for a quiet position; for a loud one, the earlier position of its pair.
    """

    scale: Tensor
    offset: Tensor
    partner: Tensor | None = None


def maker(
    parameters: Sequence[Parameter], distributions: Distributions
) -> Callable[[Case, torch.Generator], Inputs]:
    """Return an assignment's `make_inputs`, which draws all parameters of a case from a generator, on its device."""

    def make_inputs(case: Case, generator: torch.Generator) -> Inputs:
        return _draw_all(parameters, distributions(case), case, generator)

    return make_inputs


def numbers(
    parameters: Sequence[Parameter], distributions: Distributions, case: Case, generator: torch.Generator
) -> dict[str, Value]:
    """Return the scalars that `maker` draws, from tensors of one element, for callers that need no tensors."""
    named = distributions(case)
    small = [p if isinstance(p, Scalar) else p.model_copy(update={"shape": (1,) * len(p.shape)})
             for p in given(parameters) if isinstance(p, Scalar) or not isinstance(named.get(p.name), Values)]
    drawn = _draw_all(small, named, case, generator)
    return {p.name: drawn[p.name] for p in small if isinstance(p, Scalar)}


def _draw_all(
    parameters: Sequence[Parameter], named: Mapping[str, Distribution], case: Case, generator: torch.Generator
) -> Inputs:
    """Draw all inputs of a case. Raises UserError."""
    if missing := [p.name for p in given(parameters) if p.name not in named]:
        raise UserError(f"{case.name}: distributions: {missing[0]} is missing; return one for each input")
    shapes = {p.name: shape_of(p, case) for p in given(parameters) if not isinstance(p, Scalar)}
    partners = partner_tables(named, shapes, 1, generator)
    inputs: dict[str, Tensor | Value] = {}
    for parameter in given(parameters):
        distribution = named[parameter.name]
        try:
            if isinstance(parameter, Scalar):
                inputs[parameter.name] = _number(distribution, parameter, case.sizes, generator)
            else:
                dtype = getattr(torch, dtype_of(parameter, case))
                inputs[parameter.name] = draw(
                    distribution, shapes[parameter.name], dtype, case.sizes, partners.get(parameter.name), generator)
        except ValueError as error:
            raise UserError(f"{case.name}: distributions: {parameter.name}: {error}") from None
    return inputs


def middle(distribution: Distribution, sizes: Sizes) -> Value:
    """Return a typical number, for a scalar that must not change."""
    assert isinstance(distribution, Number | Values), "a number is no tensor"
    return distribution.middle if isinstance(distribution, Number) else distribution.middle(sizes)


def _number(distribution: Distribution, scalar: Scalar, sizes: Sizes, generator: torch.Generator) -> Value:
    if isinstance(distribution, Number) and scalar.type == "float":
        share = torch.rand(1, generator=generator, device=generator.device).item()
        return float(distribution.low * (distribution.high / distribution.low) ** share)
    if not isinstance(distribution, Values):
        raise ValueError(f"{type(distribution).__name__} draws no {scalar.type}; take Number for a float, Whole for an "
                         "int, Bools for a bool, or OneOf, Fixed")
    value: Value = distribution.draw((), _NUMBERS[scalar.type], sizes, generator).item()
    return value


def tables(
    spread: Spread, shape: Sequence[int], slots: int, partner: Tensor | None, generator: torch.Generator
) -> Tables:
    """Draw the scales and offsets of a tensor for a number of slots."""
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
    """Return `Tables.partner` for each tensor with loud positions; all of them share it."""
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
    *rows, columns = shape or (1,)
    return math.prod(rows), columns


def _pairs(size: int, slots: int, generator: torch.Generator) -> Tensor:
    half, pairs = size // 2, size // 4
    order = torch.rand(2, slots, half, generator=generator, device=generator.device).argsort(dim=2)[:, :, :pairs]
    early, late = order[0], order[1] + size - half
    partner = torch.full((slots, size), -1, dtype=torch.int64, device=generator.device)
    return partner.scatter_(1, early, early).scatter_(1, late, early).to(torch.int32)


def draw(
    distribution: Distribution, shape: Sequence[int], dtype: torch.dtype, sizes: Sizes, partner: Tensor | None,
    generator: torch.Generator,
) -> Tensor:
    """Draw a contiguous tensor on the generator's device. Raises ValueError for a distribution that cannot fill the
    tensor."""
    device = generator.device
    if isinstance(distribution, Values):
        return distribution.draw(shape, dtype, sizes, generator)
    takes = dtype == torch.uint8 if isinstance(distribution, Bytes) else dtype.is_floating_point
    if isinstance(distribution, Number) or not takes:
        name = str(dtype).removeprefix("torch.")
        raise ValueError(f"{type(distribution).__name__} draws no tensor of {name}; take Spread or Bits for floats, "
                         "Bytes for uint8, or Whole, Indices, Distinct, Offsets, Bools, OneOf, Fixed")
    if isinstance(distribution, Bits):
        return _bits(shape, dtype, generator)
    if isinstance(distribution, Bytes):
        numbers = torch.randint(
            distribution.levels, tuple(shape), generator=generator, device=device, dtype=torch.uint8)
        return numbers.mul_(distribution.step)
    return _spread(distribution, shape, dtype, partner, generator)


def _spread(
    distribution: Spread, shape: Sequence[int], dtype: torch.dtype, partner: Tensor | None, generator: torch.Generator
) -> Tensor:
    rows, columns = as_matrix(shape)
    drawn = tables(distribution, shape, 1, partner, generator)
    along = (1, -1) if distribution.axis == 1 else (-1, 1)
    wide = torch.float64 if dtype == torch.float64 else torch.float32
    x = torch.randn(rows, columns, generator=generator, device=generator.device, dtype=wide)
    x = torch.addcmul(drawn.offset.view(along).to(wide), drawn.scale.view(along).to(wide), x)
    if distribution.outliers is not None:
        _put_outliers(distribution.outliers, x.view(-1), generator)
    if distribution.peaks is not None:
        _put_peaks(distribution.peaks, x, generator)
    # Numbers too large for an 8-bit float become its largest number.
    most = torch.finfo(dtype).max
    x = x.clamp(-most, most).to(dtype) if dtype.itemsize == 1 else x.to(dtype)
    if distribution.loud is not None:
        assert partner is not None
        _make_loud(distribution.loud, x, partner[0].long())
    if distribution.distinct:
        _make_distinct(x, generator)
    return x.view(*shape)


def _bits(shape: Sequence[int], dtype: torch.dtype, generator: torch.Generator) -> Tensor:
    device, integer = generator.device, _INTEGERS[dtype.itemsize]
    sign = 1 << 8 * dtype.itemsize - 1
    # The upper end, 2**63, would not fit into int64.
    drawn = torch.randint(-sign, min(sign, 2**63 - 1), tuple(shape), generator=generator, device=device).to(integer)
    at_edges = edges(dtype)
    # Clearing one bit of an exponent that is all ones leaves a finite number.
    drawn = torch.where((drawn & sign - 1) > at_edges[-1], drawn & ~at_edges[-2], drawn)
    patterns = torch.tensor(at_edges, dtype=torch.int64, device=device).to(integer)
    chosen = torch.randint(EVERY_EDGE * len(at_edges), tuple(shape), generator=generator, device=device)
    edge = patterns[chosen.clamp_max(len(at_edges) - 1)] | (drawn & -sign)
    return torch.where(chosen < len(at_edges), edge, drawn).view(dtype)


def _make_distinct(x: Tensor, generator: torch.Generator) -> None:
    """Give each element of a row different lowest bits, in place. Raises ValueError if the dtype has too few of
    them."""
    (rows, columns), info, device = x.shape, torch.finfo(x.dtype), x.device
    size = (columns - 1).bit_length()
    if 2 ** -size < info.eps:
        raise ValueError(f"{columns:,} numbers of {info.dtype} in a row cannot be made distinct; take a wider dtype")
    mask = (1 << size) - 1
    # The lowest bits are column numbers, mixed by secret numbers of the row, so that no kernel can derive a column from
    # an element. Each step can be undone, so all numbers stay distinct. None sorts: that would cost more than the rest.
    own = torch.arange(columns, device=device).expand(rows, -1)
    for factor, term in torch.randint(mask + 1, (MIXINGS, 2, rows, 1), generator=generator, device=device).unbind(0):
        own = own.mul(factor | 1).add_(term).bitwise_and_(mask)
        own ^= own >> (size + 1) // 2
    bits = x.view(_INTEGERS[x.itemsize])
    bits.bitwise_and_(~mask).bitwise_or_(own.to(bits.dtype))


def _put_outliers(outliers: Outliers, x: Tensor, generator: torch.Generator) -> None:
    # One place in each group, so that no place comes twice: if one did, the number of threads would decide which value
    # stays. A permutation of all places would cost more than all the rest.
    count, device = x.numel() // outliers.every, generator.device
    places = torch.arange(count, device=device) * outliers.every
    places += torch.randint(outliers.every, (count,), generator=generator, device=device)
    if outliers.exponents is None:
        x[places] *= outliers.times
        return
    low, high = outliers.exponents
    exponents = torch.randint(low, high + 1, (count,), generator=generator, device=device)
    signs = 2.0 * torch.randint(2, (count,), generator=generator, device=device) - 1
    x[places] = torch.ldexp(signs * (1 + torch.rand(count, generator=generator, device=device)), exponents).to(x.dtype)


def _put_peaks(peaks: Peaks, x: Tensor, generator: torch.Generator) -> None:
    (rows, columns), device = x.shape, x.device
    count, width = rows // peaks.every, min(PEAK, max(1, columns // PEAK))
    if not count or columns < 2:
        return
    shares = torch.rand(3, count, 1, generator=generator, device=device)
    row = torch.arange(count, device=device)[:, None] * peaks.every
    row += torch.randint(peaks.every, (count, 1), generator=generator, device=device)
    first = 1 + (shares[0] * (columns - width)).long()
    first[::2] = columns - width - (shares[1, ::2] * max(1, columns // 4 - width)).long()
    at = first.clamp(1, columns - width) + torch.arange(width, device=device)
    top = x[row[:, 0]].amax(dim=1, keepdim=True)
    low, high = peaks.lower
    x[row[:, 0]] -= low + (high - low) * shares[2]
    x[row, at] = top + torch.rand(count, width, generator=generator, device=device)


def _make_loud(loud: Loud, x: Tensor, partner: Tensor) -> None:
    """Make the paired positions of `x` loud, in place."""
    positions = torch.arange(len(partner), device=partner.device)
    (early,) = torch.where(partner == positions)
    (late,) = torch.where((partner >= 0) & (partner != positions))
    axis = loud.axis
    # Quicker than x[:, early], which goes through columns one by one.
    x.index_copy_(axis, early, x.index_select(axis, early) * loud.times)
    x.index_copy_(axis, late, x.index_select(axis, late) / loud.times + loud.sign * x.index_select(axis, partner[late]))
