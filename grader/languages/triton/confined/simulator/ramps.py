"""Ramps: integers that count up along the last axis of a tensor, as most offsets do, stored as their first elements.

Memory is then moved in runs, and lanes are not computed one by one if a run behaves as one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from grader.languages.triton.confined.simulator.types import Array
from grader.simulation.shadow import IndexedElements


class Ramp:
    """`base` + 0, 1, … `length` - 1 along the last axis, which has length 1 in `base`."""

    __slots__ = ("base", "length")

    def __init__(self, base: Array, length: int) -> None:
        self.base, self.length = base, length

    @property
    def shape(self) -> tuple[int, ...]:
        return (*self.base.shape[:-1], self.length)

    @property
    def ndim(self) -> int:
        return int(self.base.ndim)

    @property
    def size(self) -> int:
        return int(self.base.size)

    def array(self) -> Array:
        return self.base + np.arange(self.length, dtype=self.base.dtype)

    def wraps(self) -> bool:
        """Return whether any run passes the largest integer of its type."""
        return int(self.base.max()) > np.iinfo(self.base.dtype).max - self.length

    def last(self) -> Array:
        return self.base + self.base.dtype.type(self.length - 1)


def plain(value: Any) -> Any:
    """Return the value as an array, with all lanes of a ramp."""
    return value.array() if type(value) is Ramp else value


def _flat(value: Any) -> bool:
    return type(value) is not Ramp and value.shape[-1] == 1


def added(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a sum or difference that moves a run as a whole if possible."""

    def add(left: Any, right: Any) -> Any:
        if type(left) is Ramp and _flat(right):
            return Ramp(function(left.base, right), left.length)
        if type(right) is Ramp and _flat(left) and function is np.add:
            return Ramp(function(left, right.base), right.length)
        return function(plain(left), plain(right))

    return add


def _extended(function: Callable[..., Any]) -> Callable[..., Any]:
    def extend(value: Any) -> Any:
        if type(value) is Ramp and not value.wraps():
            return Ramp(function(value.base), value.length)
        return function(plain(value))

    return extend


def _compared(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a comparison with a bound: a run whose two ends lie on the same side lies there as a whole."""

    def compare(left: Any, right: Any) -> Any:
        for ramp, other in ((left, right), (right, left)):
            if type(ramp) is Ramp and _flat(other) and not ramp.wraps():
                first, last = ((function(end, other) if ramp is left else function(other, end))
                               for end in (ramp.base, ramp.last()))
                mixed = (first != last)[..., 0]
                if not mixed.any():
                    return first
                # Runs that cross the bound are compared lane by lane.
                result = np.repeat(first, ramp.length, -1)
                runs = np.broadcast_to(ramp.base, first.shape)[mixed] + np.arange(ramp.length, dtype=ramp.base.dtype)
                bound = np.broadcast_to(other, first.shape)[mixed]
                result[mixed] = function(runs, bound) if ramp is left else function(bound, runs)
                return result
        return function(plain(left), plain(right))

    return compare


def ramped(name: str, body: str, function: Callable[..., Any]) -> Callable[..., Any] | None:
    """Return a function that computes an operation on integers and keeps runs; None for an operation that keeps none.
    """
    if name in ("arith.addi", "arith.subi"):
        return added(function)
    if name == "arith.extsi":
        return _extended(function)
    if name == "arith.cmpi" and body.split(",")[0].strip()[1:] in ("lt", "le", "gt", "ge"):
        return _compared(function)
    return None


def windows(data: Array, length: int) -> Array:
    """Return all runs of a vector, by their first element."""
    size = data.itemsize
    return np.ndarray((data.size - length + 1, length), data.dtype, data, 0, (size, size))


def gather(data: Array, offsets: Array | Ramp) -> Array:
    """Return elements of a vector; an offset outside takes the nearest element, or 0 if the vector is empty."""
    if not data.size:
        return np.zeros(1, data.dtype).take(plain(offsets), mode="clip")
    if not isinstance(offsets, Ramp) or data.size < offsets.length:
        return data.take(plain(offsets), mode="clip")
    base = offsets.base[..., 0]
    outside = (base < 0) | (base > data.size - offsets.length)
    if not outside.any():
        return Runs(base, offsets.length).take(data)
    result = Runs(np.where(outside, 0, base), offsets.length).take(data)
    result[outside] = data.take(base[outside][:, None] + np.arange(offsets.length), mode="clip")
    return result


class LaneValues(IndexedElements):
    """Elements of a vector, with the range of their indices."""

    def __init__(self, index: Array) -> None:
        super().__init__(index)
        self.low, self.high = (int(index.min()), int(index.max())) if index.size else (0, -1)

    def apart(self) -> bool:
        """Return whether each element is known to occur only once."""
        return False


class Runs(LaneValues):
    """Elements of a vector in runs of equal length, by the indices of their first elements."""

    def __init__(self, base: Array, length: int) -> None:
        super().__init__(base)
        self.length = length
        self.high += length - 1

    def apart(self) -> bool:
        return bool((np.diff(np.sort(self.index, axis=None)) >= self.length).all())

    def take(self, data: Array) -> Array:
        elements: Array = windows(data, self.length)[self.index]
        return elements

    def put(self, data: Array, values: Any) -> None:
        windows(data, self.length)[self.index] = values

    def array(self) -> Array:
        return self.index[..., None] + np.arange(self.length)
