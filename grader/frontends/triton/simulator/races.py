"""Which program touched which element in a launch, as far as needed to see races between programs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from grader.frontends.triton.simulator.pointers import Source
from grader.frontends.triton.simulator.ramps import Lanes
from grader.frontends.triton.simulator.types import Array, bits, zeros

if TYPE_CHECKING:
    from grader.frontends.triton.simulator.machine import Machine


class Shadow:
    """A buffer that a launch stores to, element by element. Programs are numbered from 1 here; 0 is none.

    `writer` and `reader` are the last programs; `another` is a reader that is not the last one.
    """

    def __init__(self, elements: int, size: int) -> None:
        self.size = size
        self.writer = zeros(elements, np.int32)
        self.atomic: Array | None = None
        self.reader: Array | None = None
        self.another: Array | None = None
        # The stores so far lie between these.
        self.low, self.high = elements, -1
        # When each program stored last, in steps of the machine; only where atomics can order programs.
        self.stored: Array | None = None
        # Which lane stored last, and at which barrier of the machine; only where the kernel loads what it stores.
        self.lanes: Array | None = None
        self.when = np.zeros(0, np.int32)

    def stored_by(self, index: Lanes, numbers: Array, barrier: int) -> None:
        """Lanes of these numbers store at an index."""
        if self.lanes is None:
            self.lanes, self.when = (zeros(self.writer.size, np.int32) for _ in range(2))
        index.put(self.lanes, numbers)
        index.put(self.when, barrier)

    def store(
        self, machine: Machine, source: Source, data: Array, index: Lanes, values: Array, owners: Array
    ) -> None:
        """Stores values at an index, of the same shape, for the programs that own them."""
        if index.low <= self.high and index.high >= self.low:
            before = index.take(self.writer)
            clash = (before != 0) & (before != owners)
            if clash.any():
                differs = clash & (bits(index.take(data)) != bits(values))
                self._report(machine, source, index, before, owners, differs, certain=True)
        self.low, self.high = min(self.low, index.low), max(self.high, index.high)
        if self.reader is not None and self.another is not None:
            before = index.take(self.reader)
            others = np.where(before == owners, index.take(self.another), before)
            clash = others != 0
            if clash.any():
                clash &= bits(index.take(data)) != bits(values)
                self._report(machine, source, index, others, owners, clash, certain=False)
        index.put(self.writer, owners)
        index.put(data, values)
        differs = None if index.apart() else bits(index.take(data)) != bits(values)
        if differs is not None and differs.any():
            after = index.take(self.writer)
            self._report(machine, source, index, after, owners, differs & (after != owners), certain=True, now=True)
            differs &= after == owners
            if differs.any():
                owner = np.broadcast_to(owners, differs.shape)[differs][0]
                machine.findings.undefined(
                    machine.place(), "lanes", source, element=int(index.array()[differs][0]),
                    programs=[int(owner) - 1], certain=False)
        if self.atomic is not None:
            index.put(self.atomic, False)
        if machine.synced is not None:
            if self.stored is None:
                self.stored = np.zeros_like(machine.synced)
            self.stored[owners - 1] = machine.step

    def load(self, machine: Machine, source: Source, index: Lanes, owners: Array) -> None:
        if index.low <= self.high and index.high >= self.low:
            before = index.take(self.writer)
            clash = (before != 0) & (before != owners)
            if clash.any():
                self._report(machine, source, index, before, owners, clash, certain=False)
        if self.reader is None or self.another is None:
            self.reader, self.another = (zeros(self.writer.size, np.int32) for _ in range(2))
        before = index.take(self.reader)
        index.put(self.reader, owners)
        # Of lanes that read the same element one is the last.
        others = np.where(index.take(self.reader) != owners, owners, before)
        several = (others != 0) & (others != index.take(self.reader))
        if several.any():
            self.another[index.array()[several]] = others[several]

    def update(self, machine: Machine, source: Source, index: Lanes, owners: Array) -> None:
        """Atomics that have been made: ordered among each other, and not with what other programs load and store."""
        if self.atomic is None:
            self.atomic = zeros(self.writer.size, bool)
        before = index.take(self.writer)
        clash = (before != 0) & (before != owners) & ~index.take(self.atomic)
        if clash.any():
            self._report(machine, source, index, before, owners, clash, certain=False)
        if self.reader is not None:
            before = index.take(self.reader)
            clash = (before != 0) & (before != owners)
            if clash.any():
                # This atomic does not show that the program that has read waited for it.
                self._report(machine, source, index, before, owners, clash, certain=False, now=True)
        self.low, self.high = min(self.low, index.low), max(self.high, index.high)
        index.put(self.writer, owners)
        index.put(self.atomic, True)

    def _report(
        self, machine: Machine, source: Source, index: Lanes, others: Array, owners: Array, clash: Array, *,
        certain: bool, now: bool = False,
    ) -> None:
        """Tells of the first clash between two programs that no atomics can have ordered.

        They may have where the other program has made one after its last store, and this one has made one too: a lock,
        a ticket, a counter that all wait for.
        """
        if self.atomic is not None and certain:
            certain = not index.take(self.atomic)[clash].any()
        others, owners, places = (
            np.broadcast_to(each, clash.shape)[clash] for each in (others, owners, index.array()))
        if machine.synced is not None and not now:
            stored = np.zeros(1, machine.synced.dtype) if self.stored is None else self.stored
            before = machine.synced[others - 1] > stored.take(others - 1, mode="clip")
            ordered = before & (machine.synced[owners - 1] > 0)
            if machine.released is not None and machine.acquired is not None and machine.relaxed:
                released = machine.released[others - 1] > stored.take(others - 1, mode="clip")
                loose = ordered & ~(released & (machine.acquired[owners - 1] > 0))
                if loose.any():
                    first = int(np.argmax(loose))
                    machine.findings.undefined(
                        machine.place(), "relaxed", source, element=int(places[first]), line=machine.relaxed,
                        programs=[int(others[first]) - 1, int(owners[first]) - 1])
            others, owners, places = others[~ordered], owners[~ordered], places[~ordered]
        if places.size:
            machine.findings.race(
                machine.place(), source, int(places[0]), (int(others[0]) - 1, int(owners[0]) - 1), certain)
