"""The rule by which programs of a launch store: which program stores a place of the output, from where a few programs
do.

All programs of a launch are taken to store alike: the same pattern of elements, which begins at a place that follows
from the program's number. The rule is found by trial on the programs that were run: evenly along each axis of the grid,
or tile after tile, in the orders in which kernels take tiles.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import permutations
from math import prod
from typing import Any

import numpy as np

Array = Any
MOST_PROGRAMS = 1 << 24
GROUPS = (*range(2, 17), 32, 64)
"""Rows, or columns, of tiles that kernels take together, since these share data in a cache."""


def corners(grid: Sequence[int]) -> set[int]:
    """Return the first program, its neighbours along each axis, and the last: they show even steps."""
    x, y, _ = grid
    return {0, prod(grid) - 1} | {step for step, size in zip((1, x, x * y), grid, strict=True) if size > 1}


class StoreRule:
    """The stores of a launch to an output of this shape. `samples` are the elements that the programs that were run
    store, ascending, by the program's number; `add` adds more. `given`: the launch takes the output, and may store
    there."""

    def __init__(
        self, grid: Sequence[int], shape: Sequence[int], samples: dict[int, Array], *, given: bool = True
    ) -> None:
        self.grid, self.shape, self.total, self.given = tuple(grid), tuple(shape), prod(grid), given
        self.samples: dict[int, Array] = {}
        self.add(samples)

    def add(self, samples: dict[int, Array]) -> None:
        self.samples |= samples
        largest = max(self.samples.items(), key=lambda item: item[1].size, default=(0, np.zeros(0, np.int64)))
        self.most = largest[1].size
        self._pattern = largest[1] - largest[1][:1]
        self._begins = None if self.whole or not self.most or self.total > MOST_PROGRAMS else next(
            (begins for begins in self._orders(largest[1]) if self._fits(begins)), None)

    @property
    def whole(self) -> bool:
        """Return whether all programs were run."""
        return len(self.samples) == self.total

    @property
    def known(self) -> bool:
        """Return whether it is known where each program stores, or that no program stores."""
        return self.whole or not self.given or self._begins is not None

    def writers(self, place: int) -> list[int]:
        """Return programs that store an element by the rule, without programs that were run and did not store it."""
        if self._begins is None:
            return self.stores(place)
        seeming = np.flatnonzero(np.isin(self._begins, place - self._pattern)).tolist()
        return [program for program in seeming if program not in self.samples or place in self.samples[program]]

    def stores(self, place: int) -> list[int]:
        """Return the programs that were run and that store an element."""
        return [program for program, elements in self.samples.items() if place in elements]

    def claims(self, places: Array) -> Array:
        """Return a bool mask of the `places` that the launch stores by the rule; none if no rule is known."""
        if self._begins is None:
            return np.zeros(places.size, bool)
        stores: Array = np.isin(places[:, None] - self._pattern, self._begins).any(axis=1)
        return stores

    def _fits(self, begins: Array) -> bool:
        return all(bool(np.isin(elements - begins[program], self._pattern).all())
                   for program, elements in self.samples.items())

    def _orders(self, largest: Array) -> Iterator[Array]:
        """Yield the element at which each program's pattern begins, for each rule that is tried."""
        numbers = np.arange(self.total)
        x, y, _ = self.grid
        evenly = np.zeros(self.total, np.int64)
        for step, size, along in ((1, x, numbers % x), (x, y, numbers // x % y), (x * y, self.grid[2],
                                                                               numbers // (x * y))):
            ends = [self.samples.get(program, largest[:0]) for program in (0, step)]
            if size > 1 and ends[0].size and ends[1].size:
                evenly += (ends[1][0] - ends[0][0]) * along
        if (first := self.samples.get(0, largest[:0])).size:
            yield evenly + first[0]
        # Neighbouring programs store neighbouring runs of elements, and each may go on behind the last program's.
        yield numbers * (int(np.argmax(np.diff(largest, append=-1) != 1)) + 1)
        for (rows, columns), matrix in self._tiles(largest):
            sizes = prod(matrix[:-2]), -(-matrix[-2] // rows), -(-matrix[-1] // columns)
            if prod(sizes) != self.total:
                continue
            for batch, row, column in _digits(numbers, sizes):
                begins = (batch * matrix[-2] + row * rows) * matrix[-1] + column * columns
                yield begins
                yield begins[::-1]

    def _tiles(self, largest: Array) -> Iterator[tuple[tuple[int, int], tuple[int, ...]]]:
        """Yield the extents of the tile that the largest sample fills without gaps, with the shape that it is a tile
        of: all elements in one row, or the output as a batch of matrices."""
        if largest[-1] - largest[0] + 1 == largest.size:
            yield (1, largest.size), (1, 1, prod(self.shape))
        width = self.shape[-1]
        rows, columns = (np.unique(numbers) for numbers in (largest // width, largest % width))
        if len(self.shape) > 1 and rows.size * columns.size == largest.size == (np.ptp(rows) + 1) * (
                np.ptp(columns) + 1):
            yield (rows.size, columns.size), (1, *self.shape)


def _digits(numbers: Array, sizes: tuple[int, int, int]) -> Iterator[list[Array]]:
    """Yield batch, row and column of each program's tile, in each order: one of them changes fastest; or several rows
    or columns are a group, and programs finish a group before the next."""
    for order in permutations(range(3)):
        left, digits = numbers, [numbers] * 3
        for axis in order:
            digits[axis], left = left % sizes[axis], left // sizes[axis]
        yield digits
    for fast, slow in ((1, 2), (2, 1)):
        for group in GROUPS if sizes[0] == 1 else ():
            within, first = numbers % (group * sizes[slow]), numbers // (group * sizes[slow]) * group
            height = np.minimum(sizes[fast] - first, group)
            digits = [numbers * 0] * 3
            digits[fast], digits[slow] = first + within % height, within // height
            if (height > 0).all():
                yield digits
