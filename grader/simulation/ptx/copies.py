"""Copies by `cp.async` that are under way: see "Asynchronous copy" of the PTX ISA (9.0, 9.7.9.25).

The simulator copies at once, so values do not depend on when copies arrive. On a GPU a copy may arrive as late as the
copying thread's wait for its group: an earlier load is reported, and the race detector takes the wait for the store.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from grader.simulation.ptx.types import Array


class _Flight(NamedTuple):
    """Words of shared memory that one instruction copies, with the copying thread and the group of each."""

    number: int
    words: Array
    threads: Array
    groups: Array


class Copies:
    """Copies of a chunk that are under way. Words are indices in its shared memory, threads are indices of its threads.
    With 0 words nothing is recorded."""

    def __init__(self) -> None:
        self.begin(0, 0)

    def begin(self, words: int, threads: int) -> None:
        self.flights: list[_Flight] = []
        # `_by` is the last flight to each word, 0 for none; `_group` is the group of each thread's next copy.
        self._by, self._group = np.zeros(words, np.int32), np.zeros(threads, np.int32)
        self._flown = 0

    def start(self, words: Array, threads: Array) -> None:
        """Record words that threads begin to copy."""
        if self._by.size and words.size:
            self._flown += 1
            self._by[words] = self._flown
            self.flights.append(_Flight(self._flown, words, threads, self._group[threads]))

    def commit(self, threads: Array) -> None:
        """End the group of each of these threads."""
        if self._by.size:
            self._group[threads] += 1

    def wait(self, threads: Array, left: int | None) -> tuple[Array, Array]:
        """Let threads wait for all their groups but the last `left`, or for all their copies if it is None. Returns the
        words that have arrived, and the thread that has copied each."""
        waits = np.zeros(self._group.size, bool)
        waits[threads] = True
        landed, kept = [(np.zeros(0, np.int64), np.zeros(0, np.int64))], []
        for flight in self.flights:
            over = waits[flight.threads]
            if left is not None:
                over &= flight.groups < self._group[flight.threads] - left
            there = flight.words[over]
            last = self._by[there] == flight.number
            self._by[there[last]] = 0
            landed.append((there[last], flight.threads[over][last]))
            if not over.all():
                kept.append(flight._replace(words=flight.words[~over], threads=flight.threads[~over],
                                            groups=flight.groups[~over]))
        self.flights = kept
        words, who = zip(*landed, strict=True)
        return np.concatenate(words), np.concatenate(who)

    def flying(self, words: Array) -> Array:
        """Return a mask of the words that nobody has waited for."""
        found: Array = self._by.take(words, mode="clip") != 0
        return found
