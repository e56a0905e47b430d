"""Special registers: see "Special Registers" of the PTX ISA. Clocks are left out, as they need a GPU."""

from __future__ import annotations

import numpy as np

from grader.simulation.ptx.lanes import WARP
from grader.simulation.ptx.memory import Spaces
from grader.simulation.ptx.state import Grid
from grader.simulation.ptx.types import Array, Unsupported

_MASKS = {
    "%lanemask_eq": lambda lane: 1 << lane, "%lanemask_lt": lambda lane: (1 << lane) - 1,
    "%lanemask_le": lambda lane: (2 << lane) - 1, "%lanemask_ge": lambda lane: 0xFFFFFFFF - ((1 << lane) - 1),
    "%lanemask_gt": lambda lane: 0xFFFFFFFF - ((2 << lane) - 1),
}
ANYWHERE = frozenset({"%smid", "%gridid"})
"""Registers whose values may differ on another device."""


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
        return np.full((1, 1), 77 if "places" in spaces.elsewhere else 1, np.uint64)
    if name == "%smid" and "places" in spaces.elsewhere:
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
