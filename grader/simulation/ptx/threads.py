"""Threads that run at once: their registers, and which of them take part."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Any, Literal, Protocol

import numpy as np

from grader.plan.limits import Budget
from grader.plan.traffic import Kind
from grader.simulation.findings import Findings, Site
from grader.simulation.ptx.lanes import Frame
from grader.simulation.ptx.regions import Region
from grader.simulation.ptx.types import Array


class Observer(Protocol):
    """Observer of each access: `offsets` are in bytes, of `count` elements of `size` bytes; `mask` is as in
    `Reached`."""

    @property
    def counts(self) -> bool:
        """Return whether the run counts the bytes that move; its inputs are zeros then."""

    def access(
        self, m: Threads, way: Kind, region: Region, offsets: Array, mask: Array | None, size: int, count: int
    ) -> None: ...

    def together(self) -> AbstractContextManager[None]:
        """Take all accesses in the body of a `with` as those of one instruction."""

    def copied(self, m: Threads, way: Kind, region: Region, begins: Array, block: int, size: int) -> None:
        """Record a copy that a thread of a block has made: elements of `size` bytes, by their first bytes."""


class WarpObserver(Protocol):
    """Observer of what warps do: see `grader.simulation.ptx.warps.WarpMeter`."""

    def ran(self, block: Any, threads: int) -> None: ...

    def met(self, m: Threads, mask: Array) -> None: ...

    def parted(self, m: Threads, line: int, mask: Array, taken: Array | None) -> None: ...

    def access(self, m: Threads, way: Kind, region: Region, offsets: Array, mask: Array | None, size: int) -> None: ...

    def rows(
        self, space: Literal["global", "shared"], way: Kind, line: int, tensor: str, begins: Array, size: int
    ) -> None: ...


class Threads:
    """Threads of a chunk of blocks, whose `numbers` in the grid ascend; `whole` is its shape.

    `regs` are the registers of the function that runs, in the part of the chunk that runs, which has the `shape` of
    `frame`; `dirty` are the slots that only this part has set, None if it is the whole chunk. `mask` are the threads
    there that take part, None if all do. `needed` are the slots whose values other threads still need. `clock` counts
    steps over all chunks, `version` changes of memory; `vain` is the version at which a thread last tested a barrier in
    memory in vain.
    """

    def __init__(self, budget: Budget, findings: Findings, kernel: str, grid: tuple[int, int, int]) -> None:
        self.budget, self.findings, self.kernel, self.blocks = budget, findings, kernel, grid
        self.clock = self.version = 0
        self.vain = -1
        self.numbers: Array = np.zeros(0, np.int64)
        self.shape = self.whole = (0, 0)
        self.frame = Frame((0, 0))
        self.regs: list[Array | None] = []
        self.mask: Array | None = None
        self.needed = 0
        self.dirty: set[int] | None = None
        self.observer: Observer | None = None
        self.warps: WarpObserver | None = None
        self.matrices: dict[tuple[object, ...], tuple[object, Array]] = {}
        """A cache of the matrices that registers hold: see `grader.simulation.ptx.instructions.matrices`."""

    def fetch(self, slot: int) -> Array:
        """Return a register that this part of the chunk has not read yet."""
        raise NotImplementedError

    def known(self, slot: int) -> bool:
        """Return whether a register was ever written."""
        raise NotImplementedError

    def line(self) -> int:
        """Return the running line of the student's file, 0 if it is not known."""
        raise NotImplementedError

    def place(self) -> int:
        """Return a number that identifies the running instruction within its kernel."""
        raise NotImplementedError

    def merged(self, slot: int, value: Array) -> Array:
        """Return the new value where the mask holds, and the old one elsewhere."""
        old = self.regs[slot]
        if old is None:
            if not self.known(slot):
                return value
            old = self.fetch(slot)
        assert self.mask is not None
        return np.where(self.mask, value, old if old.dtype is value.dtype else old.view(value.dtype))

    def under(self, mask: Array) -> _Under:
        """Run the body of a `with` for the threads of `mask` alone; the others keep everything as it was."""
        return _Under(self, mask)

    @property
    def active(self) -> Array:
        """Return the mask of the threads that take part."""
        return np.ones((1, 1), bool) if self.mask is None else self.mask

    def out(self, mask: Array) -> Array:
        """Return a mask of this part as a mask of the whole chunk."""
        if self.frame.full:
            return mask
        whole = np.zeros(self.whole, bool)
        self.frame.outside(mask, whole)
        return whole

    def numbers_here(self) -> Array:
        """Return the numbers of the blocks that run."""
        return self.numbers if self.frame.rows is None else self.numbers[self.frame.rows]

    def spot(self) -> Site:
        """Return the place of the running instruction, for the blocks that run."""
        return Site(self.kernel, self.line(), self.numbers_here(), self.blocks)


class _Under:
    """The context manager of `Threads.under`."""

    def __init__(self, threads: Threads, mask: Array) -> None:
        self.threads, self.mask = threads, mask

    def __enter__(self) -> None:
        self.before = self.threads.mask, self.threads.needed
        self.threads.mask, self.threads.needed = self.mask, -1

    def __exit__(self, *error: Any) -> None:
        self.threads.mask, self.threads.needed = self.before
