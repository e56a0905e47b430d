"""Pieces of memory, by their addresses."""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

import numpy as np

from grader.ptx.allocation import zeros
from grader.ptx.findings import Named
from grader.ptx.types import Array

APART = 40
"""Buffers begin 2^40 bytes apart."""
TABLES = 1 << 12
"""The number of the first region that is none of the plan's buffers."""
SHARED, LOCAL, PARAM = 1 << 56, 1 << 57, 1 << 58
"""The first generic addresses of other spaces."""
WINDOWS = {"shared": SHARED, "local": LOCAL, "param": PARAM, "global": 0, "const": 0}


class Mapped(Protocol):
    """The memory of a plan's buffer: `written` marks each written byte with ones, None if all are."""

    raw: Array
    written: Array | None
    given: str
    kept: int


class LastTouch:
    """The last writer and reader of each word, as stamps: see `grader.ptx.races`. Nobody is 0. `another`: who of
    another warp than the last reader's read it before. `alone`: which block has written it, counted from 1, or −1 for
    several.
    """

    def __init__(self, words: int) -> None:
        self.writer = zeros(words, np.int64)
        self.reader: Array | None = None
        self.another: Array | None = None
        self.alone: Array | None = None

    def stamps(self) -> list[Array]:
        """Return the stamps that there are: those of the writers, then those of the readers."""
        return [one for one in (self.writer, self.reader, self.another) if one is not None]


class Region:
    """Bytes at addresses from `base` on. `number` is that of the plan's buffer, or more for other memory."""

    def __init__(self, raw: Array, base: int, named: Named, written: Array | None = None, number: int = 0) -> None:
        self.raw, self.base, self.named, self.written, self.number = raw, base, named, written, number
        self.touched: LastTouch | None = None
        # Whether the bytes before the launch are kept, for loads that nothing orders; these, from the first store on.
        self.keeps = False
        self.before: Array | None = None
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
    """Return what `Region.marks` hold for a written element of so many bytes."""
    return (1 << 8 * size) - 1


class Reached(NamedTuple):
    """A part of an access: `offsets` are bytes in a region, `mask` its threads, None for all. `partial`: others of the
    access lie elsewhere."""

    region: Region
    offsets: Array
    mask: Array | None
    partial: bool = False
