"""Regions of memory, by their addresses: buffers, and the shared and local memory of blocks and threads."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from grader.plan.limits import Limit
from grader.plan.messages import Deviation
from grader.simulation.findings import MemoryNames
from grader.simulation.ptx.lanes import Array
from grader.simulation.shadow import LastTouch

APART = 40
"""Buffers begin 2^40 bytes apart."""
TABLES = 1 << 12
"""The number of the first table; the numbers of the plan's buffers are smaller."""
SHARED, LOCAL, PARAM = 1 << 56, 1 << 57, 1 << 58
"""The first generic addresses of other spaces."""
RESERVED, RESERVED_BYTES = "%reserved_smem_offset_1", 288
"""Shared memory that the system keeps, and clears, for tiles of more than a warp: `multi_warp_scratch` of cooperative
groups."""
WINDOWS = {"shared": SHARED, "local": LOCAL, "param": PARAM, "global": 0, "const": 0}


class Region:
    """Bytes at addresses from `base` on. `number` is that of the plan's buffer, or a larger one for other memory."""

    def __init__(
        self, raw: Array, base: int, named: MemoryNames, written: Array | None = None, number: int = 0
    ) -> None:
        self.raw, self.base, self.named, self.written, self.number = raw, base, named, written, number
        self.touched: LastTouch | None = None
        # `keeps`: `before` gets a copy of the bytes before the first store, for loads that nothing orders.
        # `alone` is the block that has stored to each word, counted from 1, or −1 for several.
        self.keeps = False
        self.before: Array | None = None
        self.alone: Array | None = None
        # Stamps of the last volatile stores to words that no load has used as flags since.
        self.volatile: Array | None = None
        self._views: dict[Any, Array] = {}

    def view(self, dtype: np.dtype[Any]) -> Array:
        """Return a view of all whole elements."""
        view = self._views.get(dtype)
        if view is None:
            size = dtype.itemsize
            view = self._views[dtype] = self.raw[: self.raw.size // size * size].view(dtype)
        return view

    def marks(self, size: int) -> Array:
        """Return `written` for elements of `size` bytes: `whole(size)` if the whole element is written."""
        assert self.written is not None
        return self.written[: self.written.size // size * size].view(f"u{size}")


def whole(size: int) -> int:
    """Return the value in `Region.marks` of a written element of `size` bytes."""
    return (1 << 8 * size) - 1


class ResolvedAccess(NamedTuple):
    """Part of an access: `offsets` are in bytes in a region, `mask` has its threads, None for all. `partial`: other
    threads of the access reach elsewhere."""

    region: Region
    offsets: Array
    mask: Array | None
    partial: bool = False


MOST_LOCAL = 1 << 29


@dataclass(slots=True)
class LaunchMemory:
    """Facts of a launch that its memory depends on: the bytes of the parameters, the address of the memory for barriers
    of the whole grid, the number of multiprocessors, and how another device differs."""

    parameters: Array
    workspace: int = 0
    multiprocessors: int = 132
    deviations: Collection[Deviation] = ()
    erring: Collection[int] = ()


class SharedSpace:
    """Shared memory of the blocks of a chunk, one after another. `arrays` are (begin, end, name)."""

    def __init__(self, arrays: Sequence[tuple[int, int, str]], bytes_: int) -> None:
        self.arrays, self.bytes = list(arrays), bytes_
        self.valid = np.zeros(bytes_, bool)
        for begin, end, _ in arrays:
            self.valid[begin:end] = True
        self.region = Region(np.zeros(0, np.uint8), SHARED, MemoryNames("", shared=True))
        self.rows = np.zeros((1, 1), np.int64)

    def begin(self, blocks: int, checked: bool, unset: int) -> None:
        """Begin a chunk of `blocks` blocks. `unset` is the value of bytes that no thread has stored, where a GPU may
        have anything."""
        raw = np.full(blocks * self.bytes, unset, np.uint8)
        written = np.zeros(raw.size, np.uint8) if checked else None
        for begin, end, name in self.arrays:
            if name == RESERVED:
                raw.reshape(blocks, -1)[:, begin:end] = 0
                if written is not None:
                    written.reshape(blocks, -1)[:, begin:end] = whole(1)
        self.region = Region(raw, SHARED, MemoryNames("", shared=True), written)
        self.rows = np.arange(blocks, dtype=np.int64)[:, None] * self.bytes

    def array(self, offset: int) -> tuple[int, int, str]:
        """Return the array at an offset, or else the nearest one."""
        if not self.arrays:
            return 0, 0, ""
        return min(self.arrays, key=lambda array: (
            array[0] - offset if offset < array[0] else max(0, offset - array[1] + 1)))


class LocalSpace:
    """Local memory: 8 bytes of each thread, then the next 8 bytes of each."""

    def __init__(self) -> None:
        self.region = Region(np.zeros(0, np.uint8), LOCAL, MemoryNames("local"))
        self.lanes = self.size = self.unset = 0
        self.threads = np.zeros((1, 1), np.int64)

    def begin(self, blocks: int, threads: int, unset: int) -> None:
        self.lanes, self.size, self.unset = blocks * threads, 0, unset
        self.region = Region(np.zeros(0, np.uint8), LOCAL, MemoryNames("local"))
        self.threads = np.arange(self.lanes, dtype=np.int64).reshape(blocks, threads)

    def grow(self, size: int) -> None:
        size = (size + 7) & ~7
        if size <= self.size:
            return
        if size * self.lanes > MOST_LOCAL:
            raise Limit("memory")
        raw = np.full(size * self.lanes, self.unset, np.uint8)
        raw[: self.region.raw.size] = self.region.raw
        self.region, self.size = Region(raw, LOCAL, MemoryNames("local")), size
