"""Meter of a run's loads and stores: it counts the bytes of programs, and remembers which program stored an element
last, as a `Watch` asks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from grader.plan.plan import Launch
from grader.plan.traffic import (
    MOST_TOUCHED,
    SECTOR,
    AccessTraffic,
    Kind,
    LastStores,
    LaunchTraffic,
    TouchedBytes,
    Watch,
)
from grader.simulation.findings import Array, Site

# The most lanes of all programs that are counted: more would show nothing new, and take long to sort.
LANES = 1 << 15
MOST_LAUNCHES, MOST_ACCESSES, MOST_RUNS, MOST_LINES = 8, 128, 256, 16
NAME = 80
_GOLDEN = 0.6180339887498949

Key = tuple[Kind, int, str]


@dataclass
class _Sums:
    given: str
    size: int
    lanes: int = 0
    masked: int = 0
    needed: int = 0
    moved: int = 0


@dataclass
class _LaunchCounts:
    """A launch that is counted. The `wanted` programs' touched bytes are recorded."""

    launch: Launch
    programs: int
    wanted: list[int]
    cut: bool = False
    full: bool = False
    sums: dict[Key, _Sums] = field(default_factory=dict)
    touched: dict[tuple[Key, int], list[Array]] = field(default_factory=dict)


class Meter:
    """A collector of the facts that a `Watch` asks for. `output` is the output's name. A program is a block in CUDA."""

    def __init__(self, watch: Watch, output: str) -> None:
        self._watch, self._output = watch, output
        self._stores = np.array(watch.stores, np.int64)
        self._lines = np.zeros(self._stores.size, np.int64)
        self._owners = np.full(self._stores.size, -1, np.int64)
        self._sites: dict[int, Site] = {}
        self._launches: list[_LaunchCounts] = []

    @property
    def counts(self) -> bool:
        """Return whether the run is made to count accesses, so that the values it computes do not matter."""
        return self._watch.programs > 0 or bool(self._watch.touched)

    @property
    def sums(self) -> bool:
        """Return whether the bytes that lines move are summed."""
        return self._watch.programs > 0 or self._watch.warps

    def forget(self) -> None:
        """Forget all counts, for another call, which has other memory."""
        self.__init__(self._watch, self._output)  # type: ignore[misc]

    def begin(self, launch: Launch, total: int, lanes: int, waits: bool) -> Array | None:
        """Begin a launch of `total` programs of at most `lanes` lanes. Returns the programs to run, ascending; None for
        all. All run if they may wait for each other (`waits`). A launch that is begun twice counts once."""
        if self._launches and self._launches[-1].launch is launch:
            self._launches.pop()
        chosen: Array | None = None
        here = len(self._launches)
        wanted = self._watch.chosen[here] if here < len(self._watch.chosen) else []
        if waits:
            pass
        elif self._watch.chosen:
            chosen = np.array([number for number in wanted if number < total], np.int64)
        elif 0 < self._watch.programs < total:
            count = min(self._watch.programs, max(1, LANES // lanes))
            # Steps of the golden ratio: even steps could all fall into one column of a grid of two dimensions.
            chosen = np.unique(((np.arange(count) + 0.5) * _GOLDEN % 1 * total).astype(np.int64))
        self._launches.append(_LaunchCounts(launch, total if chosen is None else chosen.size, wanted))
        return chosen

    def remember(self, site: Callable[[], Site], begins: Array, owners: Array) -> None:
        """Record a store at `site` to elements of the output. `begins` are the first bytes of these elements, `owners`
        the programs that store them."""
        if not self._stores.size:
            return
        at: Array = np.searchsorted(self._stores, begins)
        at[at == self._stores.size] = 0
        hit = self._stores[at] == begins
        if not hit.any():
            return
        here = site()
        self._lines[at[hit]], self._owners[at[hit]] = here.line, owners[hit]
        self._sites[here.line] = here

    def count(
        self, way: Kind, line: int, tensor: str, given: str, begins: Array, owners: Array, size: int, lanes: int
    ) -> None:
        """Count an access of `lanes` lanes. Those that take part touch `size` bytes from each of `begins`, for the
        programs `owners`."""
        now = self._launches[-1]
        key = (way, line, tensor[:NAME])
        if self._watch.touched:
            for program in now.wanted:
                now.touched.setdefault((key, program), []).append(_distinct(begins[owners == program]))
        if key not in now.sums:
            if len(now.sums) >= MOST_ACCESSES:
                now.full = True
                return
            now.sums[key] = _Sums(given, size)
        if not self.sums:
            return
        sums = now.sums[key]
        sums.lanes += lanes
        sums.masked += lanes - begins.size
        owned = owners.astype(np.int64) << 38
        sums.needed += _distinct(owned + begins).size * size
        first, last = begins // SECTOR, (begins + size - 1) // SECTOR
        sectors = np.concatenate([owned + first, owned + last]) if (first != last).any() else owned + first
        sums.moved += _distinct(sectors).size * SECTOR

    def stored(self) -> list[LastStores]:
        stored = []
        for line, site in self._sites.items():
            own = np.flatnonzero((self._lines == line) & (self._owners >= 0))
            if own.size:
                stored.append(LastStores(
                    line=line, elements=own.size, byte=int(self._stores[own[0]]),
                    program=site.program(int(self._owners[own[0]])), last=site.program(int(self._owners[own[-1]]))))
        return stored[:MOST_LINES]

    def cut(self) -> bool:
        """End the count in the middle of a launch. Returns False if nothing is counted."""
        if self.sums and self._launches:
            self._launches[-1].cut = True
            return True
        return False

    def launched(self) -> list[LaunchTraffic]:
        return [LaunchTraffic(
            kernel=run.launch.kernel, line=run.launch.line, grid=run.launch.grid, threads=run.launch.threads,
            programs=run.programs, cut=run.cut, full=run.full,
            accesses=[AccessTraffic(access=access, line=line, tensor=tensor, given=sums.given[:NAME], lanes=sums.lanes,
                                    masked=sums.masked, needed=sums.needed, moved=sums.moved)
                      for (access, line, tensor), sums in run.sums.items()])
                for run in (self._launches[:MOST_LAUNCHES] if self.sums else ())]

    def touched(self) -> list[TouchedBytes]:
        keys = [(number, run, key) for number, run in enumerate(self._launches) for key in run.touched]
        touched = []
        for number, run, (key, program) in keys[:MOST_TOUCHED]:
            if key in run.sums:
                runs = _runs(_distinct(np.concatenate(run.touched[key, program])), run.sums[key].size)
                touched.append(TouchedBytes(
                    launch=number, program=program, access=key[0], tensor=key[2], given=run.sums[key].given[:NAME],
                    runs=runs[:MOST_RUNS], all=len(runs) <= MOST_RUNS))
        return touched


def extents(on: Array) -> list[int]:
    """Return, along each axis of a tile, the number of lanes up to the last one that is on."""
    counts = []
    for axis, size in enumerate(on.shape):
        along: Array = np.moveaxis(on, axis, 0).reshape(size, -1).any(axis=1)
        counts.append(int(along.nonzero()[0].max(initial=-1)) + 1)
    return counts


def distance(apart: Array) -> int | None:
    """Return the distance between neighbours, 0 if there are none; None if it varies."""
    return 0 if not apart.size else int(apart[0]) if (apart == apart[0]).all() else None


def placed(starts: Sequence[Array], grid: Sequence[int]) -> dict[str, Any]:
    """Return the fields of an `Access` about programs, from the distances of neighbours along each axis of the grid."""
    return {"program_strides": tuple(int(line[0]) if line.size else None for line in starts),
            "even": all((line == line[:1]).all() and bool(line.size or size == 1)
                        for line, size in zip(starts, grid, strict=True))}


def _distinct(keys: Array) -> Array:
    """Return the distinct keys, ascending. They mostly ascend already, which `np.unique` does not exploit."""
    if (keys[1:] < keys[:-1]).any():
        keys = np.sort(keys)
    return keys[np.append(True, keys[1:] != keys[:-1])] if keys.size else keys


def _runs(begins: Array, size: int) -> list[tuple[int, int, int, int]]:
    """Return series of runs, as in `TouchedBytes.runs`, for elements of `size` bytes at `begins`, ascending."""
    first = np.flatnonzero(np.diff(begins, prepend=-2 * size) != size)
    lengths = (np.append(first[1:], begins.size) - first) * size
    series: list[tuple[int, int, int, int]] = []
    for begin, length in zip(begins[first].tolist(), lengths.tolist(), strict=True):
        start, before, step, count = series[-1] if series else (0, 0, 0, 0)
        if length == before and (count == 1 or begin == start + count * step):
            series[-1] = (start, length, begin - start if count == 1 else step, count + 1)
        else:
            series.append((begin, length, 0, 1))
    return series
