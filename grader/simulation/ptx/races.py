"""Race detector: records the threads that last wrote and read each word of a launch's memory, and checks that another
thread's access is ordered after theirs.

`Ordering` knows which accesses are ordered. Races within blocks are looked for in some chunks of a launch.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from grader.plan.findings import Undefinable
from grader.simulation.allocation import zeros
from grader.simulation.findings import MemoryNames
from grader.simulation.ptx.engines import Elements
from grader.simulation.ptx.lanes import WARP, Array, spread
from grader.simulation.ptx.ordering import Ordering
from grader.simulation.ptx.regions import Region, ResolvedAccess
from grader.simulation.shadow import ATOMIC, LAST, WHEN, WHO, IndexedElements, LastTouch

if TYPE_CHECKING:
    from grader.simulation.ptx.machine import Machine


class Synced(Enum):
    """The way in which an access orders itself."""

    PLAIN = "not at all"
    READ_ONLY = "not at all, and a load may miss all stores of its launch"
    VOLATILE = "between warps, not within one"
    DATA = "as a volatile load of global memory on which no condition depends, so no flag"
    BLOCK = "within its block"
    GRID = "between blocks"

    @property
    def orders(self) -> bool:
        return self not in (Synced.PLAIN, Synced.READ_ONLY)


MOST_WORDS = 1 << 27
"""The most words of a buffer that is checked for races."""


class Races(Ordering):
    """Race detector of a launch of `blocks` blocks of `threads` threads. A word has 2^unit bytes. `place` returns the
    names of the memory at a byte of a region, and the index of its element of some size. `sampled`: only some blocks
    run, and only shared memory is checked. `locks`: threads may take turns in a way that is not seen.
    """

    place: Callable[[Region, int, int], tuple[MemoryNames, int]]

    def __init__(self, unit: int, blocks: int, threads: int, atomics: bool, locks: bool = False) -> None:
        super().__init__(blocks, threads, atomics)
        self.unit, self.locks, self.sampled = unit, locks, False
        # By their time, accesses of the chunk that store and those that load: their lines, and where they begin.
        self._past = dict[tuple[int, bool], list[tuple[int, Region, int]]]()

    def begin(self, numbers: Array, checked: bool) -> None:
        super().begin(numbers, checked)
        self._past = {}

    def _remember(self, m: Machine, region: Region, words: Array, stores: bool) -> None:
        if self.checked and words.size:
            self._past.setdefault((min(m.clock, LAST), stores), []).append((m.line(), region, int(words.flat[0])))

    def _line_of(self, named: MemoryNames, region: Region, stamp: int, stores: bool) -> int:
        """Return the line of the access of a stamp; 0 if several lines used this memory then, or it is not known."""
        lines = {line for line, other, word in self._past.get((stamp >> WHEN, stores), ())
                 if other is region and self.place(region, word << self.unit, 1)[0] == named}
        return lines.pop() if len(lines) == 1 else 0

    def _conflicts(
        self, m: Machine, region: Region, stamps: Array, mask: Array | None, *, atomic: bool = False
    ) -> Array | None:
        """Return the places, in the flattened shape of what runs, that another thread has touched without an order;
        None if there are none. `stamps` are the last touches of the words there. Threads of a block may load a word
        of global memory before they change it by an `atomic`, as for `atomicMax`."""
        if region.named.shared:
            # The last barrier of a block orders all accesses before it.
            near = stamps >= self._floor
        elif stamps.any():
            near = stamps != 0
        else:
            return None
        if mask is not None:
            near = near & mask
        if not near.any():
            return None
        at = np.flatnonzero(near & (stamps & WHO != self._owners))
        if at.size:
            flat = np.broadcast_to(stamps, m.shape).reshape(-1)[at]
            mine = np.broadcast_to(self._owners, m.shape).reshape(-1)[at]
            open = ~self._ordered(flat & WHO, flat >> WHEN, mine)
            if not region.named.shared:
                open &= (self._block(flat) != self._block(mine)) | ((flat & ATOMIC == 0) & (not atomic))
            at = at[open]
        return at if at.size else None

    def loaded(
        self, m: Machine, region: Region, offsets: Array, mask: Array | None, size: int, item: int, synced: Synced
    ) -> dict[int, Array]:
        """Record a load of `size` bytes by each thread, of elements of `item` bytes. Returns, for each word of the
        load, the places in the flattened shape of what runs that may find the bytes from before the launch: one other
        block has stored the word, and nothing orders the two. The result is empty if those bytes are not kept."""
        shared = region.named.shared
        orders, volatile = synced.orders, shared and synced is Synced.VOLATILE
        watched = self.checked and (volatile or not orders)
        if (self.sampled and not shared) or (orders and not self.atomics) or (shared and not watched) or (
            region.touched is None and not watched) or region.raw.size >> self.unit > MOST_WORDS:
            return {}
        touched, words = self._touched(region), offsets >> self.unit
        unordered: dict[int, Array] = {}
        for step in range(max(1, size >> self.unit)):
            here = words + step if step else words
            stamps = touched.writer.take(here, mode="clip")
            if synced is Synced.READ_ONLY:
                stored = self._of_others(m, here, stamps, mask, own=True)
                self._undefined(m, "read_only", region, *stored, item, stored[1] != 0)
            conflict = None if orders and not volatile else self._conflicts(m, region, stamps, mask)
            if conflict is not None:
                self._report(m, region, here, stamps, conflict, item, True, how="volatile" if volatile else "load")
                if region.alone is not None:
                    by = region.alone[np.broadcast_to(here, m.shape).reshape(-1)[conflict]]
                    mine = np.broadcast_to(self._owners, m.shape).reshape(-1)[conflict]
                    unordered[step] = conflict[(by > 0) & (by != (mine - 1) // self.threads + 1)]
            elif self.atomics and not shared:
                self._check_fences(m, region, here, stamps, mask, item)
                if synced is Synced.BLOCK:
                    self._check_scope(m, region, here, stamps, mask, item)
                if region.volatile is not None and synced is Synced.DATA:
                    self._check_fences(m, region, here, region.volatile.take(here, mode="clip"), mask, item)
                elif region.volatile is not None and orders:
                    region.volatile[self._new(m, here, mask)[0]] = 0
            if watched:
                here, new = self._new(m, here, mask, ATOMIC if volatile else 0)
                self._remember(m, region, here, False)
                touched.read(IndexedElements(here), new, (self._warp,) if shared else (self._warp, self._block))
        return unordered

    def _warp(self, stamps: Array) -> Array:
        """Return the warps of stamps, counted over the whole grid."""
        who = (stamps & WHO) - 1
        if self.threads % WARP:
            block, thread = np.divmod(who, self.threads)
            who = block * (self.threads + -self.threads % WARP) + thread
        return who // WARP

    def _block(self, stamps: Array) -> Array:
        return ((stamps & WHO) - 1) // self.threads

    def _check_fences(
        self, m: Machine, region: Region, words: Array, stamps: Array, mask: Array | None, item: int
    ) -> None:
        """Record a word that another block has stored and published by a flag, without a fence between the two, or
        without one between a look at the flag and this load."""
        words, stamps, owners = self._of_others(m, words, np.where(stamps & ATOMIC, 0, stamps), mask)
        if stamps.size:
            self._undefined(m, "relaxed", region, words, stamps, owners, item,
                            self._of(self.grid.fenced, stamps & WHO) <= stamps >> WHEN)
            self._undefined(m, "unacquired", region, words, stamps, owners, item,
                            self._of(self.grid.confirmed, owners) <= stamps >> WHEN)

    def _check_scope(
        self, m: Machine, region: Region, words: Array, stamps: Array, mask: Array | None, item: int
    ) -> None:
        """Record a word that an atomic of another block has changed, and that an atomic or a flag with the scope of a
        block uses."""
        words, stamps, owners = self._of_others(m, words, np.where(stamps & ATOMIC, stamps, 0), mask)
        if stamps.size:
            self._undefined(m, "scope", region, words, stamps, owners, item,
                            ~self._ordered(stamps & WHO, stamps >> WHEN, owners))

    def _of_others(
        self, m: Machine, words: Array, stamps: Array, mask: Array | None, own: bool = False
    ) -> tuple[Array, Array, Array]:
        """Return the words that other blocks, or with `own` any, have touched, with stamps and the threads here now."""
        near = stamps != 0 if mask is None else (stamps != 0) & mask
        at = np.flatnonzero(np.broadcast_to(near, m.shape)) if near.any() else np.zeros(0, np.int64)
        words, stamps, owners = (
            np.broadcast_to(values, m.shape).reshape(-1)[at] for values in (words, stamps, self._owners))
        others = own | (self._block(stamps) != self._block(owners))
        return words[others], stamps[others], owners[others]

    def _undefined(
        self, m: Machine, what: Undefinable, region: Region, words: Array, stamps: Array, owners: Array, item: int,
        bad: Array,
    ) -> None:
        """Record the first of the words that are `bad`."""
        if bad.any():
            first = int(np.argmax(bad))
            named, element = self.place(region, int(words[first]) << self.unit, item)
            blocks = int(self._block(stamps[first])), int(self._block(owners[first]))
            m.findings.undefined(m.site(), what, named, element=element, numbers=blocks)

    def read_by_engine(self, m: Machine, who: tuple[Array, Array], place: Elements, size: int) -> None:
        """Record elements of shared memory, of `size` bytes, that the copy engine or the tensor cores read for the
        threads `who`: those without an order after another warp's store, and those that threads of the block have
        stored without a fence for the engine since."""
        if not self.checked or (touched := place.region.touched) is None:
            return
        places = place.index.reshape(len(place.index), -1)
        stamps = touched.writer.take(places * size >> self.unit)
        row, at = np.nonzero((stamps >= self._floor[who[0]]) & (stamps & ATOMIC == 0))
        mine = np.broadcast_to(self._owners, m.shape)[who][row]
        foreign = self._warp(stamps[row, at]) != self._warp(mine)
        row, at, mine = row[foreign], at[foreign], mine[foreign]
        bad = np.flatnonzero(~self._ordered(stamps[row, at] & WHO, stamps[row, at] >> WHEN, mine)) if row.size else row
        if bad.size:
            named, element = self.place(place.region, int(places[row[bad[0]], at[bad[0]]]) * size, size)
            m.findings.undefined(
                m.site(), "shared", named, element=element, numbers=[int(mine[bad[0]] - 1) // self.threads],
                certain=not self.locks)
        # The words of `cp.async` need no fence in practice, and are not told apart from stores.
        if m.spaces.copies.started:
            return
        blocks = m.numbers_here()[who[0]]
        fences = self.times.engine_fences[np.searchsorted(self.numbers, blocks)]
        row, at = np.nonzero((stamps != 0) & (stamps >> WHEN >= fences[:, None]) & place.inside.reshape(stamps.shape))
        if row.size:
            named, element = self.place(place.region, int(places[row[0], at[0]]) * size, size)
            m.findings.undefined(m.site(), "engine", named, element=element, numbers=[int(blocks[row[0]])])

    def meets(self, m: Machine, region: Region, offsets: Array, mask: Array | None) -> None:
        """Record threads that use a barrier in shared memory which another thread has set up without an order."""
        if self.checked and region.touched is not None:
            words = offsets >> self.unit
            stamps = region.touched.writer.take(words, mode="clip")
            if (conflict := self._conflicts(m, region, stamps, mask)) is not None:
                self._report(m, region, words, stamps, conflict, 8, True, how="load")

    def changed(
        self, m: Machine, region: Region, offsets: Array, mask: Array | None, size: int, grid: bool
    ) -> None:
        """Record atomics that are about to be made. A barrier, or atomics of both blocks in between, have to order them
        with plain loads and stores. `grid`: they are atomic for other blocks, too."""
        if not (self.checked if region.named.shared else self.atomics and not self.sampled) or (
                region.raw.size >> self.unit > MOST_WORDS):
            return
        touched = self._touched(region)
        words = offsets >> self.unit
        for step in range(max(1, size >> self.unit)):
            here = words + step if step else words
            for before in (touched.writer, *(touched.readers if self.checked else ())):
                stamps = before.take(here, mode="clip")
                conflict = self._conflicts(m, region, np.where(stamps & ATOMIC, 0, stamps), mask, atomic=True)
                if conflict is not None:
                    self._report(m, region, here, stamps, conflict, size, before is touched.writer)
            before, (at, new) = touched.writer.take(here, mode="clip"), self._new(m, here, mask, ATOMIC)
            self._remember(m, region, at, True)
            touched.writer[at] = new
            if not (grid or region.named.shared):
                # Several blocks change a word at once, and one is the last.
                for stamps in before, touched.writer.take(here, mode="clip"):
                    self._check_scope(m, region, here, stamps, mask, size)
            if region.keeps:
                self._alone(region)[at] = -1
            if region.volatile is not None:
                region.volatile[at] = 0

    def _new(
        self, m: Machine, words: Array, mask: Array | None, kind: int = 0
    ) -> tuple[Array, Array]:
        """Return the words that threads touch now, and their stamps."""
        stamps = self._owners + ((min(m.clock, LAST) << WHEN) + kind)
        words, new = (spread(values, m.shape) for values in (words, stamps))
        if mask is None:
            return words, new
        mask = spread(mask, m.shape)
        return words[mask], new[mask]

    def stored(
        self, m: Machine, piece: ResolvedAccess, size: int, parts: list[tuple[Array, Array]], dtype: np.dtype[Any],
        synced: Synced,
    ) -> None:
        """Record a store that is about to be made. Each of `parts` has the indices of elements, and their values."""
        region, mask = piece.region, piece.mask
        shared = region.named.shared
        volatile = shared and synced is Synced.VOLATILE
        if (self.sampled and not shared) or synced is Synced.GRID or (shared and not self.checked) or (
            region.raw.size >> self.unit > MOST_WORDS
        ):
            return
        touched = self._touched(region)
        words = piece.offsets >> self.unit
        for step in range(max(1, size * len(parts) >> self.unit)):
            here = words + step if step else words
            if synced.orders and not volatile:
                here, new = self._new(m, here, mask, ATOMIC if synced is Synced.BLOCK else 0)
                (touched.writer if synced is Synced.BLOCK else self._volatile(region))[here] = new
                continue
            stamps = touched.writer.take(here, mode="clip")
            conflict = self._conflicts(m, region, stamps, mask)
            if conflict is not None:
                index, value = parts[min(len(parts) - 1, (step << self.unit) // size)]
                # Indices among the threads that take part.
                place = conflict if mask is None else np.cumsum(np.broadcast_to(mask, m.shape))[conflict] - 1
                old = region.view(dtype)[index[place]]
                conflict = conflict[_bits(old) != _bits(value[place])]
                if conflict.size:
                    self._report(
                        m, region, here, stamps, conflict, size, True, how="volatile" if volatile else "different")
            for readers in touched.readers if self.checked else ():
                stamps = readers.take(here, mode="clip")
                conflict = self._conflicts(m, region, stamps, mask)
                if conflict is not None:
                    self._report(
                        m, region, here, stamps, conflict, size, False, how="volatile" if volatile else "")
            here, new = self._new(m, here, mask)
            self._remember(m, region, here, True)
            touched.writer[here] = new
            if region.keeps:
                self._claim(self._alone(region), here, self._block(new) + 1)

    def _volatile(self, region: Region) -> Array:
        if region.volatile is None:
            region.volatile = zeros(self._touched(region).writer.size, np.int64)
        return region.volatile

    def _alone(self, region: Region) -> Array:
        if region.alone is None:
            region.before, region.alone = region.raw.copy(), zeros(self._touched(region).writer.size, np.int32)
        return region.alone

    def _claim(self, alone: Array, words: Array, blocks: Array) -> None:
        """Record that blocks, counted from 1, store to words."""
        before = alone[words]
        alone[words] = np.where((before == 0) | (before == blocks), blocks, -1)
        # If several blocks store at once, the word holds the last one.
        alone[words[alone[words] != blocks]] = -1

    def completed(self, m: Machine, region: Region, words: Array, threads: Array) -> None:
        """Record words that arrive now, and the threads of the chunk that have copied them."""
        if self.checked and region.touched is not None:
            new = self._whole.reshape(-1)[threads] + (min(m.clock, LAST) << WHEN)
            self._remember(m, region, words << 2 >> self.unit, True)
            for step in range(max(1, 4 >> self.unit)):
                region.touched.writer[(words << 2 >> self.unit) + step] = new

    def settled(self, m: Machine, piece: ResolvedAccess, view: Array, parts: list[tuple[Array, Array]]) -> None:
        """Record, after a store, threads that stored different values to the same place at the same time."""
        if piece.region.named.shared and not self.checked:
            return
        for index, value in parts:
            kept = view[index]
            different = _bits(kept) != _bits(value)
            if not different.any():
                continue
            at = int(np.argmax(different))
            mine = np.broadcast_to(self._owners, m.shape)
            mine = mine.reshape(-1) if piece.mask is None else mine[np.broadcast_to(piece.mask, m.shape)]
            others = np.flatnonzero(index == index[at])
            numbers = sorted((int(mine[position]) - 1) // self.threads for position in (others[-1], at))
            named, element = self.place(piece.region, int(index[at]) * view.itemsize, view.itemsize)
            if numbers[0] != numbers[1]:
                m.findings.race(m.site(), named, element, (numbers[0], numbers[1]), True)
            else:
                m.findings.undefined(
                    m.site(), "shared" if named.shared else "lanes", named, element=element, numbers=numbers[:1])
            return

    def _touched(self, region: Region) -> LastTouch:
        if region.touched is None:
            region.touched = LastTouch((region.raw.size >> self.unit) + 1)
        return region.touched

    def _report(
        self, m: Machine, region: Region, words: Array, stamps: Array, conflict: Array, item: int, stores: bool,
        *, how: Literal["", "load", "different", "volatile"] = "",
    ) -> None:
        """Record the first clash between blocks, between warps of a block, and within a warp, with the index of an
        element of `item` bytes. The earlier access `stores`, or loads. `load`: the later thread loads; `different`:
        both store, and different values; `volatile`: only clashes within a warp count, as a volatile access may be
        meant for other warps."""
        words, stamps, owners = (
            np.broadcast_to(values, m.shape).reshape(-1)[conflict] for values in (words, stamps, self._owners))
        earlier_threads, later_threads = (stamps & WHO) - 1, owners - 1
        same = earlier_threads // self.threads == later_threads // self.threads
        in_warp = self._warp(stamps) == self._warp(owners)
        for among, which in (("blocks", ~same), ("warps", same & ~in_warp), ("lanes", in_warp)):
            here = np.flatnonzero(which)
            if not here.size or (how == "volatile" and among != "lanes"):
                continue
            earlier_thread, later_thread = int(earlier_threads[here[0]]), int(later_threads[here[0]])
            named, element = self.place(region, int(words[here[0]]) << self.unit, item)
            blocks = earlier_thread // self.threads, later_thread // self.threads
            earlier = partial(self._line_of, named, region, int(stamps[here[0]]), stores)
            if among == "blocks" and how == "load" and self._announced(later_thread, int(stamps[here[0]])):
                m.findings.undefined(m.site(), "unordered", named, element=element, numbers=blocks, certain=False)
            elif among == "blocks":
                # Atomics of others may have changed the value since.
                m.findings.race(m.site(), named, element, blocks, how == "different" and not stamps[here[0]] & ATOMIC)
            elif among == "lanes":
                # Lanes of a warp mostly run in step, so the answer may well be right: this becomes a remark.
                m.findings.undefined(m.site(), "warp", named, element=element, numbers=blocks[:1], earlier=earlier)
            else:
                m.findings.undefined(
                    m.site(), "shared" if named.shared else "barrier", named, element=element, numbers=blocks[:1],
                    certain=not self.locks, earlier=earlier)

    def _announced(self, thread: int, stamp: int) -> bool:
        """Return whether a thread's block has loaded a flag since the store of a stamp, which this may announce."""
        times = self.grid.acquired[thread // self.threads] if self.atomics else np.zeros(1)
        return not stamp & ATOMIC and bool(times.max() > stamp >> WHEN)


def _bits(value: Array) -> Array:
    return value.view(f"u{value.dtype.itemsize}") if value.dtype.kind == "f" else value
