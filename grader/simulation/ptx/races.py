"""Race detector: records the threads that last wrote and read each word of a launch's memory, and checks that another
thread's access is ordered after theirs.

Barriers order the threads of a block, and so do flags with fences. Atomics order blocks: a block sees another block's
stores before that block's last atomic, if its own last atomic came later. Races within blocks are looked for in some
chunks of a launch.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import numpy as np

from grader.simulation.allocation import zeros
from grader.simulation.findings import Named
from grader.simulation.ptx.lanes import WARP, Frame, spread
from grader.simulation.ptx.regions import Reached, Region
from grader.simulation.ptx.threads import Threads
from grader.simulation.ptx.transfers import Elements
from grader.simulation.ptx.types import Array
from grader.simulation.shadow import ATOMIC, LAST, WHEN, WHO, Indexed, LastTouch

Synced = bool | Literal["volatile"]
"""The way in which an access orders itself. A volatile access counts as ordered between warps, not within one."""
Signal = Literal["arrive", "wait", "fence", "store", "load"]
"""A step by which warps of a block order themselves without meeting: see `Races.signalled`."""
MOST_WORDS = 1 << 27
"""The most words of a buffer in which races are looked for."""


class Races:
    """Race detector of a launch. A word has 2^unit bytes; `blocks` is the number of blocks of the grid. `place` returns
    the names of the memory at a byte of a region, and the index of its element of some size. `sampled`: only some
    blocks run, and only shared memory is checked. `locks`: threads may take turns in a way that is not seen.
    """

    place: Callable[[Region, int, int], tuple[Named, int]]

    def __init__(self, unit: int, blocks: int, atomics: bool, locks: bool = False) -> None:
        self.unit, self.blocks, self.atomics, self.locks, self.sampled = unit, blocks, atomics, locks, False
        self.numbers = np.zeros(0, np.int64)
        self.checked, self.threads, self.several = False, 1, False
        size = blocks if atomics else 1
        self.released, self.acquired, self.fenced = (np.zeros(size, np.int32) for _ in range(3))
        self.barrier = self.warp = self.arrived = self.waited = np.zeros((1, 1), np.int32)
        self._fences = self._looks = self.barrier
        self._owners: Array = np.zeros((1, 1), np.int64)
        self._floor: Array = self._owners
        self._frame = Frame((1, 1))
        self._whole: Array = self._owners

    def begin(self, numbers: Array, threads: int, checked: bool) -> None:
        self.numbers, self.threads, self.checked = numbers, threads, checked
        # The times at which each warp last met its block at a barrier, and its own lanes.
        self.barrier = np.zeros((numbers.size, -(-threads // WARP)), np.int32)
        self.warp = np.zeros_like(self.barrier)
        # The times at which it last arrived at a barrier in memory, and ended a wait there.
        self.arrived, self.waited = np.zeros_like(self.barrier), np.zeros_like(self.barrier)
        # The times of its last fence, and of its last look at a flag.
        self._fences, self._looks = np.zeros_like(self.barrier), np.zeros_like(self.barrier)
        self._whole = numbers[:, None].astype(np.int64) * threads + np.arange(1, threads + 1)
        self.turn_to(Frame(self._whole.shape))

    def turn_to(self, frame: Frame) -> None:
        self._frame = frame
        self._owners = frame.inside(self._whole)
        self._set_floor()

    def _set_floor(self) -> None:
        """Set the first stamp of accesses to shared memory that no barrier orders yet for all of a block."""
        floor = np.maximum(self.barrier.min(1, keepdims=True), 0).astype(np.int64)
        self._floor = self._frame.inside((np.minimum(floor, LAST) << WHEN) + 1)

    def met(self, threads: Array, clock: int, block: bool) -> None:
        """Record that threads, a mask of the whole chunk, have met at a barrier of their block, or of their warp."""
        (self.barrier if block else self.warp)[self._warps(threads)] = clock
        if block:
            self._set_floor()

    def signalled(self, threads: Array, clock: int, what: Signal) -> None:
        """Record that threads have arrived at a barrier without waiting, or have ended their wait for one, or have made
        a fence, or stored or loaded a flag. A flag publishes what its warp did before its last fence; a fence orders
        what comes later behind what the flags that the warp has loaded publish."""
        warps = self._warps(threads)
        if what in ("arrive", "wait"):
            (self.waited if what == "wait" else self.arrived)[warps] = clock
        elif what == "load":
            self._looks[warps] = clock
        elif what == "store":
            self.arrived[warps] = np.maximum(self.arrived, self._fences)[warps]
        else:
            self._fences[warps] = clock
            self.waited[warps] = np.maximum(self.waited, self._looks)[warps]

    def _warps(self, threads: Array) -> Array:
        wide = np.broadcast_to(threads, self._whole.shape)
        warps: Array = np.logical_or.reduceat(wide, np.arange(0, wide.shape[1], WARP), axis=1)
        return warps

    def synchronised(self, numbers: Array, clock: int, release: bool, acquire: bool, fence: bool) -> None:
        """Record atomics and fences of blocks. An atomic without a fence orders nothing for certain, but mostly
        does."""
        for noted, times in ((release, self.released), (acquire, self.acquired), (fence, self.fenced)):
            if noted:
                times[numbers] = clock

    def _ordered(self, other: Array, when: Array, mine: Array) -> Array:
        """Return whether accesses of threads `other` at times `when` are ordered before those of threads `mine` now.
        Threads are numbered from 1."""
        theirs, ours = (other - 1) // self.threads, (mine - 1) // self.threads
        same = theirs == ours
        known = np.zeros(other.shape, bool)
        if same.any():
            row = np.searchsorted(self.numbers, ours[same])
            first, second = ((one[same] - 1) % self.threads // WARP for one in (other, mine))
            known[same] = np.minimum(self.barrier[row, first], self.barrier[row, second]) > when[same]
            known[same] |= (self.arrived[row, first] > when[same]) & (self.waited[row, second] > when[same])
            known[same] |= (first == second) & (
                np.maximum(self.warp[row, first], self.barrier[row, first]) > when[same])
        apart = ~same
        if self.atomics and apart.any():
            known[apart] = (self.released[theirs[apart]] > when[apart]) & (self.acquired[ours[apart]] > when[apart])
        return known

    def _clash(
        self, m: Threads, region: Region, stamps: Array, mask: Array | None, *, atomic: bool = False
    ) -> Array | None:
        """Return the places, in the flattened shape of what runs, that another thread has touched without an order;
        None if there are none. `stamps` are the last touches of the words there. Threads of a block may look at a word
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
        self, m: Threads, region: Region, offsets: Array, mask: Array | None, size: int, item: int, synced: Synced
    ) -> dict[int, Array]:
        """Record a load of `size` bytes by each thread, of elements of `item` bytes. Returns, for each word of the
        load, the places in the flattened shape of what runs that may find the bytes from before the launch: one other
        block has stored the word, and nothing orders the two. The result is empty if those bytes are not kept."""
        shared = region.named.shared
        volatile = shared and synced == "volatile"
        watched = self.checked and (volatile or not synced)
        if (self.sampled and not shared) or (synced and not self.atomics) or (shared and not watched) or (
            region.touched is None and not watched) or region.raw.size >> self.unit > MOST_WORDS:
            return {}
        touched = self._touched(region)
        words = offsets >> self.unit
        loose: dict[int, Array] = {}
        for step in range(max(1, size >> self.unit)):
            here = words + step if step else words
            stamps = touched.writer.take(here, mode="clip")
            clash = None if synced and not volatile else self._clash(m, region, stamps, mask)
            if clash is not None:
                self._tell(m, region, here, stamps, clash, item, volatile=volatile)
                if region.alone is not None:
                    by = region.alone[np.broadcast_to(here, m.shape).reshape(-1)[clash]]
                    mine = np.broadcast_to(self._owners, m.shape).reshape(-1)[clash]
                    loose[step] = clash[(by > 0) & (by != (mine - 1) // self.threads + 1)]
            elif self.atomics and not shared:
                self._look_for_fence(m, region, here, stamps, mask, item)
            if watched:
                here, new = self._new(m, here, mask, ATOMIC if volatile else 0)
                touched.read(Indexed(here), new, (self._warp,) if shared else (self._warp, self._block))
        return loose

    def _warp(self, stamps: Array) -> Array:
        """Return the warps of stamps, counted over the whole grid."""
        who = (stamps & WHO) - 1
        if self.threads % WARP:
            block, thread = np.divmod(who, self.threads)
            who = block * (self.threads + -self.threads % WARP) + thread
        return who // WARP

    def _block(self, stamps: Array) -> Array:
        return ((stamps & WHO) - 1) // self.threads

    def _look_for_fence(
        self, m: Threads, region: Region, words: Array, stamps: Array, mask: Array | None, item: int
    ) -> None:
        """Record a word that another block has stored and published by an atomic, without a fence between the two."""
        near = stamps != 0 if mask is None else (stamps != 0) & mask
        at = np.flatnonzero(np.broadcast_to(near, m.shape)) if near.any() else np.zeros(0, np.int64)
        words, stamps, owners = (np.broadcast_to(one, m.shape).reshape(-1)[at] for one in (words, stamps, self._owners))
        theirs, ours = ((one - 1) // self.threads for one in (stamps & WHO, owners))
        loose = np.flatnonzero((theirs != ours) & (self.fenced[theirs] <= stamps >> WHEN) & (stamps & ATOMIC == 0))
        if loose.size:
            first = loose[0]
            named, element = self.place(region, int(words[first]) << self.unit, item)
            m.findings.undefined(
                m.spot(), "relaxed", named, element=element, numbers=[int(theirs[first]), int(ours[first])])

    def read_by_warp(self, m: Threads, who: tuple[Array, Array], place: Elements, size: int) -> None:
        """Record elements of shared memory, of `size` bytes, that another warp has stored and that the warp of one of
        the threads `who` reads, without an order."""
        if (touched := place.region.touched) is None:
            return
        stamps = touched.writer.take(place.index * size >> self.unit).reshape(len(place.index), -1)
        row, at = np.nonzero((stamps >= self._floor[who[0]]) & (stamps & ATOMIC == 0))
        mine = np.broadcast_to(self._owners, m.shape)[who][row]
        bad = np.flatnonzero(~self._ordered(stamps[row, at] & WHO, stamps[row, at] >> WHEN, mine)) if row.size else row
        if bad.size:
            index = int(place.index.reshape(len(place.index), -1)[row[bad[0]], at[bad[0]]])
            named, element = self.place(place.region, index * size, size)
            m.findings.undefined(
                m.spot(), "shared", named, element=element, numbers=[int(mine[bad[0]] - 1) // self.threads],
                certain=not self.locks)

    def changed(
        self, m: Threads, region: Region, offsets: Array, mask: Array | None, size: int, synchronises: bool
    ) -> None:
        """Record atomics that are about to be made. A barrier, or atomics of both blocks in between, have to order them
        with plain loads and stores; an atomic that `synchronises` does so for what comes before it."""
        if not (self.checked if region.named.shared else self.atomics and not self.sampled) or (
                region.raw.size >> self.unit > MOST_WORDS):
            return
        touched = self._touched(region)
        words = offsets >> self.unit
        for step in range(max(1, size >> self.unit)):
            here = words + step if step else words
            for before in (touched.writer, *(touched.readers if self.checked else ())):
                stamps = before.take(here, mode="clip")
                clash = self._clash(m, region, np.where(stamps & ATOMIC, 0, stamps), mask, atomic=True)
                if clash is not None:
                    self._tell(m, region, here, stamps, clash, size)
            here, new = self._new(m, here, mask, ATOMIC, synchronises)
            touched.writer[here] = new
            if region.keeps:
                self._alone(region)[here] = -1

    def _new(
        self, m: Threads, words: Array, mask: Array | None, kind: int = 0, later: bool = False
    ) -> tuple[Array, Array]:
        """Return the words that threads touch now, and their stamps. `later`: at the next time."""
        stamps = self._owners + ((min(m.clock + later, LAST) << WHEN) + kind)
        words, new = (spread(one, m.shape) for one in (words, stamps))
        if mask is None:
            return words, new
        mask = spread(mask, m.shape)
        return words[mask], new[mask]

    def stored(
        self, m: Threads, piece: Reached, size: int, parts: list[tuple[Array, Array]], dtype: np.dtype[Any],
        synced: Synced,
    ) -> None:
        """Record a store that is about to be made. Each of `parts` has the indices of elements, and their values."""
        region, mask = piece.region, piece.mask
        shared = region.named.shared
        volatile = shared and synced == "volatile"
        if (self.sampled and not shared) or (synced and not volatile) or (shared and not self.checked) or (
            region.raw.size >> self.unit > MOST_WORDS
        ):
            return
        touched = self._touched(region)
        words = piece.offsets >> self.unit
        for step in range(max(1, size * len(parts) >> self.unit)):
            here = words + step if step else words
            stamps = touched.writer.take(here, mode="clip")
            clash = self._clash(m, region, stamps, mask)
            if clash is not None:
                index, value = parts[min(len(parts) - 1, (step << self.unit) // size)]
                # Indices among the threads that take part.
                place = clash if mask is None else np.cumsum(np.broadcast_to(mask, m.shape))[clash] - 1
                old = region.view(dtype)[index[place]]
                clash = clash[_bits(old) != _bits(value[place])]
                if clash.size:
                    self._tell(m, region, here, stamps, clash, size, different=True, volatile=volatile)
            for readers in touched.readers if self.checked else ():
                stamps = readers.take(here, mode="clip")
                clash = self._clash(m, region, stamps, mask)
                if clash is not None:
                    self._tell(m, region, here, stamps, clash, size, volatile=volatile)
            here, new = self._new(m, here, mask)
            touched.writer[here] = new
            if region.keeps:
                self._claim(self._alone(region), here, self._block(new) + 1)

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

    def landed(self, m: Threads, region: Region, words: Array, threads: Array) -> None:
        """Record words that arrive now, and the threads of the chunk that have copied them."""
        if self.checked and region.touched is not None:
            new = self._whole.reshape(-1)[threads] + (min(m.clock, LAST) << WHEN)
            for step in range(max(1, 4 >> self.unit)):
                region.touched.writer[(words << 2 >> self.unit) + step] = new

    def settled(self, m: Threads, piece: Reached, view: Array, parts: list[tuple[Array, Array]]) -> None:
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
            numbers = sorted((int(mine[one]) - 1) // self.threads for one in (others[-1], at))
            named, element = self.place(piece.region, int(index[at]) * view.itemsize, view.itemsize)
            if numbers[0] != numbers[1]:
                m.findings.race(m.spot(), named, element, (numbers[0], numbers[1]), True)
            else:
                m.findings.undefined(
                    m.spot(), "shared" if named.shared else "lanes", named, element=element, numbers=numbers[:1])
            return

    def _touched(self, region: Region) -> LastTouch:
        if region.touched is None:
            region.touched = LastTouch((region.raw.size >> self.unit) + 1)
        return region.touched

    def _tell(
        self, m: Threads, region: Region, words: Array, stamps: Array, clash: Array, item: int, *,
        different: bool = False, volatile: bool = False,
    ) -> None:
        """Record the first clash between blocks, between warps of a block, and within a warp, with the index of an
        element of `item` bytes. `different`: both threads store, and different values; `volatile`: only clashes within
        a warp count, as a volatile access may be meant for other warps."""
        words, stamps, owners = (
            np.broadcast_to(one, m.shape).reshape(-1)[clash] for one in (words, stamps, self._owners))
        theirs, ours = (stamps & WHO) - 1, owners - 1
        same = theirs // self.threads == ours // self.threads
        in_warp = self._warp(stamps) == self._warp(owners)
        for among, which in (("blocks", ~same), ("warps", same & ~in_warp), ("lanes", in_warp)):
            here = np.flatnonzero(which)
            if not here.size or (volatile and among != "lanes"):
                continue
            one, other = int(theirs[here[0]]), int(ours[here[0]])
            named, element = self.place(region, int(words[here[0]]) << self.unit, item)
            blocks = one // self.threads, other // self.threads
            if among == "blocks":
                # Atomics of others may have changed the value since.
                m.findings.race(m.spot(), named, element, blocks, different and not stamps[here[0]] & ATOMIC)
            elif among == "lanes":
                # Lanes of a warp mostly run in step, so the answer may well be right: this becomes a remark.
                m.findings.undefined(m.spot(), "warp", named, element=element, numbers=blocks[:1])
            else:
                m.findings.undefined(
                    m.spot(), "shared" if named.shared else "barrier", named, element=element, numbers=blocks[:1],
                    certain=not self.locks)


def _bits(value: Array) -> Array:
    return value.view(f"u{value.dtype.itemsize}") if value.dtype.kind == "f" else value
