"""Order of a launch's threads: which accesses come before which others, whatever a GPU runs first.

A barrier orders the warps that meet there, and flags with fences those of a block. Flags and atomics order blocks: a
warp sees what another block's warp had stored, or had met at a barrier, before it last stored to a flag, if the warp
itself has loaded a flag since.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import Literal

import numpy as np

from grader.simulation.allocation import zeros
from grader.simulation.ptx.lanes import WARP, Array, Frame
from grader.simulation.shadow import LAST, WHEN

Signal = Literal["arrive", "wait", "release", "acquire", "store", "relaxed", "load", "peek"]
"""A step by which warps order themselves without meeting: see `Ordering.signalled`."""
MOST_WARPS = 1 << 26
"""The most warps of a grid that are told apart by their flags; in a larger one those of a block share all of theirs."""


@dataclass(slots=True)
class GridTimes:
    """Times of the warps of a grid, (blocks, warps), or (blocks, 1) where those of a block share theirs."""

    released: Array
    """Before it, other blocks can see all accesses of a warp."""
    fenced: Array
    """The same by the rules of the memory model, which ask for fences: an earlier time."""
    acquired: Array
    """The time of a warp's last look at another block's flags."""
    confirmed: Array
    """The same by the rules of the memory model."""


@dataclass(slots=True)
class ChunkTimes:
    """Times of the warps of the blocks that run, (blocks, warps)."""

    met: Array
    """The time at which a warp last met its own lanes."""
    barrier: Array
    """(blocks, warps, warps): before it, the second warp sees all that the first one has done, since barriers lie
    between: one of both, or one each with a third warp."""
    arrived: Array
    """The time at which a warp last arrived at a barrier in memory."""
    waited: Array
    """The time at which it last ended a wait there."""
    fences: Array
    """The time of its last fence."""
    polls: Array
    """The time of its last look at a flag."""
    covered: Array
    """Before it, a fence for other blocks follows its accesses."""
    known: Array
    """The time of the last such fence that it comes after: only a flag that is stored after a fence publishes what the
    fence covers."""
    engine_fences: Array
    """(blocks,): the time of a block's last fence for the copy engine."""


class Ordering:
    """Order of the threads of a launch of `blocks` blocks of `threads` threads. `checked`: races within the blocks that
    run are looked for. `atomics`: blocks may order themselves."""

    def __init__(self, blocks: int, threads: int, atomics: bool) -> None:
        self.threads, self.atomics, self.checked = threads, atomics, False
        self.numbers = np.zeros(0, np.int64)
        warps = -(-threads // WARP)
        shape = blocks if atomics else 1, warps if atomics and blocks * warps <= MOST_WARPS else 1
        self.grid = GridTimes(*(zeros(prod(shape), np.int32).reshape(shape) for _ in range(4)))
        self.times = _no_times(1, 1)
        self._owners: Array = np.zeros((1, 1), np.int64)
        self._floor: Array = self._owners
        self._frame = Frame((1, 1))
        self._whole: Array = self._owners

    def begin(self, numbers: Array, checked: bool) -> None:
        self.numbers, self.checked = numbers, checked
        self.times = _no_times(numbers.size, -(-self.threads // WARP))
        self._whole = numbers[:, None].astype(np.int64) * self.threads + np.arange(1, self.threads + 1)
        self.select(Frame(self._whole.shape))

    def select(self, frame: Frame) -> None:
        self._frame = frame
        self._owners = frame.narrow(self._whole)
        self._set_floor()

    def _set_floor(self) -> None:
        """Set the first stamp of accesses to shared memory that no barrier orders yet for all of a block."""
        floor = np.maximum(self.times.barrier.min((1, 2))[:, None], 0).astype(np.int64)
        self._floor = self._frame.narrow((np.minimum(floor, LAST) << WHEN) + 1)

    def met(self, threads: Array, clock: int, block: bool) -> None:
        """Record that threads, a mask of the whole chunk, have met at a barrier of their block, or of their warp."""
        warps = self._warps(threads)
        if not block:
            self.times.met[warps] = clock
            return
        # Mostly all warps meet, and need no comparing.
        seen = clock if warps.all() else np.where(warps, clock, self._times_seen(warps))[:, :, None]
        np.copyto(self.times.barrier, seen, where=warps[:, None, :])
        self._set_floor()
        self._share(warps)

    def _times_seen(self, warps: Array) -> Array:
        """Return, for each warp of the chunk, the time before which one of `warps` sees all that it has done, since
        barriers lie between."""
        seen: Array = np.where(warps[:, None, :], self.times.barrier, 0).max(2)
        return seen

    def signalled(self, threads: Array, clock: int, what: Signal, grid: bool = False) -> None:
        """Record that threads have arrived at a barrier without waiting, or have ended their wait for one, or have
        stored or loaded a flag, or have made a fence, which releases and acquires. A flag publishes what its warp did
        before it last released; what comes after it acquires follows what the flags that it has loaded publish.
        `grid`: other blocks may see it."""
        warps, times = self._warps(threads), self.times
        match what:
            case "arrive":
                times.arrived[warps] = clock
            case "wait":
                times.waited[warps] = clock
            case "load" | "peek":
                times.polls[warps] = clock
            case "release":
                times.fences[warps] = clock
            case "store" | "relaxed":
                times.arrived[warps] = np.maximum(times.arrived, times.fences)[warps]
            case "acquire":
                times.waited[warps] = np.maximum(times.waited, times.polls)[warps]
        if self.atomics and grid:
            self._signalled_to_grid(warps, clock, what)
        elif self.atomics and what in ("wait", "load", "peek"):
            self._share(warps)

    def _signalled_to_grid(self, warps: Array, clock: int, what: Signal) -> None:
        """Record a step that other blocks may see. They mostly see flags in order without a fence, too, but for a
        `relaxed` store, which asks for no order; a `peek` is such a load, which mostly is in order."""
        match what:
            case "load" | "peek":
                for times in (self.grid.acquired, self.grid.confirmed)[: 1 + (what == "load")]:
                    self._raise(times, np.where(warps, clock, 0))
            case "acquire":
                self._raise(self.grid.confirmed, np.where(warps, self.grid.acquired[self.numbers], 0))
            case "release":
                self.times.covered = np.maximum(self.times.covered, self._times_before(warps, clock))
                self.times.known[warps] = clock
            case "store" | "relaxed":
                before = self._times_before(warps, clock)
                known = np.where(warps, self.times.known, 0).max(1, keepdims=True)
                self._raise(self.grid.fenced, np.minimum(self.times.covered, known))
                asked = np.minimum(before, self.grid.fenced[self.numbers])
                self._raise(self.grid.released, before if what == "store" else asked)

    def _times_before(self, warps: Array, clock: int) -> Array:
        """Return, for each warp of the chunk, the time before which its accesses come before what `warps` do now."""
        waited = np.where(warps, self.times.waited, 0).max(1, keepdims=True)
        return np.where(warps, clock, np.maximum(self._times_seen(warps), np.minimum(self.times.arrived, waited)))

    def _share(self, warps: Array) -> None:
        """Record that `warps` have seen all flags that their block has, and come after its fences."""
        if self.atomics:
            for times in (self.grid.acquired, self.grid.confirmed):
                self._raise(times, np.where(warps, times[self.numbers].max(1, keepdims=True), 0))
            np.copyto(self.times.known, self.times.known.max(1, keepdims=True), where=warps)

    def _raise(self, times: Array, new: Array) -> None:
        """Raise times of the chunk's blocks."""
        if times.shape[1] < new.shape[1]:
            new = new.max(1, keepdims=True)
        times[self.numbers] = np.maximum(times[self.numbers], new)

    def _warps(self, threads: Array) -> Array:
        wide = np.broadcast_to(threads, self._whole.shape)
        warps: Array = np.logical_or.reduceat(wide, np.arange(0, wide.shape[1], WARP), axis=1)
        return warps

    def _ordered(self, other: Array, when: Array, mine: Array) -> Array:
        """Return whether accesses of threads `other` at times `when` are ordered before those of threads `mine` now.
        Threads are numbered from 1."""
        other_blocks, own_blocks = (other - 1) // self.threads, (mine - 1) // self.threads
        same = other_blocks == own_blocks
        known = np.zeros(other.shape, bool)
        if same.any():
            row = np.searchsorted(self.numbers, own_blocks[same])
            first, second = ((who[same] - 1) % self.threads // WARP for who in (other, mine))
            known[same] = self.times.barrier[row, first, second] > when[same]
            known[same] |= (self.times.arrived[row, first] > when[same]) & (self.times.waited[row, second] > when[same])
            known[same] |= (first == second) & (
                np.maximum(self.times.met[row, first], self.times.barrier[row, first, first]) > when[same])
        apart = ~same
        if self.atomics and apart.any():
            before, after = self._of(self.grid.released, other[apart]), self._of(self.grid.acquired, mine[apart])
            known[apart] = np.minimum(before, after) > when[apart]
        return known

    def _of(self, times: Array, who: Array) -> Array:
        """Return the times of the warps of threads, which are numbered from 1."""
        block, thread = np.divmod(who - 1, self.threads)
        warp_times: Array = times[block, np.minimum(thread // WARP, times.shape[1] - 1)]
        return warp_times


def _no_times(blocks: int, warps: int) -> ChunkTimes:
    met, arrived, waited, fences, polls, covered, known = (np.zeros((blocks, warps), np.int32) for _ in range(7))
    barrier = np.zeros((blocks, warps, warps), np.int32)
    return ChunkTimes(met, barrier, arrived, waited, fences, polls, covered, known, np.zeros(blocks, np.int32))
