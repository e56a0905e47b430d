"""Work of warps: the parts that memory serves their accesses in, the branches at which their lanes part, and their
arithmetic."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Literal

import numpy as np

from grader.plan.traffic import SECTOR, Branching, Kind, WarpAccess, WarpTraffic
from grader.simulation.ptx.decode import Decoded
from grader.simulation.ptx.flow import Stretch
from grader.simulation.ptx.grammar import TYPE_BYTES
from grader.simulation.ptx.lanes import WARP, count, warps
from grader.simulation.ptx.regions import Region
from grader.simulation.ptx.threads import Threads
from grader.simulation.ptx.types import Array

BANKS, WORD = 32, 4
"""The banks of shared memory, each of which serves one word of so many bytes at a time."""
MOST_ACCESSES, MOST_LINES = 256, 256
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
        self._ran: dict[int, tuple[Stretch, int]] = {}
        self._barriers = 0
        self._full = False
        self._aside: list[tuple[_Key, Array, int]] | None = None

    def ran(self, block: Stretch, threads: int) -> None:
        """Record that threads run a basic block."""
        before = self._ran.get(id(block), (block, 0))[1]
        self._ran[id(block)] = block, before + int(threads)

    def met(self, m: Threads, mask: Array) -> None:
        """Record the threads of the whole chunk that pass a barrier of their block."""
        self._barriers += -(-int(count(mask, m.whole)) // WARP)

    def parted(self, m: Threads, line: int, mask: Array, taken: Array | None) -> None:
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
            found, self._aside = self._aside, None
            for key in {key: None for key, _, _ in found}:
                pieces = [(begins, size) for other, begins, size in found if other == key]
                self._count(key, np.concatenate([begins for begins, _ in pieces], axis=1), pieces[0][1], together=True)

    def access(self, m: Threads, way: Kind, region: Region, offsets: Array, mask: Array | None, size: int) -> None:
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
        if key not in self._accesses and len(self._accesses) >= MOST_ACCESSES:
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
    """Return the wavefronts of each row, of which so many `lanes` are served at a time, and the least number of
    wavefronts for as many words."""
    each, groups = max(1, size // WORD), begins.reshape(-1, lanes)
    words = np.where(groups < 0, -1, groups // WORD)[..., None] + np.arange(each)
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
    one = step.instruction
    if one.name not in ("fma", "mul", "mad", "div") or not one.modifiers or "f" not in one.modifiers[-1]:
        return 0
    return 2 if one.modifiers[-1].endswith("x2") else 1


def _products(step: Decoded, threads: int) -> int:
    """Return the multiply-adds that tensor cores make for so many threads."""
    one = step.instruction
    if one.name not in ("mma", "wmma", "wgmma") or not {"mma", "mma_async", "sync"} & set(one.modifiers):
        return 0
    shape = next(filter(None, map(_SHAPE.fullmatch, one.modifiers)), None)
    if shape is None or "load" in one.modifiers or "store" in one.modifiers:
        return 0
    return int(shape[1]) * int(shape[2]) * int(shape[3]) * (threads // (_WARPGROUP if one.name == "wgmma" else WARP))


def _local(step: Decoded) -> int:
    """Return the bytes of its own memory that a thread loads or stores."""
    one = step.instruction
    if one.name not in ("ld", "st") or "local" not in one.modifiers:
        return 0
    elements = next((int(word[1:]) for word in one.modifiers if word in ("v2", "v4", "v8")), 1)
    return elements * TYPE_BYTES.get(one.modifiers[-1], 4)
