"""The state of a launch while it runs: its code, its programs, its limits, and the facts that checks of its accesses
need."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PurePath

import numpy as np

from grader.languages.triton.confined.simulator.clocks import MOST_PROGRAMS, Clocks
from grader.languages.triton.confined.simulator.text import Function, Op
from grader.languages.triton.confined.simulator.types import Array
from grader.plan.device import Device, Generation
from grader.plan.limits import Budget
from grader.plan.messages import NOWHERE, PLAIN, RunOptions, Where
from grader.simulation.findings import Findings, Site


@dataclass(frozen=True, eq=False)
class Code:
    """A kernel's code. `largest` is the number of elements of its largest tensor, `alive` the most elements of a
    program that are alive at a time.

    `stores` and `loads` say for each argument whether the kernel may store and load through it. `spins`: a loop reads
    memory, so it may wait for another program. `relaxed`: some of its atomics do not order the stores of others.
    """

    functions: dict[str, Function]
    entry: str
    file: str
    largest: int
    alive: int
    stores: list[bool]
    loads: list[bool]
    atomics: bool
    relaxed: bool
    spins: bool


@dataclass(frozen=True)
class Mode:
    """The mode in which a plan runs, on `device`; `file` is the student's."""

    file: str = ""
    device: Device | None = None
    options: RunOptions = PLAIN

    @property
    def generation(self) -> Generation | None:
        """Return the device's generation; None without a device."""
        return None if self.device is None else self.device.generation

    @property
    def granule(self) -> int:
        return self.generation.granule if self.generation else 0


AS_WRITTEN = Mode()


class State:
    """The state of a launch. The `count` programs of a chunk run at once, all making the same operation.

    `stored` are the buffers that the launch stores to. `step` counts atomics, `version` changes of memory by atomics
    and stores. `synced` is the step of each program's last atomic: the program knows all stores that others made before
    their atomics up to that step. It is None in a kernel without atomics.
    """

    def __init__(
        self, code: Code, kernel: str, grid: tuple[int, int, int], stored: set[int], budget: Budget, mode: Mode
    ) -> None:
        self.code, self.kernel, self.grid, self.stored = code, kernel, grid, stored
        self.budget, self.mode, self.granule = budget, mode, mode.granule
        self.file = PurePath(mode.file or code.file).name
        # Buffers that the kernel both loads from and stores to.
        self.shared: set[int] = set()
        self.warps = 1
        # The first program that is run: the accesses of its chunk are reported.
        self.first = 0
        # Barriers so far: all lanes of a program see what a lane stored before the last barrier.
        self.barriers = 0
        self.findings = Findings()
        self.step = self.version = 0
        programs = grid[0] * grid[1] * grid[2]
        self.synced = np.zeros(programs, np.int32) if code.atomics else None
        self.clocks = Clocks(programs) if code.atomics and programs <= MOST_PROGRAMS else None
        self.early = self.clocks is not None and mode.options.early != NOWHERE
        # Like `synced`, for atomics that release or acquire. `relaxed` is the line of an atomic that does not.
        self.released = np.zeros(programs, np.int32) if code.relaxed else None
        self.acquired = np.zeros(programs, np.int32) if code.relaxed else None
        self.relaxed = 0
        # Iterations of the innermost loop.
        self.rounds = 0
        self.calls: list[Op] = []
        self.op: Op | None = None
        # The programs of the chunk, numbered from 0 and from 1.
        self.numbers = self.owners = np.zeros(0, np.int32)
        self.count = 0
        # The programs that make the operation; None if all of the chunk do.
        self.active: Array | None = None

    def stands_in(self, where: Where) -> bool:
        """Return whether this operation stands in one of these lines."""
        # Mostly there are none, and nobody looks for the operation's line.
        return where.lines == "all" or (bool(where.lines) and self.line() in where.lines)

    @property
    def turned(self) -> bool:
        """Return whether this operation has to take another order than usual, if it leaves the order open."""
        return self.stands_in(self.mode.options.order)

    def line(self, op: Op | None = None) -> int:
        """Return the line of the innermost frame in the student's file."""
        ops = [caller for caller in (op or self.op, *reversed(self.calls)) if caller is not None]
        frames = [frame for caller in ops for frame in caller.place.frames]
        own = (line for file, line in frames if PurePath(file).name == self.file)
        return next(own, frames[0][1] if frames else 0)

    def place(self) -> Site:
        return Site(self.kernel, self.line(), self.numbers, self.grid)


def flat(state: State, live: Array | None, shape: tuple[int, ...], *values: Array) -> list[Array]:
    """Return the values of the `live` lanes of all programs, one after another; last, the programs that own these
    lanes."""
    shape = (state.count, *shape)
    owners = state.owners.reshape((-1,) + (1,) * (len(shape) - 1))
    wide = [np.broadcast_to(value, shape) for value in (*values, owners)]
    return [array.reshape(-1) if live is None else array[np.broadcast_to(live, shape)] for array in wide]
