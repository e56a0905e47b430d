"""Vector clocks for programs and places: the knowledge that programs gain of each other's pasts through atomics.

A program's time advances with each atomic that it makes. An atomic leaves its program's knowledge at its place. A
program that looks at the place later, by a load or by an atomic's result, gains this knowledge: it sees all stores that
were made before. An atomic whose result is unused gains none, since it may as well have come first.

In doubt, two accesses count as ordered, so that no honest kernel is reported as a race.
"""

from __future__ import annotations

import numpy as np

from grader.languages.triton.confined.simulator.pointers import Storage
from grader.languages.triton.confined.simulator.types import Array
from grader.simulation.shadow import LAST, WHEN, WHO

MOST_PROGRAMS = 512
"""The most programs of a launch with clocks: clocks take a number for each pair of programs."""
MOST_ENTRIES = 1 << 20
"""The most numbers in the clocks of all places of a buffer; if more are needed, neighbours share a clock."""


class Clocks:
    """The clocks of a launch. `known[p, q]` is the last time of q that p knows; `known[p, p]` is p's own time.

    Arguments number programs from 1, as `Shadow` does. `meet` takes each program at most once.
    """

    def __init__(self, programs: int) -> None:
        self.known = np.zeros((programs, programs), np.int32)
        self._now = self.known.reshape(-1)[:: programs + 1]
        self._now[:] = 1
        # The knowledge that each buffer holds: at single places, from atomics on many places, and all of it.
        self._at_places: dict[int, Array] = {}
        self._widely: dict[int, Array] = {}
        self._all: dict[int, Array] = {}

    def stamps(self, owners: Array, before: int = 0) -> Array:
        """Return the stamps of accesses that owners make now, or that they made `before` atomics ago."""
        return owners + (np.minimum(self._now.take(owners - 1) - before, LAST).astype(np.int64) << WHEN)

    def ordered(self, others: Array, owners: Array) -> Array:
        """Return whether owners know the accesses of other programs, given as stamps. Undefined for the stamp of no
        program, 0."""
        known: Array = self.known.take((owners - 1) * np.int32(len(self.known)) + ((others & WHO) - 1))
        return known >= others >> WHEN

    def _places(self, buffer: Storage, index: Array, size: int) -> tuple[Array, Array]:
        """Return the clocks of a buffer's places, and the indices of these elements' clocks."""
        programs = len(self.known)
        most = max(1, MOST_ENTRIES // programs)
        width = max(4, -(-buffer.raw.size // most))
        if buffer.index not in self._at_places:
            self._at_places[buffer.index] = np.zeros((-(-buffer.raw.size // width), programs), np.int32)
            self._widely[buffer.index], self._all[buffer.index] = np.zeros((2, programs), np.int32)
        return self._at_places[buffer.index], index * size // width

    def meet(self, buffer: Storage, index: Array, size: int, owners: Array, *, looks: bool) -> None:
        """Record that owners have made atomics, one after another in this order, each at one place."""
        left, places = self._places(buffer, index, size)
        everything, widely = self._all[buffer.index], self._widely[buffer.index]
        if owners.size == 1:
            row, here = self.known[owners[0] - 1], left[places[0]]
            if looks:
                np.maximum(np.maximum(row, here, out=row), widely, out=row)
            np.maximum(here, row, out=here)
            np.maximum(everything, row, out=everything)
        else:
            rows = self.known[owners - 1]
            np.maximum(everything, rows.max(0), out=everything)
            if looks:
                np.maximum(rows, widely, out=rows)
            self._meet_in_turn(left, places, rows, looks)
            if looks:
                self.known[owners - 1] = rows
        self._now[owners - 1] += 1

    def _meet_in_turn(self, left: Array, places: Array, rows: Array, looks: bool) -> None:
        """Let each row in turn leave its knowledge at its place and, if it `looks`, gain the knowledge found there."""
        if not looks and (places == places[0]).all():
            np.maximum(left[places[0]], rows.max(0), out=left[places[0]])
            return
        for row, place in zip(rows, places.tolist(), strict=True):
            # A loop is far faster at this width than an accumulation along the rows.
            here = left[place]
            np.maximum(here, row, out=here)
            if looks:
                row[:] = here

    def meet_widely(self, buffer: Storage, owners: Array, *, looks: bool) -> None:
        """Record that owners have made atomics, each at many places, which count as one place."""
        self._places(buffer, owners[:0], 1)
        mine = owners - 1
        widely, everything = self._widely[buffer.index], self._all[buffer.index]
        rows = self.known[mine].max(0)
        np.maximum(widely, rows, out=widely)
        np.maximum(everything, rows, out=everything)
        if looks:
            self.known[mine] = np.maximum(self.known[mine], everything)
        self._now[mine] += 1

    def look(self, buffer: Storage, index: Array, size: int, owners: Array) -> None:
        """Record that owners have loaded elements on which atomics were made."""
        if buffer.index not in self._at_places or not owners.size:
            return
        left, places = self._places(buffer, index, size)
        mine = self._distinct(owners)
        if mine.size == owners.size:
            gained = np.maximum(left[places], self._widely[buffer.index])
            self.known[owners - 1] = np.maximum(self.known[owners - 1], gained)
        else:
            self.known[mine] = np.maximum(self.known[mine], self._all[buffer.index])

    def follow(self, owners: Array, others: Array) -> None:
        """Give owners the knowledge of others, whose stores they have seen."""
        programs = len(self.known)
        pairs = np.unique((owners.astype(np.int64) - 1) * programs + (others - 1))
        np.maximum.at(self.known, pairs // programs, self.known[pairs % programs])

    def _distinct(self, owners: Array) -> Array:
        """Return the distinct programs among `owners`, numbered from 0."""
        marks = np.zeros(len(self.known), bool)
        marks[owners - 1] = True
        return np.flatnonzero(marks)
