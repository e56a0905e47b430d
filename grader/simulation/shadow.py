"""Shadow memory of race detectors: who touched each word last, and when.

A stamp is an access: the number of its thread or program, counted from 1, with the time above it; 0 is none.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from grader.simulation.allocation import zeros

Array = Any
WHEN = 40
"""The shift of the time in a stamp; the lower bits hold the number."""
ATOMIC = 1 << (WHEN - 1)
"""The bit of a stamp that is set for an atomic."""
WHO = ATOMIC - 1
LAST = (1 << 23) - 1
"""The last time that a stamp can hold; it stands for all later ones."""


class IndexedElements:
    """Elements of a vector, by indices of any shape."""

    def __init__(self, index: Array) -> None:
        self.index = index

    def take(self, data: Array) -> Array:
        return data.take(self.index)

    def put(self, data: Array, values: Any) -> None:
        data[self.index] = values

    def array(self) -> Array:
        return self.index


class LastTouch:
    """Stamps of the last accesses to each word. `readers` are empty before a load: the last readers, then the last
    ones of another group than the last reader's, such as another program, for each way to group."""

    def __init__(self, words: int, dtype: Any = np.int64) -> None:
        self.writer: Array = zeros(words, dtype)
        self.readers: list[Array] = []

    def read(self, words: IndexedElements, stamps: Array, groups: Sequence[Callable[[Array], Array]]) -> None:
        """Record loads. Each of `groups` returns the groups of stamps."""
        if not self.readers:
            self.readers = [zeros(self.writer.size, self.writer.dtype) for _ in range(1 + len(groups))]
        reader, *others = self.readers
        before = words.take(reader)
        words.put(reader, stamps)
        now = words.take(reader)
        # If several read a word at once, one of them is the last.
        first = np.where(now == stamps, before, stamps)
        if not first.any():
            return
        for group, group_reader in zip(groups, others, strict=True):
            several = (first != 0) & (group(first) != group(now))
            if several.any():
                group_reader[words.array()[several]] = first[several]
