"""Values of the threads of a chunk of blocks: their types, masks and special registers.

A value is an array of shape (blocks, threads of a block), or an array that broadcasts to it: (blocks, 1) if it depends
on the block alone, (1, 1) for a constant. Masks have the same shapes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from grader.plan.limits import Unsupported

if TYPE_CHECKING:
    from grader.simulation.ptx.memory import Spaces


__all__ = ["DTYPES", "Array", "Unsupported"]

Array = Any
"""A NumPy array, or a NumPy scalar, which arithmetic returns if no axis is left."""


DTYPES: dict[str, np.dtype[Any]] = {
    name: np.dtype(kind)
    for name, kind in {
        "u8": "u1", "s8": "i1", "b8": "u1", "u16": "u2", "s16": "i2", "b16": "u2",
        "u32": "u4", "s32": "i4", "b32": "u4",
        "u64": "u8", "s64": "i8", "b64": "u8", "f16": "f2", "f32": "f4", "f64": "f8", "pred": "?", "cc": "?",
        # No NumPy type is like these: they travel as bit patterns.
        "bf16": "u2", "f16x2": "u4", "bf16x2": "u4", "u16x2": "u4", "s16x2": "u4", "tf32": "u4",
        "e4m3x2": "u2", "e5m2x2": "u2",
    }.items()
}  # fmt: skip
"""The dtype of a value of each type; "cc" is the carry flag of extended-precision arithmetic."""


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

    def narrow(self, value: Array) -> Array:
        """Return this part of a value of the whole chunk."""
        if self.rows is not None and value.shape[0] > 1:
            value = value[self.rows]
        if self.columns is not None and value.shape[1] > 1:
            value = value[:, self.columns]
        return value

    def scatter(self, value: Array, into: Array) -> None:
        """Put a value of this part into an array of the whole chunk."""
        rows = slice(None) if self.rows is None else self.rows
        columns = slice(None) if self.columns is None else self.columns
        if self.rows is not None and self.columns is not None:
            into[self.rows[:, None], self.columns] = value
        else:
            into[rows, columns] = value


def count(mask: Array, shape: tuple[int, int]) -> int:
    """Return the number of threads that a mask has in a chunk of this shape."""
    threads: int = np.count_nonzero(mask) * (shape[0] * shape[1] // mask.size)
    return threads


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


_MASKS = {
    "%lanemask_eq": lambda lane: 1 << lane, "%lanemask_lt": lambda lane: (1 << lane) - 1,
    "%lanemask_le": lambda lane: (2 << lane) - 1, "%lanemask_ge": lambda lane: 0xFFFFFFFF - ((1 << lane) - 1),
    "%lanemask_gt": lambda lane: 0xFFFFFFFF - ((2 << lane) - 1),
}
ANYWHERE = frozenset({"%smid", "%gridid"})
"""Registers whose values may differ on another device."""


@dataclass(frozen=True)
class Grid:
    """Shape of a launch: blocks of the grid, threads of a block, bytes of dynamic shared memory."""

    blocks: tuple[int, int, int]
    threads: tuple[int, int, int]
    shared: int = 0

    @property
    def block(self) -> int:
        return self.threads[0] * self.threads[1] * self.threads[2]


def special(name: str, grid: Grid, numbers: Array, spaces: Spaces) -> Array:
    """Return the value of a special register in the blocks of these numbers: (blocks, 1), (1, threads) or (1, 1)."""
    head, _, axis = name.partition(".")
    if axis:
        along = "xyz".index(axis)
        x, y, _ = grid.blocks
        width, height, _ = grid.threads
        threads = np.arange(grid.block, dtype=np.int64)[None, :]
        if head in ("%ctaid", "%clusterid"):
            blocks = numbers[:, None].astype(np.int64)
            return _uint((blocks % x, blocks // x % y, blocks // (x * y))[along])
        if head == "%tid":
            return _uint((threads % width, threads // width % height, threads // (width * height))[along])
        sizes = {"%nctaid": grid.blocks, "%nclusterid": grid.blocks, "%ntid": grid.threads, "%cluster_ctaid": (0, 0, 0),
                 "%cluster_nctaid": (1, 1, 1)}
        return _uint(np.full((1, 1), sizes[head][along]))
    lane = np.arange(grid.block, dtype=np.int64)[None, :] % WARP
    if name in _MASKS:
        return _uint(_MASKS[name](lane))
    if name == "%laneid":
        return _uint(lane)
    if name == "%warpid":
        return _uint(np.arange(grid.block)[None, :] // WARP)
    if name == "%gridid":
        return np.full((1, 1), 77 if "places" in spaces.deviations else 1, np.uint64)
    if name == "%smid" and "places" in spaces.deviations:
        return _uint((numbers[:, None].astype(np.int64) * 7 + 3) % spaces.multiprocessors)
    constants = {
        "%nwarpid": 64, "%smid": 0, "%nsmid": spaces.multiprocessors, "%dynamic_smem_size": grid.shared,
        "%total_smem_size": spaces.shared.bytes, "%aggr_smem_size": spaces.shared.bytes, "%cluster_ctarank": 0,
        "%cluster_nctarank": 1, "%is_explicit_cluster": 0, "WARP_SZ": WARP,
        # The address of the system's memory for barriers of a whole grid, 0 for launches that are not cooperative.
        "%envreg1": spaces.workspace >> 32, "%envreg2": spaces.workspace & 0xFFFFFFFF,
    }
    if name not in constants:
        raise Unsupported(f"the register {name}")
    return _uint(np.full((1, 1), constants[name]))


def _uint(value: Array) -> Array:
    return value.astype(np.uint32)
