"""Values and masks of the threads of a chunk of blocks.

A value is an array of shape (blocks, threads of a block), or an array that broadcasts to it: (blocks, 1) if it depends
on the block alone, (1, 1) for a constant. Masks have the same shapes.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from grader.simulation.ptx.types import Array

WARP = 32


@dataclass(frozen=True, eq=False)
class Frame:
    """Part of a chunk that runs: `rows` are blocks, `columns` threads, None for all of them. Columns are whole
    warps."""

    shape: tuple[int, int]
    rows: Array | None = None
    columns: Array | None = None

    @property
    def full(self) -> bool:
        return self.rows is None and self.columns is None

    def inside(self, value: Array) -> Array:
        """Return this part of a value of the whole chunk."""
        if self.rows is not None and value.shape[0] > 1:
            value = value[self.rows]
        if self.columns is not None and value.shape[1] > 1:
            value = value[:, self.columns]
        return value

    def outside(self, value: Array, into: Array) -> None:
        """Put a value of this part into an array of the whole chunk."""
        rows = slice(None) if self.rows is None else self.rows
        columns = slice(None) if self.columns is None else self.columns
        if self.rows is not None and self.columns is not None:
            into[self.rows[:, None], self.columns] = value
        else:
            into[rows, columns] = value


def count(mask: Array, shape: tuple[int, int]) -> int:
    """Return the number of threads that a mask has in a chunk of this shape."""
    found: int = np.count_nonzero(mask) * (shape[0] * shape[1] // mask.size)
    return found


def spread(value: Array, shape: tuple[int, int]) -> Array:
    """Broadcast a value to a shape. Most values have the shape already, and `np.broadcast_to` takes longer than the
    work on them."""
    return value if value.shape == shape else np.broadcast_to(value, shape)


def per_block(mask: Array, shape: tuple[int, int]) -> Array:
    """Return the number of threads that a mask has in each block."""
    return np.broadcast_to(np.count_nonzero(mask, axis=1) * (shape[1] // mask.shape[1]), shape[0])


def warps(value: Array, shape: tuple[int, int]) -> Array:
    """Return a value as (blocks, warps, lanes); the lanes that the last warp lacks hold zeros."""
    wide = spread(value, shape)
    over = -shape[1] % WARP
    if over:
        wide = np.concatenate([wide, np.zeros((shape[0], over), wide.dtype)], axis=1)
    return np.ascontiguousarray(wide).reshape(shape[0], -1, WARP)


def unwarped(value: Array, shape: tuple[int, int]) -> Array:
    """Return what `warps` made, as (blocks, threads) again."""
    if value.shape[2] != WARP:
        value = np.broadcast_to(value, (*value.shape[:2], WARP))
    return value.reshape(shape[0], -1)[:, : shape[1]]
