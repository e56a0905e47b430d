"""Distributions of whole numbers, of bools, and of given values, as data.

Each distribution draws a tensor with `draw(shape, dtype, sizes, generator)`, on the generator's device; `sizes` are the
sizes of the case. `middle(sizes)` is a typical number, for a value that must not change. Both raise ValueError, one
line, for bounds that leave nothing to draw.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from grader.course.parameters import Value, value_of

Bound = int | str
"""A whole number, a size of the case ("V"), or an expression of sizes ("V - 1")."""
Sizes = Mapping[str, int]


class Values(ABC):
    """Values other than float32 numbers around zero."""

    @abstractmethod
    def draw(self, shape: Sequence[int], dtype: torch.dtype, sizes: Sizes, generator: torch.Generator) -> Tensor: ...

    @abstractmethod
    def middle(self, sizes: Sizes) -> Value: ...


@dataclass(frozen=True)
class Whole(Values):
    """Whole numbers from `low` to `high`, all equally likely. A tensor of at least two elements has both bounds among
    them: `Whole(-128, 127)` is any int8."""

    low: Bound
    high: Bound

    def draw(self, shape: Sequence[int], dtype: torch.dtype, sizes: Sizes, generator: torch.Generator) -> Tensor:
        low, high = self._bounds(sizes)
        x = _uniform(low, high, shape, dtype, generator)
        return _with_ends(x, low, high, generator)

    def middle(self, sizes: Sizes) -> int:
        return sum(self._bounds(sizes)) // 2

    def _bounds(self, sizes: Sizes) -> tuple[int, int]:
        return value_of(self.low, sizes), value_of(self.high, sizes)


@dataclass(frozen=True)
class Indices(Values):
    """Whole numbers from 0 to `high` − 1, such as labels of `high` classes or row numbers of a table. About a share
    `repeats` of them are 0, `high` − 1, or a third, secret number, so that these indices come often. Both ends always
    come, if there are two elements."""

    high: Bound
    repeats: float = 0.25

    def draw(self, shape: Sequence[int], dtype: torch.dtype, sizes: Sizes, generator: torch.Generator) -> Tensor:
        last, device = value_of(self.high, sizes) - 1, generator.device
        x = _uniform(0, last, shape, dtype, generator)
        often = torch.stack([*torch.tensor([0, last], device=device), _uniform(0, last, (), torch.int64, generator)])
        which = torch.randint(3, tuple(shape), generator=generator, device=device)
        x = torch.where(_shared(self.repeats, shape, generator), often[which].to(dtype), x)
        return _with_ends(x, 0, last, generator)

    def middle(self, sizes: Sizes) -> int:
        return value_of(self.high, sizes) // 2


@dataclass(frozen=True)
class Distinct(Values):
    """Whole numbers from 0 to `high` − 1, none of them twice: a permutation, if there are `high` elements; if there are
    fewer, for example numbers of pages in a cache. With `each_row`, a number comes twice only in different rows, along
    the last axis."""

    high: Bound
    each_row: bool = False

    def draw(self, shape: Sequence[int], dtype: torch.dtype, sizes: Sizes, generator: torch.Generator) -> Tensor:
        high, count = value_of(self.high, sizes), shape[-1] if self.each_row else _count(shape)
        if count > high:
            raise ValueError(f"{count:,} numbers of {high:,} cannot be distinct; raise high")
        _hold(dtype, 0, high - 1)
        if self.each_row:
            keys = torch.rand(_count(shape[:-1]), high, generator=generator, device=generator.device)
            x = keys.argsort(dim=1)[:, :count]
        else:
            x = torch.randperm(high, generator=generator, device=generator.device)[:count]
        return x.to(dtype).reshape(tuple(shape))

    def middle(self, sizes: Sizes) -> int:
        return value_of(self.high, sizes) // 2


@dataclass(frozen=True)
class Offsets(Values):
    """Offsets at which ragged rows begin, along the last axis, with N + 1 elements for N rows: whole numbers from 0 to
    `total` that never decrease. About a quarter of the rows are empty, and one row holds about half of all elements."""

    total: Bound

    def draw(self, shape: Sequence[int], dtype: torch.dtype, sizes: Sizes, generator: torch.Generator) -> Tensor:
        total, rows, device = value_of(self.total, sizes), shape[-1] - 1, generator.device
        _hold(dtype, 0, total)
        if rows < 1:
            raise ValueError(f"offsets of shape {tuple(shape)} have no row; N + 1 elements are offsets of N rows")
        which = (_count(shape[:-1]), rows)
        # Whole numbers, whose sums are always the same: a GPU adds floats in any order.
        weights = torch.randint(1 << 20, which, generator=generator, device=device)
        weights = weights.masked_fill(_shared(0.25, which, generator), 0)
        long = torch.randint(rows, (which[0], 1), generator=generator, device=device)
        weights.scatter_(1, long, weights.sum(dim=1, keepdim=True) + 1)
        ends = weights.cumsum(dim=1)
        ends = (ends.double() / ends[:, -1:] * total).round().to(torch.int64)
        return torch.nn.functional.pad(ends, (1, 0)).to(dtype).reshape(tuple(shape))

    def middle(self, sizes: Sizes) -> int:
        return value_of(self.total, sizes) // 2


@dataclass(frozen=True)
class Bools(Values):
    """True for about a share of the elements, at secret places; in a dtype of whole numbers, 1."""

    share: float = 0.5

    def draw(self, shape: Sequence[int], dtype: torch.dtype, sizes: Sizes, generator: torch.Generator) -> Tensor:
        return _shared(self.share, shape, generator).to(dtype)

    def middle(self, sizes: Sizes) -> bool:
        return self.share >= 0.5


@dataclass(frozen=True)
class OneOf(Values):
    """One of these values for each element, all equally likely. `OneOf((-1.0, -0.0, 0.0, 2.0))` has equal elements
    everywhere, for kernels that must decide between them, and both zeros."""

    values: tuple[Value, ...]

    def draw(self, shape: Sequence[int], dtype: torch.dtype, sizes: Sizes, generator: torch.Generator) -> Tensor:
        values = _exact(self.values, dtype).to(generator.device)
        return values[torch.randint(len(values), tuple(shape), generator=generator, device=generator.device)]

    def middle(self, sizes: Sizes) -> Value:
        return self.values[len(self.values) // 2]


@dataclass(frozen=True)
class Fixed(Values):
    """A value that the case gives: `Fixed(case.values == "causal")`. Every element of a tensor has it."""

    value: Value

    def draw(self, shape: Sequence[int], dtype: torch.dtype, sizes: Sizes, generator: torch.Generator) -> Tensor:
        return _exact((self.value,), dtype)[0].to(generator.device).expand(tuple(shape)).contiguous()

    def middle(self, sizes: Sizes) -> Value:
        return self.value


def _uniform(low: int, high: int, shape: Sequence[int], dtype: torch.dtype, generator: torch.Generator) -> Tensor:
    _hold(dtype, low, high)
    # The end is exclusive. Beyond the largest int64 it would not fit, so it stops there.
    end = min(high + 1, torch.iinfo(torch.int64).max)
    return torch.randint(low, end, tuple(shape), generator=generator, device=generator.device).to(dtype)


def _with_ends(x: Tensor, low: int, high: int, generator: torch.Generator) -> Tensor:
    """Return `x` with `low` and `high` at two secret places, if it has two elements."""
    if (count := x.numel()) < 2:
        return x
    first, step = (torch.randint(least, count, (1,), generator=generator, device=x.device) for least in (0, 1))
    flat = x.view(-1)
    flat[first], flat[(first + step) % count] = low, high
    return x


def _shared(share: float, shape: Sequence[int], generator: torch.Generator) -> Tensor:
    """Return a bool tensor in which each element is true with probability `share`."""
    return torch.rand(tuple(shape), generator=generator, device=generator.device) < share


def _exact(values: Sequence[Value], dtype: torch.dtype) -> Tensor:
    tensor = torch.tensor(values, dtype=torch.float64 if any(isinstance(v, float) for v in values) else torch.int64)
    if not dtype.is_floating_point and tensor.to(dtype).tolist() != list(values):
        raise ValueError(f"{str(dtype).removeprefix('torch.')} cannot hold {', '.join(map(str, values))}; give others")
    return tensor.to(dtype)


def _hold(dtype: torch.dtype, low: int, high: int) -> None:
    """Raise ValueError if there is no number between two bounds, or if the dtype cannot hold all of them."""
    if high < low:
        raise ValueError(f"no whole number lies between {low} and {high}; raise the upper bound")
    if dtype.is_floating_point:
        return
    least, most = (0, 1) if dtype == torch.bool else (torch.iinfo(dtype).min, torch.iinfo(dtype).max)
    if low < least or high > most:
        name = str(dtype).removeprefix("torch.")
        raise ValueError(f"{name} cannot hold whole numbers from {low} to {high}; take a wider dtype")


def _count(shape: Sequence[int]) -> int:
    return torch.Size(shape).numel()
