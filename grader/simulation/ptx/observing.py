"""Observations of a run beside its findings: where each load and store goes, and the bytes that it moves; the parts
that memory serves a warp's accesses in, the branches at which its lanes part, and its arithmetic."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from grader.plan.findings import MOST_ACCESSES, Access
from grader.plan.plan import Launch
from grader.plan.traffic import SECTOR, Branching, Kind, LaunchTraffic, WarpAccess, WarpTraffic, Watch
from grader.simulation.metering import MOST_LAUNCHES, Meter, distance, extents, placed
from grader.simulation.ptx.code import PtxBlock
from grader.simulation.ptx.decode import Decoded
from grader.simulation.ptx.lanes import WARP, Array, count, spread, warps
from grader.simulation.ptx.reader import TYPE_BYTES
from grader.simulation.ptx.regions import TABLES, Region

if TYPE_CHECKING:
    from grader.simulation.ptx.machine import Machine


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
        self, m: Machine, way: Kind, region: Region, offsets: Array, mask: Array | None, size: int, count: int
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
                self.remember(m.site, begins + number * size, owners)
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
            aside, self._aside = self._aside, None
            for (way, line, name, given, size), parts in aside.items():
                begins, owners = (np.concatenate([part[at] for part in parts]) for at in (0, 1))
                self.count(way, line, name, given, begins, owners, size, sum(lanes for _, _, lanes in parts))

    def copied(self, m: Machine, way: Kind, region: Region, begins: Array, block: int, size: int) -> None:
        if region.number >= TABLES - 1:
            return
        to_output = way != "load" and region.named.given == self._output
        if self._watch.touched == "output" and not to_output:
            return
        owners = np.full(begins.size, block, np.int64)
        if to_output:
            self.remember(m.site, begins, owners)
        if self.counts or self.sums:
            self.count(way, m.line(), region.named.name, region.named.given, begins, owners, size, begins.size)

    def _note(
        self, m: Machine, way: Kind, region: Region, offsets: Array, mask: Array | None, size: int, count: int
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
        # The address of a block without active threads means nothing.
        there = np.any(np.broadcast_to(True if mask is None else mask, m.shape), axis=1)
        apart = [_distances(starts[: number * length : number], there[: number * length : number])
                 for number, length in ((1, x), (x, y), (x * y, z))]
        # Blocks of a part of the chunk need not be neighbours in the grid.
        apart = apart if m.frame.rows is None and not self.chooses else [apart[0][:0]] * 3
        self._seen[key] = {
            "access": way, "kernel": m.kernel, "line": m.line(), "tensor": region.named.name[:200],
            "buffer": region.number, "grid": self._launch.grid, "tile": tile, "first": first,
            "lane_strides": _strides(offsets[0] // size, here, threads, tile, count),
            **placed(apart, self._launch.grid),
            "width": size, "firsts": [first], "apart": False, "times": 1, "live": live, "last": live,
            "mask": mask, "columns": columns}

    def launched(self) -> list[LaunchTraffic]:
        traffics = super().launched()
        return [traffic.model_copy(update={"warps": meter.traffic()}) for traffic, meter in zip(
            traffics, self.warps[:MOST_LAUNCHES], strict=True)] if self._watch.warps else traffics

    def accesses(self) -> list[Access]:
        return [Access(**{name: value for name, value in entry.items() if name not in _OWN},
                       loop_stride=None if entry["apart"] else _step(entry["firsts"]))
                for entry in self._seen.values()]


def _distances(starts: Array, there: Any) -> Array:
    """Return the distances of neighbours that are both `there`."""
    return np.diff(starts)[there[1:] & there[:-1]]


def _flat(m: Machine, offsets: Array, mask: Array | None) -> tuple[Array, Array]:
    """Return the first bytes of the threads that take part, and the blocks that they belong to."""
    wide = [spread(array, m.shape) for array in (offsets, m.numbers_here()[:, None])]
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


def _strides(starts: Array, here: Array, threads: int, tile: list[int], count: int) -> list[int | None]:
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


BANKS, WORD = 32, 4
"""The banks of shared memory, each of which serves one word of WORD bytes at a time."""
MOST_WARP_ACCESSES, MOST_LINES = 256, 256
NAME = 80
_SHAPE = re.compile(r"m(\d{1,3})n(\d{1,3})k(\d{1,3})")
_WARPGROUP = 128

Space = Literal["global", "shared"]
_Key = tuple[Space, Kind, int, str]


@dataclass
class _Requests:
    requests: int = 0
    parts: int = 0
    least: int = 0
    wasteful: int = 0
    worst: int = 0


class WarpMeter:
    """A meter of the work of a launch's warps."""

    def __init__(self) -> None:
        self._accesses: dict[_Key, _Requests] = {}
        self._branching: dict[int, list[int]] = {}
        # Basic blocks by identity, with the threads that ran each.
        self._ran: dict[int, tuple[PtxBlock, int]] = {}
        self._barriers = 0
        self._full = False
        self._aside: list[tuple[_Key, Array, int]] | None = None

    def ran(self, block: PtxBlock, threads: int) -> None:
        """Record that threads run a basic block."""
        before = self._ran.get(id(block), (block, 0))[1]
        self._ran[id(block)] = block, before + int(threads)

    def met(self, m: Machine, mask: Array) -> None:
        """Record the threads of the whole chunk that pass a barrier of their block."""
        self._barriers += -(-int(count(mask, m.whole)) // WARP)

    def branched(self, m: Machine, line: int, mask: Array, taken: Array | None) -> None:
        """Record a branch at which the threads of `mask` are, and those that take it: masks of the whole chunk."""
        here = warps(mask, m.whole)
        if line not in self._branching and len(self._branching) >= MOST_LINES:
            self._full = True
            return
        sums = self._branching.setdefault(line, [0, 0])
        sums[0] += int(here.any(2).sum())
        if taken is not None:
            goes = warps(taken, m.whole)
            sums[1] += int((goes.any(2) & (here & ~goes).any(2)).sum())

    @contextmanager
    def together(self) -> Iterator[None]:
        """Count all accesses in the body of a `with` as those of one instruction."""
        self._aside = []
        try:
            yield
        finally:
            aside, self._aside = self._aside, None
            for key in {key: None for key, _, _ in aside}:
                pieces = [(begins, size) for other, begins, size in aside if other == key]
                self._count(key, np.concatenate([begins for begins, _ in pieces], axis=1), pieces[0][1], together=True)

    def access(self, m: Machine, way: Kind, region: Region, offsets: Array, mask: Array | None, size: int) -> None:
        """Record an access of `size` bytes of each thread, from `offsets` in a region on."""
        begins = warps(offsets, m.shape)
        real = warps(np.ones((1, 1), bool) if mask is None else mask, m.shape)
        space: Space = "shared" if region.named.shared else "global"
        self.rows(space, way, m.line(), region.named.name, np.where(real, begins, -1).reshape(-1, WARP), size)

    def rows(self, space: Space, way: Kind, line: int, tensor: str, begins: Array, size: int) -> None:
        """Record requests of `size` bytes a lane, a row for each: the first bytes, −1 for a lane without access."""
        key = space, way, line, tensor[:NAME]
        if self._aside is not None:
            self._aside.append((key, begins, size))
        else:
            self._count(key, begins, size)

    def _count(self, key: _Key, begins: Array, size: int, together: bool = False) -> None:
        begins = begins[(begins >= 0).any(1)]
        if key not in self._accesses and len(self._accesses) >= MOST_WARP_ACCESSES:
            self._full = True
            return
        sums = self._accesses.setdefault(key, _Requests())
        if not len(begins):
            return
        parts, least = _sectors(begins, size) if key[0] == "global" else _wavefronts(
            begins, size, begins.shape[1] if together else WARP * WORD // max(WORD, size))
        sums.requests += len(begins)
        sums.parts += int(parts.sum())
        sums.least += int(least.sum())
        sums.wasteful += int((parts > least).sum())
        sums.worst = max(sums.worst, int((parts - least).max()))

    def traffic(self) -> WarpTraffic:
        every = [(step, threads) for block, threads in self._ran.values() for step in block.steps]
        return WarpTraffic(
            accesses=[WarpAccess(space=space, access=way, line=line, tensor=tensor, **vars(sums))
                      for (space, way, line, tensor), sums in self._accesses.items()],
            branching=[Branching(line=line, branches=branches, divergent=divergent)
                       for line, (branches, divergent) in self._branching.items()],
            multiply_adds=sum(_multiply_adds(step) * threads for step, threads in every),
            tensor_multiply_adds=sum(_products(step, threads) for step, threads in every),
            barriers=self._barriers, full=self._full, local=sum(_local(step) * threads for step, threads in every))


def _distinct(keys: Array) -> Array:
    """Return a mask of the first of equal keys in each row of sorted keys; those below 0 are none."""
    first = np.ones(keys.shape, bool)
    first[:, 1:] = keys[:, 1:] != keys[:, :-1]
    return first & (keys >= 0)


def _sectors(begins: Array, size: int) -> tuple[Array, Array]:
    """Return the sectors of each row, and the least number of sectors for as many bytes."""
    first, last = begins // SECTOR, np.where(begins < 0, -1, (begins + size - 1) // SECTOR)
    keys = first if (first == last).all() else np.concatenate([first, last], axis=1)
    bytes_ = _distinct(np.sort(begins, axis=1)).sum(1) * size
    return _distinct(np.sort(keys, axis=1)).sum(1), -(-bytes_ // SECTOR)


def _wavefronts(begins: Array, size: int, lanes: int) -> tuple[Array, Array]:
    """Return the wavefronts of each row, of which `lanes` lanes are served at a time, and the least number of
    wavefronts for as many words."""
    lane_words, groups = max(1, size // WORD), begins.reshape(-1, lanes)
    words = np.where(groups < 0, -1, groups // WORD)[..., None] + np.arange(lane_words)
    words = np.where(groups[..., None] < 0, -1, words).reshape(len(groups), -1)
    words.sort(axis=1)
    row, column = np.nonzero(_distinct(words))
    banks = np.bincount(row * BANKS + words[row, column] % BANKS, minlength=len(groups) * BANKS)
    parts: Array = banks.reshape(-1, BANKS).max(1).reshape(len(begins), -1)
    least = -(-np.bincount(row, minlength=len(groups)) // BANKS).reshape(len(begins), -1)
    return parts.sum(1), least.sum(1)


def _multiply_adds(step: Decoded) -> int:
    """Return the multiply-adds of floating-point numbers that one thread makes; a product or a quotient alone counts as
    well."""
    instruction = step.instruction
    name, modifiers = instruction.name, instruction.modifiers
    if name not in ("fma", "mul", "mad", "div") or not modifiers or "f" not in modifiers[-1]:
        return 0
    return 2 if modifiers[-1].endswith("x2") else 1


def _products(step: Decoded, threads: int) -> int:
    """Return the multiply-adds that tensor cores make for these threads."""
    instruction = step.instruction
    name, modifiers = instruction.name, instruction.modifiers
    if name not in ("mma", "wmma", "wgmma") or not {"mma", "mma_async", "sync"} & set(modifiers):
        return 0
    shape = next(filter(None, map(_SHAPE.fullmatch, modifiers)), None)
    if shape is None or "load" in modifiers or "store" in modifiers:
        return 0
    return int(shape[1]) * int(shape[2]) * int(shape[3]) * (threads // (_WARPGROUP if name == "wgmma" else WARP))


def _local(step: Decoded) -> int:
    """Return the bytes of its own memory that a thread loads or stores."""
    instruction = step.instruction
    if instruction.name not in ("ld", "st") or "local" not in instruction.modifiers:
        return 0
    elements = next((int(word[1:]) for word in instruction.modifiers if word in ("v2", "v4", "v8")), 1)
    return elements * TYPE_BYTES.get(instruction.modifiers[-1], 4)
