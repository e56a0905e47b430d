"""Race detector: for each element, the programs of a launch that touched it, as far as races need them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from grader.languages.triton.confined.simulator.clocks import Clocks
from grader.languages.triton.confined.simulator.pointers import Origin
from grader.languages.triton.confined.simulator.ramps import LaneValues
from grader.languages.triton.confined.simulator.state import State
from grader.languages.triton.confined.simulator.types import Array, bits, decode
from grader.simulation.allocation import zeros
from grader.simulation.shadow import WHO, LastTouch


@dataclass(frozen=True, eq=False, slots=True)
class _Clash:
    """Lanes where programs meet: `owners` touch an element now, `others`, as stamps, touched it before."""

    others: Array
    owners: Array
    lanes: Array


class Shadow(LastTouch):
    """The accesses to a buffer that a launch stores to, element by element. Programs are numbered from 1; 0 is none.
    Without `clocks` a stamp is the number alone.

    The writer may have made an `atomic`; `other` made an atomic before the writer did.
    """

    def __init__(self, elements: int, size: int, clocks: Clocks | None = None) -> None:
        super().__init__(elements, np.int32 if clocks is None else np.int64)
        self.size, self.clocks = size, clocks
        self.atomic: Array | None = None
        self.other: Array | None = None
        # The value that the last store or atomic replaced, if known, or else the number that it added; only in a run
        # in which loads may come early.
        self.replaced, self.known = np.zeros(0, f"u{size}"), np.zeros(0, bool)
        self.added: Array | None = None
        # The lowest and highest element stored so far.
        self.low, self.high = elements, -1
        # Each program's last store, in steps of the launch; only if atomics can order programs.
        self.stored: Array | None = None
        # The lane of the last store, and the barriers of the launch at that time; only if the kernel loads what it
        # stores.
        self.lanes: Array | None = None
        self.when = np.zeros(0, np.int32)

    def who(self, stamps: Array) -> Array:
        """Return the programs of stamps."""
        return stamps if self.clocks is None else stamps & WHO

    def _stamps(self, owners: Array, before: int = 0) -> Array:
        return owners if self.clocks is None else self.clocks.stamps(owners, before)

    def stored_by(self, index: LaneValues, numbers: Array, barrier: int) -> None:
        """Note that the lanes `numbers` store at an index, after `barrier` barriers."""
        if self.lanes is None:
            self.lanes, self.when = (zeros(self.writer.size, np.int32) for _ in range(2))
        index.put(self.lanes, numbers)
        index.put(self.when, barrier)

    def store(
        self, state: State, source: Origin, data: Array, index: LaneValues, values: Array, owners: Array
    ) -> None:
        """Store values at an index of the same shape, for the programs that own them, and report races."""
        if index.low <= self.high and index.high >= self.low:
            before = index.take(self.writer)
            clash = (before != 0) & (self.who(before) != owners)
            if clash.any():
                differs = clash & (bits(index.take(data)) != bits(values))
                self._report(state, source, index, _Clash(before, owners, differs), certain=True)
        self.low, self.high = min(self.low, index.low), max(self.high, index.high)
        if self.readers:
            others = self._other_readers(index, owners)
            clash = others != 0
            if clash.any():
                clash &= bits(index.take(data)) != bits(values)
                if clash.any():
                    clash = self._open(state, source, index, _Clash(others, owners, clash), loads=False)
                ordered = self.clocks is not None
                self._report(state, source, index, _Clash(others, owners, clash), certain=False, now=ordered)
        new = self._stamps(owners)
        if state.early and self.clocks is not None:
            self._keep(data, index, new)
        index.put(self.writer, new)
        index.put(data, values)
        differs = None if index.apart() else bits(index.take(data)) != bits(values)
        if differs is not None and differs.any():
            after = index.take(self.writer)
            lost = self.who(after) != owners
            self._report(state, source, index, _Clash(after, owners, differs & lost), certain=True, now=True)
            differs &= ~lost
            if differs.any():
                owner = np.broadcast_to(owners, differs.shape)[differs][0]
                state.findings.undefined(
                    state.place(), "lanes", source.named, element=int(index.array()[differs][0]),
                    numbers=[int(owner) - 1], certain=False)
        if self.atomic is not None:
            index.put(self.atomic, False)
        if state.synced is not None:
            if self.stored is None:
                self.stored = np.zeros_like(state.synced)
            self.stored[owners - 1] = state.step

    def load(
        self, state: State, source: Origin, index: LaneValues, owners: Array, waits: bool, late: Array | None = None
    ) -> None:
        """Note a load and report races. `waits`: a program may wait by this load. `late` programs load the values from
        before the last store."""
        if index.low <= self.high and index.high >= self.low:
            before = index.take(self.writer)
            atomic = None if self.clocks is None or self.atomic is None else index.take(self.atomic)
            atomic = None if atomic is None or not atomic.any() else atomic
            if waits:
                self._look(source, index, atomic, owners, late)
                self._follow(before, atomic, owners)
            clash = (before != 0) & (self.who(before) != owners)
            if clash.any():
                self._report(state, source, index, _Clash(before, owners, clash), certain=False, loads=not waits)
            if not waits:
                if atomic is not None and self.other is not None:
                    other = index.take(self.other)
                    clash = atomic & (other != 0) & (self.who(other) != owners) & (self.who(before) == owners)
                    if clash.any():
                        self._open(state, source, index, _Clash(other, owners, clash), loads=True)
                self._look(source, index, atomic, owners, late)
        self.read(index, self._stamps(owners), (self.who,))

    def _other_readers(self, index: LaneValues, owners: Array) -> Array:
        """Return the stamp of a reader other than the owner for each element; 0 for none."""
        reader, another = (index.take(stamps) for stamps in self.readers)
        return np.where(self.who(reader) == owners, another, reader)

    def _look(
        self, source: Origin, index: LaneValues, atomic: Array | None, owners: Array, late: Array | None
    ) -> None:
        """Give owners, except for `late` ones, the knowledge of the atomics on the elements that they load."""
        if self.clocks is None or atomic is None:
            return
        owners = np.broadcast_to(owners, atomic.shape)
        seen = atomic if late is None else atomic & ~late[owners - 1]
        self.clocks.look(source.buffer, index.array()[seen], self.size, owners[seen])

    def _follow(self, before: Array, atomic: Array | None, owners: Array) -> None:
        """Give owners the knowledge of the programs whose stores they wait for."""
        before = self.who(before)
        stored = (before != 0) & (before != owners)
        stored = stored if atomic is None else stored & ~atomic
        if self.clocks is not None and stored.any():
            self.clocks.follow(np.broadcast_to(owners, before.shape)[stored], before[stored])

    def looked(self, places: Array, owners: Array, same: Array) -> None:
        """Note atomics on single elements that may only read them: those that leave the value the `same`."""
        self._follow(self.writer[places], ~same if self.atomic is None else self.atomic[places] | ~same, owners)

    def update(
        self, state: State, source: Origin, index: LaneValues, owners: Array, added: Array | None = None
    ) -> None:
        """Note atomics that have been made, and report races: atomics are ordered among each other, but not with loads
        and stores of other programs. `added` are the numbers that they add, if any."""
        if self.atomic is None:
            self.atomic = zeros(self.writer.size, bool)
        before, atomic = index.take(self.writer), index.take(self.atomic)
        others = (before != 0) & (self.who(before) != owners)
        clash = others & ~atomic
        if clash.any():
            self._report(state, source, index, _Clash(before, owners, clash), certain=False)
        if self.readers:
            readers = self._other_readers(index, owners)
            if readers.any():
                # An atomic made now does not show that its program has waited for the reader.
                self._report(state, source, index, _Clash(readers, owners, readers != 0), certain=False, now=True)
        self.low, self.high = min(self.low, index.low), max(self.high, index.high)
        new = self._stamps(owners, before=1)
        index.put(self.writer, new)
        if self.clocks is not None:
            if source.buffer.index in state.shared:
                self._note_other(index, before, others & atomic, new)
            if state.early:
                if self.added is None:
                    whole = added is None or added.dtype.kind != "f"
                    self.added = zeros(self.writer.size, np.int64 if whole else np.float64)
                index.put(self.added, 0 if added is None else added)
                if self.replaced.size:
                    index.put(self.known, False)
        if not atomic.all():
            index.put(self.atomic, True)

    def _note_other(self, index: LaneValues, before: Array, follows: Array, new: Array) -> None:
        """Note for each atomic the other program that made the atomic before it."""
        if self.other is None:
            self.other = zeros(self.writer.size, self.writer.dtype)
        if follows.any():
            self.other[index.array()[follows]] = before[follows]
        # Only one of the atomics on the same element is the last.
        lost = index.take(self.writer) != new
        if lost.any():
            self.other[index.array()[lost]] = new[lost]

    def _keep(self, data: Array, index: LaneValues, new: Array) -> None:
        """Note the values that a store replaces; of several stores by a program at one time, the first counts."""
        old = bits(index.take(data))
        if self.replaced.size:
            old = np.where(index.take(self.writer) == new, index.take(self.replaced), old)
        self.keep(index, old)

    def keep(self, index: LaneValues, old: Array) -> None:
        """Note the values that a store or atomic replaces, as bits."""
        if not self.replaced.size:
            self.replaced = zeros(self.writer.size, self.replaced.dtype)
            self.known = zeros(self.writer.size, bool)
        index.put(self.replaced, old)
        index.put(self.known, True)

    def before(
        self, places: Array, owners: Array, live: Array | None, values: Array, data: Array, element: str
    ) -> tuple[Array, Array | None]:
        """Return the values of loads that come before the last store or addition wherever nothing orders the two. Also
        return for each program, from 0, whether its values differ by that. The arrays have one shape, or broadcast."""
        if self.clocks is None:
            return values, None
        places, owners, values = np.broadcast_arrays(places, owners, values)
        live = (places >= 0) & (places < data.size) & (True if live is None else live)
        index = np.where(live, places, 0)
        writer = self.writer[index]
        clash = live & (writer != 0) & (self.who(writer) != owners)
        clash[clash] = ~self.clocks.ordered(writer[clash], owners[clash])
        if not clash.any():
            return values, None
        values = values.copy()
        index, old = index[clash], values[clash]
        if self.added is not None:
            old = old - self.added[index].astype(old.dtype)
        if self.replaced.size:
            old = np.where(self.known[index], decode(self.replaced[index].view(data.dtype), element), old)
        late = np.zeros(len(self.clocks.known), bool)
        late[owners[clash][bits(old) != bits(values[clash])] - 1] = True
        values[clash] = old
        return values, late

    def _open(self, state: State, source: Origin, index: LaneValues, clash: _Clash, *, loads: bool) -> Array:
        """Return the clashing lanes that no atomics have ordered. With `loads`, reports a load that could as well have
        come first."""
        if self.clocks is None:
            return clash.lanes
        open: Array = clash.lanes & ~self.clocks.ordered(clash.others, clash.owners)
        if loads and open.any():
            first = int(np.argmax(open))
            other_program, owner, place = (int(np.broadcast_to(values, open.shape).flat[first])
                                           for values in (self.who(clash.others), clash.owners, index.array()))
            state.findings.undefined(state.place(), "unordered", source.named, element=place, certain=False,
                                       numbers=[other_program - 1, owner - 1])
        return open

    def _report(
        self, state: State, source: Origin, index: LaneValues, clash: _Clash, *, certain: bool, now: bool = False,
        loads: bool = False,
    ) -> None:
        """Report the first clash that no atomics have ordered. `now`: an atomic made now orders nothing.

        Without clocks, atomics may have ordered two programs if the other program has made an atomic after its last
        store, and this program has made an atomic, too: a lock, a ticket, a counter that all wait for. A clash that
        only the clocks show is not certain: the answer with another order or early loads decides.
        """
        open = clashes = clash.lanes
        if not now:
            open = self._open(state, source, index, clash, loads=loads)
            if not open.any() and state.released is None:
                return
        if self.atomic is not None and certain:
            certain = not index.take(self.atomic)[clashes].any()
        others, owners, places, open = (
            np.broadcast_to(values, clashes.shape)[clashes]
            for values in (self.who(clash.others), clash.owners, index.array(), open))
        if state.synced is not None and not now:
            stored = np.zeros(1, state.synced.dtype) if self.stored is None else self.stored
            before = state.synced[others - 1] > stored.take(others - 1, mode="clip")
            synced = before & (state.synced[owners - 1] > 0)
            if self.clocks is None:
                open = ~synced
            if state.released is not None and state.acquired is not None and state.relaxed:
                released = state.released[others - 1] > stored.take(others - 1, mode="clip")
                loose = ~open & synced & ~(released & (state.acquired[owners - 1] > 0))
                if loose.any():
                    first = int(np.argmax(loose))
                    state.findings.undefined(
                        state.place(), "relaxed", source.named, element=int(places[first]), line=state.relaxed,
                        numbers=[int(others[first]) - 1, int(owners[first]) - 1])
            certain = certain and bool((open & ~synced).any())
            open = open & ~synced if certain else open
            others, owners, places = others[open], owners[open], places[open]
        if places.size:
            state.findings.race(
                state.place(), source.named, int(places[0]), (int(others[0]) - 1, int(owners[0]) - 1), certain)
