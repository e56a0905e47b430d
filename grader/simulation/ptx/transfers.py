"""Bulk copies into shared memory that are under way: see "Asynchronous copy" of the PTX ISA (9.0, 9.7.9.25).

Data arrives when a thread tests the barrier, as late as a GPU may have it: threads that do not test find the old
contents.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from grader.simulation.ptx.regions import Reached, Region, whole
from grader.simulation.ptx.threads import Threads
from grader.simulation.ptx.types import Array

FIELD = np.uint64(20)
PENDING = np.uint64((1 << 20) - 1)
PHASE = np.uint64(1 << 63)
_BYTES, _AT = (1 << 22) - 1, np.uint64(40)
"""The mask of the field that counts bytes in a barrier in memory, and the field's lowest bit."""


def after(words: Array, arrived: Array, due: Array) -> Array:
    """Return barriers, as in `grader.simulation.ptx.instructions.phases`, after `arrived` arrivals, with `due` more
    bytes to come. Arrivals beyond those that a phase expects count for the next one."""
    pending, expected = ((words >> at & PENDING).astype(np.int64) for at in (np.uint64(0), FIELD))
    bytes_ = ((words >> _AT).astype(np.int64) + due) & _BYTES
    over = arrived - pending
    ends = (over >= 0) & (bytes_ == 0)
    most = np.maximum(expected, 1)
    phase = np.where(ends & (over // most % 2 == 0), words ^ PHASE, words) & PHASE
    pending = np.where(ends, expected - over % most, np.maximum(-over, 0))
    return phase | bytes_.astype(np.uint64) << _AT | expected.astype(np.uint64) << FIELD | pending.astype(np.uint64)


class Elements(NamedTuple):
    """Elements of a region by their `index`, with a mask of those `inside` the region; the index of others is 0."""

    region: Region
    index: Array
    inside: Array

    def put(self, values: Array) -> None:
        """Store elements without a thread: their last touches stay as they are."""
        at, size = self.index[self.inside], values.dtype.itemsize
        region = self.region
        region.view(values.dtype)[at] = values[self.inside]
        if region.written is not None:
            region.marks(size)[at] = whole(size)

    def forget(self, unit: int, size: int) -> None:
        """Clear the last touches of elements of `size` bytes; a word has 2^unit bytes."""
        if (touched := self.region.touched) is not None:
            words = self.index[self.inside] * size >> unit
            for step in range(max(1, size >> unit)):
                for stamps in (touched.writer, *touched.readers):
                    stamps[words + step] = 0


class Transfers:
    """Copies that are `due` at each barrier: by the index of its word in the shared memory of a chunk."""

    def __init__(self) -> None:
        self.due: dict[int, list[tuple[Elements, Array, int]]] = {}

    def start(self, barrier: int, place: Elements, values: Array, bytes_: int) -> None:
        self.due.setdefault(barrier, []).append((place, values, bytes_))

    def arrive(self, m: Threads, barriers: Reached, unit: int) -> None:
        """Let all data arrive that is due at barriers."""
        if not barriers.region.named.shared:
            return
        index = np.broadcast_to(barriers.offsets >> 3, m.shape)
        words = barriers.region.view(np.dtype(np.uint64))
        index = index if barriers.mask is None else index[np.broadcast_to(barriers.mask, m.shape)]
        for at in np.unique(index).tolist():
            for place, values, bytes_ in self.due.pop(at, ()):
                place.forget(unit, values.itemsize)
                place.put(values)
                words[at] = after(words[at], np.int64(0), np.int64(-bytes_))
                m.version += 1
