"""What a run shows beside its findings: where each load and store goes, and how many bytes they move."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from grader.plan.findings import MOST_ACCESSES, Access
from grader.plan.plan import Launch
from grader.plan.traffic import SECTOR, AccessTraffic, Kind, LaunchTraffic, Stored, Touched, Watch
from grader.ptx.findings import Spot
from grader.ptx.regions import TABLES, Region
from grader.ptx.threads import Threads
from grader.ptx.types import Array

# Threads of the blocks that are counted: more tell nothing new, and take long to sort.
LANES = 1 << 15
MOST_LAUNCHES, MOST_LINES, MOST_TOUCHED, MOST_RUNS, MOST_PLACES, MOST_STEPS = 8, 32, 32, 256, 16, 64
NAME = 80
_GOLDEN = 0.6180339887498949

Key = tuple[Kind, int, str]


@dataclass
class _Sum:
    given: str
    size: int
    lanes: int = 0
    masked: int = 0
    needed: int = 0
    moved: int = 0


@dataclass
class _Counted:
    """A launch that is counted. `asked` are the blocks whose bytes are wanted."""

    launch: Launch
    programs: int
    asked: list[int]
    cut: bool = False
    sums: dict[Key, _Sum] = field(default_factory=dict)
    touched: dict[tuple[Key, int], list[Array]] = field(default_factory=dict)


class ThreadObserver:
    """Collects the accesses of a run's first blocks, and what a `Watch` asks for. `output` is the output's name."""

    def __init__(self, watch: Watch | None, output: str) -> None:
        self._watch, self._output = watch or Watch(), output
        self._stores = np.array(self._watch.stores, np.int64)
        self._lines = np.zeros(self._stores.size, np.int64)
        self._owners = np.full(self._stores.size, -1, np.int64)
        self._places: dict[int, Spot] = {}
        self._launches: list[_Counted] = []
        self._launch: Launch | None = None
        self._first = 0
        self._seen: dict[Any, dict[str, Any]] = {}

    @property
    def chooses(self) -> bool:
        """Whether only some blocks run."""
        return bool(self._watch.chosen) or self._watch.programs > 0

    @property
    def _counts(self) -> bool:
        return self._watch.programs > 0 or bool(self._watch.touched)

    def forget(self) -> None:
        """Begins anew for another call, which has other memory."""
        self.__init__(self._watch, self._output)  # type: ignore[misc]

    def begin(self, launch: Launch, total: int, threads: int, waits: bool) -> Array | None:
        """Begins a launch. Returns the blocks to run, ascending; None for all, also if they may wait for each other.
        A launch that is begun twice counts once."""
        if self._launches and self._launches[-1].launch is launch:
            self._launches.pop()
        chosen: Array | None = None
        here = len(self._launches)
        asked = self._watch.chosen[here] if here < len(self._watch.chosen) else []
        if waits:
            pass
        elif self._watch.chosen:
            chosen = np.array([number for number in asked if number < total], np.int64)
        elif 0 < self._watch.programs < total:
            wanted = min(self._watch.programs, max(1, LANES // threads))
            # Steps of the golden ratio: even steps could all fall into one column of a grid of two dimensions.
            chosen = np.unique(((np.arange(wanted) + 0.5) * _GOLDEN % 1 * total).astype(np.int64))
        self._launches.append(_Counted(launch, total if chosen is None else chosen.size, asked))
        self._launch = launch
        self._first = 0 if chosen is None or not chosen.size else int(chosen[0])
        return chosen

    def access(
        self, m: Threads, way: Kind, region: Region, offsets: Array, mask: Array | None, size: int, count: int
    ) -> None:
        if region.named.shared or region.number >= TABLES - 1:
            return
        if m.numbers[0] == self._first:
            self._note(m, way, region, offsets, mask, size, count)
        to_output = way != "load" and region.named.given == self._output
        if not self._counts and not (to_output and self._stores.size):
            return
        if self._watch.touched == "output" and not to_output:
            return
        begins, owners = _flat(m, offsets, mask)
        if to_output and self._stores.size:
            for number in range(count):
                self._remember(m, begins + number * size, owners)
        if self._counts:
            self._count(m, way, region, begins, owners, size * count)

    # Where accesses go.

    def _note(
        self, m: Threads, way: Kind, region: Region, offsets: Array, mask: Array | None, size: int, count: int
    ) -> None:
        """Notes an access by the threads of a chunk's first block. Copies of a line, which a compiler makes of a loop,
        are one access."""
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
        live = _live(True if mask is None else np.broadcast_to(mask, m.shape)[0], here, threads, tile, count)
        if not any(live):
            return
        if known is not None:
            if len(known["firsts"]) < MOST_STEPS:
                known["firsts"].append(first)
            # An unrolled loop takes what is left over first, and threads that have more of it are then a round ahead.
            known["apart"] |= any(now > before for now, before in zip(live, known["last"], strict=True))
            known["times"] += 1
            known["last"] = live
            return
        x, y, z = self._launch.grid
        starts = np.broadcast_to(offsets[:, 0], m.shape[0]) // size
        apart = [np.diff(starts[: number * length : number]) for number, length in ((1, x), (x, y), (x * y, z))]
        # Blocks of a part are not neighbours.
        apart = apart if m.frame.rows is None and not self.chooses else [apart[0][:0]] * 3
        self._seen[key] = {
            "access": way, "kernel": m.kernel, "line": m.line(), "tensor": region.named.name[:200],
            "buffer": region.number, "grid": self._launch.grid, "tile": tile, "first": first,
            "lanes": _apart(offsets[0] // size, here, threads, tile, count),
            "programs": tuple(int(line[0]) if line.size else None for line in apart),
            "even": all((line == line[:1]).all() and bool(line.size or length == 1)
                        for line, length in zip(apart, self._launch.grid, strict=True)),
            "firsts": [first], "apart": False, "times": 1, "live": live, "last": live}

    def accesses(self) -> list[Access]:
        return [Access(**{name: value for name, value in one.items() if name not in ("firsts", "apart")},
                       step=None if one["apart"] else _step(one["firsts"]))
                for one in self._seen.values()]

    # What they move.

    def _count(self, m: Threads, way: Kind, region: Region, begins: Array, owners: Array, size: int) -> None:
        now = self._launches[-1]
        key = (way, m.line(), region.named.name[:NAME])
        if self._watch.touched:
            for program in now.asked:
                now.touched.setdefault((key, program), []).append(_distinct(begins[owners == program]))
        if key not in now.sums:
            if len(now.sums) >= MOST_LINES:
                return
            now.sums[key] = _Sum(region.named.given, size)
        if not self._watch.programs:
            return
        sums = now.sums[key]
        lanes = m.shape[0] * m.shape[1]
        sums.lanes += lanes
        sums.masked += lanes - begins.size
        owned = owners << 38
        sums.needed += _distinct(owned + begins).size * size
        first, last = begins // SECTOR, (begins + size - 1) // SECTOR
        sectors = np.concatenate([owned + first, owned + last]) if (first != last).any() else owned + first
        sums.moved += _distinct(sectors).size * SECTOR

    def _remember(self, m: Threads, begins: Array, owners: Array) -> None:
        at: Array = np.searchsorted(self._stores, begins)
        at[at == self._stores.size] = 0
        hit = self._stores[at] == begins
        if not hit.any():
            return
        spot = m.spot()
        self._lines[at[hit]], self._owners[at[hit]] = spot.line, owners[hit]
        self._places[spot.line] = spot

    def stored(self) -> list[Stored]:
        stored = []
        for line, spot in self._places.items():
            own = np.flatnonzero((self._lines == line) & (self._owners >= 0))
            if own.size:
                stored.append(Stored(
                    line=line, elements=own.size, byte=int(self._stores[own[0]]),
                    program=spot.program(int(self._owners[own[0]])), last=spot.program(int(self._owners[own[-1]]))))
        return stored[:MOST_PLACES]

    def cut(self) -> bool:
        """Ends the count in the middle of a launch; False if nothing is counted."""
        if self._watch.programs and self._launches:
            self._launches[-1].cut = True
            return True
        return False

    def launched(self) -> list[LaunchTraffic]:
        return [LaunchTraffic(
            kernel=run.launch.kernel, line=run.launch.line, grid=run.launch.grid, threads=run.launch.threads,
            programs=run.programs, cut=run.cut,
            accesses=[AccessTraffic(access=way, line=line, tensor=tensor, given=sums.given[:NAME], lanes=sums.lanes,
                                    masked=sums.masked, needed=sums.needed, moved=sums.moved)
                      for (way, line, tensor), sums in run.sums.items()])
                for run in (self._launches[:MOST_LAUNCHES] if self._watch.programs else ())]

    def touched(self) -> list[Touched]:
        keys = [(number, run, key) for number, run in enumerate(self._launches) for key in run.touched]
        touched = []
        for number, run, (key, program) in keys[:MOST_TOUCHED]:
            if key in run.sums:
                runs = _runs(_distinct(np.concatenate(run.touched[key, program])), run.sums[key].size)
                touched.append(Touched(
                    launch=number, program=program, access=key[0], tensor=key[2], given=run.sums[key].given[:NAME],
                    runs=runs[:MOST_RUNS], all=len(runs) <= MOST_RUNS))
        return touched


def _flat(m: Threads, offsets: Array, mask: Array | None) -> tuple[Array, Array]:
    """The first bytes of the threads that take part, and the blocks that they belong to."""
    numbers = m.numbers if m.frame.rows is None else m.numbers[m.frame.rows]
    wide = [np.broadcast_to(one, m.shape) for one in (offsets, numbers[:, None])]
    if mask is None:
        return wide[0].reshape(-1), wide[1].reshape(-1)
    mask = np.broadcast_to(mask, m.shape)
    return wide[0][mask], wide[1][mask]


def _tile(block: tuple[int, int, int], count: int) -> list[int]:
    """The threads of a block along its axes, the fastest last, without axes of one; last, elements of a thread."""
    tile = [size for size in reversed(block) if size > 1]
    return [*tile, count] if count > 1 else tile or [1]


def _live(mask: Array | bool, here: Array, threads: int, tile: list[int], count: int) -> list[int]:
    """How far threads of a block take part along each dimension: those of `mask`, which are `here`."""
    on = np.zeros(threads, bool)
    on[here] = mask
    if on.all():
        return list(tile)
    on = np.broadcast_to(on[:, None], (threads, count)).reshape(tile)
    extents = []
    for axis, size in enumerate(tile):
        along: Array = np.moveaxis(on, axis, 0).reshape(size, -1).any(axis=1)
        extents.append(int(along.nonzero()[0].max(initial=-1)) + 1)
    return extents


def _apart(starts: Array, here: Array, threads: int, tile: list[int], count: int) -> list[int | None]:
    """The distance of neighbouring elements along each dimension, None if it varies. `starts` are those of the threads
    that are `here`."""
    known, wide = np.zeros(threads, bool), np.zeros(threads, np.int64)
    known[here], wide[here] = True, starts
    known = np.broadcast_to(known[:, None], (threads, count)).reshape(tile)
    wide = (wide[:, None] + np.arange(count)).reshape(tile)
    distances: list[int | None] = []
    for axis in range(len(tile)):
        both = np.logical_and(known.take(range(1, tile[axis]), axis), known.take(range(tile[axis] - 1), axis))
        apart = np.diff(wide, axis=axis)[both]
        distances.append(0 if not apart.size else int(apart[0]) if (apart == apart[0]).all() else None)
    return distances


def _step(firsts: list[int]) -> int | None:
    """How far a loop moves on, by where its rounds begin; None if they do not lie evenly. The copies of a line that an
    unrolled loop has may be out of order."""
    if len(firsts) < 2:
        return None
    steps = np.diff(firsts)
    if (steps != steps[0]).any():
        steps = np.diff(sorted(firsts, reverse=bool(firsts[-1] < firsts[0])))
    return int(steps[0]) if (steps == steps[0]).all() else None


def _distinct(keys: Array) -> Array:
    """The distinct keys, ascending. They mostly ascend already, which `np.unique` does not exploit."""
    if (keys[1:] < keys[:-1]).any():
        keys = np.sort(keys)
    return keys[np.append(True, keys[1:] != keys[:-1])] if keys.size else keys


def _runs(begins: Array, size: int) -> list[tuple[int, int, int, int]]:
    """The ascending first bytes of elements of this size, as series of runs: see `Touched.runs`."""
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
