"""Memory of blocks and of threads: shared and local."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from grader.plan.limits import Limit
from grader.plan.messages import Elsewhere
from grader.simulation.findings import Named
from grader.simulation.ptx.regions import LOCAL, SHARED, Region
from grader.simulation.ptx.types import Array

MOST_LOCAL = 1 << 29


@dataclass(slots=True)
class LaunchMemory:
    """Facts of a launch that its memory depends on: the bytes of the parameters, the address of the memory for barriers
    of the whole grid, the number of multiprocessors, and how another device differs."""

    parameters: Array
    workspace: int = 0
    multiprocessors: int = 132
    elsewhere: frozenset[Elsewhere] = frozenset()
    erring: frozenset[int] = frozenset()


class SharedSpace:
    """Shared memory of the blocks of a chunk, one after another. `arrays` are (begin, end, name)."""

    def __init__(self, arrays: Sequence[tuple[int, int, str]], bytes_: int) -> None:
        self.arrays, self.bytes = list(arrays), bytes_
        self.valid = np.zeros(bytes_, bool)
        for begin, end, _ in arrays:
            self.valid[begin:end] = True
        self.region = Region(np.zeros(0, np.uint8), SHARED, Named("", shared=True))
        self.rows = np.zeros((1, 1), np.int64)

    def begin(self, blocks: int, checked: bool, unset: int) -> None:
        """Begin a chunk of `blocks` blocks. `unset` is the value of bytes that no thread has stored, where a GPU may
        have anything."""
        raw = np.full(blocks * self.bytes, unset, np.uint8)
        written = np.zeros(raw.size, np.uint8) if checked else None
        self.region = Region(raw, SHARED, Named("", shared=True), written)
        self.rows = np.arange(blocks, dtype=np.int64)[:, None] * self.bytes

    def array(self, offset: int) -> tuple[int, int, str]:
        """Return the array at an offset, or else the nearest one."""
        if not self.arrays:
            return 0, 0, ""
        return min(self.arrays, key=lambda one: one[0] - offset if offset < one[0] else max(0, offset - one[1] + 1))


class LocalSpace:
    """Local memory: 8 bytes of each thread, then the next 8 bytes of each."""

    def __init__(self) -> None:
        self.region = Region(np.zeros(0, np.uint8), LOCAL, Named("local"))
        self.lanes = self.size = self.unset = 0
        self.threads = np.zeros((1, 1), np.int64)

    def begin(self, blocks: int, threads: int, unset: int) -> None:
        self.lanes, self.size, self.unset = blocks * threads, 0, unset
        self.region = Region(np.zeros(0, np.uint8), LOCAL, Named("local"))
        self.threads = np.arange(self.lanes, dtype=np.int64).reshape(blocks, threads)

    def grow(self, size: int) -> None:
        size = (size + 7) & ~7
        if size <= self.size:
            return
        if size * self.lanes > MOST_LOCAL:
            raise Limit("memory")
        raw = np.full(size * self.lanes, self.unset, np.uint8)
        raw[: self.region.raw.size] = self.region.raw
        self.region, self.size = Region(raw, LOCAL, Named("local")), size
