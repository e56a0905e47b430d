"""Observations of a run beside its findings: where each load and store goes, and the bytes that it moves."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import Any

import numpy as np

from grader.plan.findings import MOST_ACCESSES, Access
from grader.plan.plan import Launch
from grader.plan.traffic import Kind, LaunchTraffic, Watch
from grader.simulation.metering import MOST_LAUNCHES, Meter, distance, extents, placed
from grader.simulation.ptx.lanes import spread
from grader.simulation.ptx.regions import TABLES, Region
from grader.simulation.ptx.threads import Threads
from grader.simulation.ptx.types import Array
from grader.simulation.ptx.warps import WarpMeter

MOST_STEPS = 64
_OWN = "firsts", "apart", "mask", "columns"
"""Facts that follow an access through a loop, and are no fields of `Access`."""


class ThreadObserver(Meter):
    """Collector of the accesses of a run's first blocks, and of what a `Watch` asks for. `output` is the output's
    name."""

    def __init__(self, watch: Watch, output: str) -> None:
        super().__init__(watch, output)
        self._launch: Launch | None = None
        self._first = 0
        self._seen: dict[Any, dict[str, Any]] = {}
        self.warps: list[WarpMeter] = []
        self._aside: dict[tuple[Kind, int, str, str, int], list[tuple[Array, Array, int]]] | None = None

    @property
    def chooses(self) -> bool:
        """Return whether only some blocks run."""
        return bool(self._watch.chosen) or self._watch.programs > 0

    def begin(self, launch: Launch, total: int, lanes: int, waits: bool) -> Array | None:
        chosen = super().begin(launch, total, lanes, waits)
        if self._watch.warps:
            # A launch that is begun twice counts once.
            self.warps[len(self._launches) - 1 :] = [WarpMeter()]
        self._launch = launch
        self._first = 0 if chosen is None or not chosen.size else int(chosen[0])
        return chosen

    def access(
        self, m: Threads, way: Kind, region: Region, offsets: Array, mask: Array | None, size: int, count: int
    ) -> None:
        if m.warps is not None and (region.named.shared or region.number < TABLES - 1):
            m.warps.access(m, way, region, offsets, mask, size * count)
        if region.named.shared or region.number >= TABLES - 1:
            return
        if m.numbers[0] == self._first:
            self._note(m, way, region, offsets, mask, size, count)
        to_output = way != "load" and region.named.given == self._output
        if self._watch.touched == "output" and not to_output:
            return
        if not self.counts and not self.sums and not (to_output and self._stores.size):
            return
        begins, owners = _flat(m, offsets, mask)
        if to_output:
            for number in range(count):
                self.remember(m.spot, begins + number * size, owners)
        if self.counts or self.sums:
            named, lanes = region.named, m.shape[0] * m.shape[1]
            if self._aside is not None:
                key = way, m.line(), named.name, named.given, size * count
                self._aside.setdefault(key, []).append((begins, owners, lanes))
                return
            self.count(way, m.line(), named.name, named.given, begins, owners, size * count, lanes)

    @contextmanager
    def together(self) -> Iterator[None]:
        """Count all accesses in the body of a `with` as those of one instruction."""
        self._aside = {}
        try:
            with self.warps[-1].together() if self.warps else nullcontext():
                yield
        finally:
            found, self._aside = self._aside, None
            for (way, line, name, given, size), parts in found.items():
                begins, owners = (np.concatenate([part[at] for part in parts]) for at in (0, 1))
                self.count(way, line, name, given, begins, owners, size, sum(lanes for _, _, lanes in parts))

    def copied(self, m: Threads, way: Kind, region: Region, begins: Array, block: int, size: int) -> None:
        if region.number >= TABLES - 1:
            return
        to_output = way != "load" and region.named.given == self._output
        if self._watch.touched == "output" and not to_output:
            return
        owners = np.full(begins.size, block, np.int64)
        if to_output:
            self.remember(m.spot, begins, owners)
        if self.counts or self.sums:
            self.count(way, m.line(), region.named.name, region.named.given, begins, owners, size, begins.size)

    def _note(
        self, m: Threads, way: Kind, region: Region, offsets: Array, mask: Array | None, size: int, count: int
    ) -> None:
        """Record an access by the threads of a chunk's first block. Copies of a line in an unrolled loop are one
        access."""
        rows, columns = m.frame.rows, m.frame.columns
        if (rows is not None and rows[0]) or (columns is not None and columns[0]):
            return
        key = m.line() or m.place(), way, region.number, size, count
        known = self._seen.get(key)
        if known is None and len(self._seen) >= MOST_ACCESSES:
            return
        assert self._launch is not None
        tile, threads = _tile(self._launch.block, count), self._launch.threads
        first = int(offsets[0, 0]) // size
        here = np.arange(threads) if columns is None else columns
        if known is not None and mask is known["mask"] and columns is known["columns"]:
            # Most iterations of a loop have the same threads.
            live = known["last"]
        elif mask is None and columns is None:
            live = tile
        else:
            live = _live(True if mask is None else spread(mask, m.shape)[0], here, threads, tile, count)
        if not any(live):
            return
        if known is not None:
            if len(known["firsts"]) < MOST_STEPS:
                known["firsts"].append(first)
            # An unrolled loop begins with the remainder, and threads that have more of it are then an iteration ahead.
            known["apart"] |= any(now > before for now, before in zip(live, known["last"], strict=True))
            known["times"] += 1
            known |= {"last": live, "mask": mask, "columns": columns}
            return
        x, y, z = self._launch.grid
        starts = np.broadcast_to(offsets[:, 0], m.shape[0]) // size
        # An address of a block without active threads is no place.
        there = np.any(np.broadcast_to(True if mask is None else mask, m.shape), axis=1)
        apart = [_between(starts[: number * length : number], there[: number * length : number])
                 for number, length in ((1, x), (x, y), (x * y, z))]
        # Blocks of a part of the chunk need not be neighbours in the grid.
        apart = apart if m.frame.rows is None and not self.chooses else [apart[0][:0]] * 3
        self._seen[key] = {
            "access": way, "kernel": m.kernel, "line": m.line(), "tensor": region.named.name[:200],
            "buffer": region.number, "grid": self._launch.grid, "tile": tile, "first": first,
            "lanes": _apart(offsets[0] // size, here, threads, tile, count),
            **placed(apart, self._launch.grid),
            "width": size, "firsts": [first], "apart": False, "times": 1, "live": live, "last": live,
            "mask": mask, "columns": columns}

    def launched(self) -> list[LaunchTraffic]:
        found = super().launched()
        return [one.model_copy(update={"warps": meter.traffic()}) for one, meter in zip(
            found, self.warps[:MOST_LAUNCHES], strict=True)] if self._watch.warps else found

    def accesses(self) -> list[Access]:
        return [Access(**{name: value for name, value in one.items() if name not in _OWN},
                       step=None if one["apart"] else _step(one["firsts"]))
                for one in self._seen.values()]


def _between(starts: Array, there: Any) -> Array:
    """Return the distances of neighbours that are both `there`."""
    return np.diff(starts)[there[1:] & there[:-1]]


def _flat(m: Threads, offsets: Array, mask: Array | None) -> tuple[Array, Array]:
    """Return the first bytes of the threads that take part, and the blocks that they belong to."""
    wide = [spread(one, m.shape) for one in (offsets, m.numbers_here()[:, None])]
    if mask is None:
        return wide[0].reshape(-1), wide[1].reshape(-1)
    mask = spread(mask, m.shape)
    return wide[0][mask], wide[1][mask]


def _tile(block: tuple[int, int, int], count: int) -> list[int]:
    """Return the numbers of threads along the axes of a block, the fastest last, without axes of size 1; then the
    elements of a thread, if there are several."""
    tile = [size for size in reversed(block) if size > 1]
    return [*tile, count] if count > 1 else tile or [1]


def _live(mask: Array | bool, here: Array, threads: int, tile: list[int], count: int) -> list[int]:
    """Return the extent of the active threads along each dimension. `mask` holds for the threads `here` of the
    block."""
    on = np.zeros(threads, bool)
    on[here] = mask
    if on.all():
        return list(tile)
    return extents(np.broadcast_to(on[:, None], (threads, count)).reshape(tile))


def _apart(starts: Array, here: Array, threads: int, tile: list[int], count: int) -> list[int | None]:
    """Return the distance of neighbouring elements along each dimension, None if it varies. `starts` are those of the
    threads that are `here`."""
    known, wide = np.zeros(threads, bool), np.zeros(threads, np.int64)
    known[here], wide[here] = True, starts
    known = np.broadcast_to(known[:, None], (threads, count)).reshape(tile)
    wide = (wide[:, None] + np.arange(count)).reshape(tile)
    distances: list[int | None] = []
    for axis in range(len(tile)):
        both = np.logical_and(known.take(range(1, tile[axis]), axis), known.take(range(tile[axis] - 1), axis))
        distances.append(distance(np.diff(wide, axis=axis)[both]))
    return distances


def _step(firsts: list[int]) -> int | None:
    """Return the distance from one iteration of a loop to the next, by their first elements; None if it varies. Copies
    of a line in an unrolled loop may be out of order."""
    if len(firsts) < 2:
        return None
    steps = np.diff(firsts)
    if (steps != steps[0]).any():
        steps = np.diff(sorted(firsts, reverse=bool(firsts[-1] < firsts[0])))
    return int(steps[0]) if (steps == steps[0]).all() else None
