"""Regions of memory, by their addresses."""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

import numpy as np

from grader.simulation.findings import Named
from grader.simulation.ptx.types import Array
from grader.simulation.shadow import LastTouch

APART = 40
"""Buffers begin 2^40 bytes apart."""
TABLES = 1 << 12
"""The number of the first table; the numbers of the plan's buffers are smaller."""
SHARED, LOCAL, PARAM = 1 << 56, 1 << 57, 1 << 58
"""The first generic addresses of other spaces."""
WINDOWS = {"shared": SHARED, "local": LOCAL, "param": PARAM, "global": 0, "const": 0}


class Mapped(Protocol):
    """Memory of a plan's buffer: `written` marks each written byte with ones; it is None if all are written."""

    raw: Array
    written: Array | None
    given: str
    kept: int


class Region:
    """Bytes at addresses from `base` on. `number` is that of the plan's buffer, or a larger one for other memory."""

    def __init__(self, raw: Array, base: int, named: Named, written: Array | None = None, number: int = 0) -> None:
        self.raw, self.base, self.named, self.written, self.number = raw, base, named, written, number
        self.touched: LastTouch | None = None
        # `keeps`: `before` gets a copy of the bytes before the first store, for loads that nothing orders.
        # `alone` is the block that has stored to each word, counted from 1, or −1 for several.
        self.keeps = False
        self.before: Array | None = None
        self.alone: Array | None = None
        self._views: dict[Any, Array] = {}

    def view(self, dtype: np.dtype[Any]) -> Array:
        """Return a view of all whole elements."""
        found = self._views.get(dtype)
        if found is None:
            size = dtype.itemsize
            found = self._views[dtype] = self.raw[: self.raw.size // size * size].view(dtype)
        return found

    def marks(self, size: int) -> Array:
        """Return `written` for elements of `size` bytes: `whole(size)` if the whole element is written."""
        assert self.written is not None
        return self.written[: self.written.size // size * size].view(f"u{size}")


def whole(size: int) -> int:
    """Return the value in `Region.marks` of a written element of `size` bytes."""
    return (1 << 8 * size) - 1


class Reached(NamedTuple):
    """Part of an access: `offsets` are in bytes in a region, `mask` has its threads, None for all. `partial`: other
    threads of the access reach elsewhere."""

    region: Region
    offsets: Array
    mask: Array | None
    partial: bool = False
