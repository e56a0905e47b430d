"""Counts the loads and stores of programs, and remembers which program stored last: only in a run with a `Watch`."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import prod

import numpy as np

from grader.frontends.triton.simulator.code import Code
from grader.frontends.triton.simulator.findings import Site
from grader.frontends.triton.simulator.pointers import Origin
from grader.frontends.triton.simulator.ramps import Ramp, plain
from grader.frontends.triton.simulator.state import State, flat
from grader.frontends.triton.simulator.types import Array
from grader.plan.plan import Kernel, Launch
from grader.plan.traffic import SECTOR, AccessTraffic, Kind, LaunchTraffic, Stored, Touched, Watch

# Lanes of the programs that are counted: more tell nothing new, and take long to sort.
LANES = 1 << 15
MOST_LAUNCHES, MOST_ACCESSES, MOST_TOUCHED, MOST_RUNS, MOST_LINES = 8, 32, 32, 256, 16
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
class _Launch:
    launch: Launch
    programs: int
    asked: list[int]
    cut: bool = False
    sums: dict[Key, _Sums] = field(default_factory=dict)
    touched: dict[tuple[Key, int], list[Array]] = field(default_factory=dict)


class Meter:
    """Collects what a `Watch` asks for. `output` is the output's name."""

    def __init__(self, watch: Watch, output: str) -> None:
        self._watch, self._output = watch, output
        self._stores = np.array(watch.stores, np.int64)
        self._lines = np.zeros(self._stores.size, np.int64)
        self._owners = np.full(self._stores.size, -1)
        self._places: dict[int, Site] = {}
        self._launches: list[_Launch] = []

    @property
    def counts(self) -> bool:
        """Whether the run counts what is moved, so that values do not matter."""
        return self._watch.programs > 0 or bool(self._watch.touched)

    def counts_alone(self, kernel: Kernel) -> bool:
        """Whether to run a kernel without the operations that only its answer needs. A run that asks for the bytes of
        the output is followed by another, so it does this only for kernels with products, which take most time."""
        return self.counts and (self._watch.touched != "output" or "tt.dot" in kernel.text)

    def forget(self) -> None:
        """Begins anew for another call, which has other memory."""
        self.__init__(self._watch, self._output)  # type: ignore[misc]

    def begin(self, launch: Launch, total: int, code: Code) -> Array | None:
        """Begins a launch. Returns the programs to run, ascending; None for all, also if they may wait for each other.
        A launch that is begun twice counts once."""
        if self._launches and self._launches[-1].launch is launch:
            self._launches.pop()
        chosen: Array | None = None
        here = len(self._launches)
        asked = self._watch.chosen[here] if here < len(self._watch.chosen) else []
        if code.spins:
            pass
        elif self._watch.chosen:
            chosen = np.array([number for number in asked if number < total], np.int32)
        elif 0 < self._watch.programs < total:
            wanted = min(self._watch.programs, max(1, LANES // code.largest))
            # Steps of the golden ratio: even steps could all fall into one column of a grid of two dimensions.
            chosen = np.unique(((np.arange(wanted) + 0.5) * _GOLDEN % 1 * total).astype(np.int32))
        self._launches.append(_Launch(launch, total if chosen is None else chosen.size, asked))
        return chosen

    def access(
        self, state: State, access: Kind, source: Origin, size: int, offsets: Array | Ramp, live: Array | None,
        active: Array | None,
    ) -> None:
        """Notes an access to elements of `size` bytes. `live` are the lanes of `active` programs that are on and lie
        inside."""
        to_output = access != "load" and source.buffer.given == self._output
        if self._watch.touched == "output" and not to_output:
            return
        shape = np.broadcast_shapes(offsets.shape, (1,) if live is None else live.shape)[1:]
        index, owners = flat(state, live, shape, plain(offsets))
        if to_output and self._stores.size:
            self._remember(state, index * size, owners)
        if not self.counts:
            return
        now = self._launches[-1]
        key = (access, state.line(), source.name[:NAME])
        if self._watch.touched:
            for program in now.asked:
                now.touched.setdefault((key, program), []).append(_distinct(index[owners == program + 1]) * size)
        if key not in now.sums:
            if len(now.sums) >= MOST_ACCESSES:
                return
            now.sums[key] = _Sums(source.buffer.given, size)
        if not self._watch.programs:
            return
        sums = now.sums[key]
        lanes = (state.count if active is None else int(active.sum())) * prod(shape)
        sums.lanes += lanes
        sums.masked += lanes - index.size
        owned = owners.astype(np.int64) << 38
        sums.needed += _distinct(owned + index).size * size
        sums.moved += _distinct(owned + index * size // SECTOR).size * SECTOR

    def _remember(self, state: State, begin: Array, owners: Array) -> None:
        at: Array = np.searchsorted(self._stores, begin)
        at[at == self._stores.size] = 0
        hit = self._stores[at] == begin
        if not hit.any():
            return
        place = state.place()
        self._lines[at[hit]], self._owners[at[hit]] = place.line, owners[hit] - 1
        self._places[place.line] = place

    def stored(self) -> list[Stored]:
        stored = []
        for line, place in self._places.items():
            own = np.flatnonzero((self._lines == line) & (self._owners >= 0))
            if own.size:
                stored.append(Stored(
                    line=line, elements=own.size, byte=int(self._stores[own[0]]),
                    program=place.program(int(self._owners[own[0]])), last=place.program(int(self._owners[own[-1]]))))
        return stored[:MOST_LINES]

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
            accesses=[AccessTraffic(access=access, line=line, tensor=tensor, given=sums.given[:NAME], lanes=sums.lanes,
                                    masked=sums.masked, needed=sums.needed, moved=sums.moved)
                      for (access, line, tensor), sums in run.sums.items()])
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
