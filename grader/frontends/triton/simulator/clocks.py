"""What programs know of each other's pasts by way of atomics: a vector clock for each program and place.

A program's time goes on with each atomic that it makes. An atomic leaves at its place all that its program knows, and
who looks at that place later, by the result of an atomic or by a load, knows it too: what was stored before is there.
Only an atomic whose result is used looks. One that a program makes blindly could as well have come first, and is no
reason for it to know anything.

Where it is not plain what orders what, more is taken to be ordered: nothing honest is to look like a race.
"""

from __future__ import annotations

import numpy as np

from grader.frontends.triton.simulator.pointers import Storage
from grader.frontends.triton.simulator.types import Array

MOST_PROGRAMS = 512
"""Of a launch whose clocks are kept: they take as many numbers as it has pairs of programs."""
MOST_ENTRIES = 1 << 20
"""Numbers that the places of one buffer have together: beyond that, neighbours share a clock."""


class Clocks:
    """`known[p, q]` is the last of q's times that p knows of, its own where they are the same. Programs are numbered
    from 1 in what is given, as `Shadow` has them, and once at most among `owners` of single places."""

    def __init__(self, programs: int) -> None:
        self.known = np.zeros((programs, programs), np.int32)
        self._now = self.known.reshape(-1)[:: programs + 1]
        self._now[:] = 1
        # For each buffer what was left at its places; by atomics on many places; and all of it.
        self._left: dict[int, Array] = {}
        self._widely: dict[int, Array] = {}
        self._all: dict[int, Array] = {}

    def time(self, owners: Array) -> Array:
        return self._now.take(owners - 1)

    def ordered(self, others: Array, times: Array, owners: Array) -> Array:
        """Whether owners know what others did at these times; of no others it says nothing."""
        known: Array = self.known.take((owners - 1) * np.int32(len(self.known)) + (others - 1))
        return known >= times

    def _places(self, buffer: Storage, index: Array, size: int) -> tuple[Array, Array]:
        """The clocks of a buffer's places, and which of them these elements have."""
        programs = len(self.known)
        most = max(1, MOST_ENTRIES // programs)
        width = max(4, -(-buffer.raw.size // most))
        if buffer.index not in self._left:
            self._left[buffer.index] = np.zeros((-(-buffer.raw.size // width), programs), np.int32)
            self._widely[buffer.index], self._all[buffer.index] = np.zeros((2, programs), np.int32)
        return self._left[buffer.index], index * size // width

    def meet(self, buffer: Storage, index: Array, size: int, owners: Array, *, looks: bool) -> None:
        """Atomics have been made by owners, one after another as they stand here, one at a place of each."""
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
        """Each of the rows leaves what it holds at its place, and takes up what it finds there if it looks."""
        if not looks and (places == places[0]).all():
            np.maximum(left[places[0]], rows.max(0), out=left[places[0]])
            return
        for row, place in zip(rows, places.tolist(), strict=True):
            # Far faster, at this width, than to accumulate along the rows.
            here = left[place]
            np.maximum(here, row, out=here)
            if looks:
                row[:] = here

    def meet_widely(self, buffer: Storage, owners: Array, *, looks: bool) -> None:
        """Atomics have been made by owners, each at many places, which are taken for one."""
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
        """Owners have loaded elements that atomics were made on."""
        if buffer.index not in self._left or not owners.size:
            return
        left, places = self._places(buffer, index, size)
        mine = self._several(owners)
        if mine.size == owners.size:
            found = np.maximum(left[places], self._widely[buffer.index])
            self.known[owners - 1] = np.maximum(self.known[owners - 1], found)
        else:
            self.known[mine] = np.maximum(self.known[mine], self._all[buffer.index])

    def follow(self, owners: Array, others: Array) -> None:
        """Owners have seen what others stored, and know what those do."""
        programs = len(self.known)
        pairs = np.unique((owners.astype(np.int64) - 1) * programs + (others - 1))
        np.maximum.at(self.known, pairs // programs, self.known[pairs % programs])

    def _several(self, owners: Array) -> Array:
        """Which programs these are, from 0."""
        marks = np.zeros(len(self.known), bool)
        marks[owners - 1] = True
        return np.flatnonzero(marks)
