"""Waiting threads of functions: their registers, and where they go next."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from grader.plan.limits import Budget, Limit
from grader.simulation.findings import Findings, Site
from grader.simulation.ptx.decode import Decoded
from grader.simulation.ptx.flow import FunctionCode
from grader.simulation.ptx.memory import Spaces
from grader.simulation.ptx.program import ThreadFunction, ThreadInstruction
from grader.simulation.ptx.special import ANYWHERE, special
from grader.simulation.ptx.state import ChunkState, Grid
from grader.simulation.ptx.types import DTYPES, Array, Unsupported

MOST_CALLS = 48
Path = tuple[int, ...]


class Runnable(Protocol):
    """A kernel's code. `spins`: a loop in it may wait for other threads."""

    entry: str
    spins: bool
    functions: Mapping[str, ThreadFunction]

    def function(self, name: str) -> FunctionCode: ...


@dataclass(eq=False, slots=True)
class Activation:
    """Call of a function by some threads: `path` are the basic blocks of the calls around it. `regs` are values of the
    whole chunk, by slot; `local` is the offset of its local memory."""

    code: FunctionCode
    path: Path
    parent: Activation | None
    regs: list[Array | None]
    local: int = 0
    running: int = 0


@dataclass(slots=True)
class Waiting:
    """Threads that wait before a block of a function; `last` is the time at which threads last went on from there."""

    activation: Activation
    number: int
    mask: Array
    last: int = 0


class Scheduling(ChunkState):
    """Threads by where they wait. `alive` are those of the chunk that have not ended, `running` is the function that
    runs, `step` its instruction."""

    def __init__(
        self, code: Runnable, grid: Grid, spaces: Spaces, budget: Budget, findings: Findings, kernel: str = ""
    ) -> None:
        super().__init__(grid, spaces, budget, findings, kernel)
        self.code = code
        self.step: Decoded | None = None
        self.running: Activation | None = None
        self.waiting: dict[Path, Waiting] = {}
        self.alive: Array = np.zeros((1, 1), bool)

    # Registers.

    def fetch(self, slot: int) -> Array:
        """Return a register that this part of the chunk has not read yet, and record it if nothing has written it."""
        assert self.running is not None
        value = self.running.regs[slot]
        if value is None:
            value = self._unset(DTYPES[self.running.code.kinds[slot]])
            self.findings.undefined(self.spot(), "unset", certain=False)
        elif not self.frame.full:
            value = self.frame.inside(value)
        self.regs[slot] = value
        return value

    def known(self, slot: int) -> bool:
        return self.running is not None and self.running.regs[slot] is not None

    def _unset(self, dtype: np.dtype[np.generic]) -> Array:
        """Return the value of a register that nothing has written, where a GPU may have anything: NaN for a float, so
        that it shows in sums, and False for a predicate. A device with other `bits` has True and another number."""
        if dtype.kind == "b":
            return np.full((1, 1), self.spaces.unset != 0xFF)
        return np.full(dtype.itemsize, self.spaces.unset, np.uint8).view(dtype)[None]

    def activate(self, code: FunctionCode, path: Path, parent: Activation | None) -> Activation:
        if len(path) > MOST_CALLS:
            raise Limit("memory")
        regs: list[Array | None] = [None] * len(code.kinds)
        for name, slot in code.specials.items():
            regs[slot] = special(name, self.grid, self.numbers, self.spaces)
            if name in ANYWHERE:
                self.findings.undefined(self.spot(), "places", certain=False)
        local = 0
        if parent is not None:
            local = parent.local + parent.code.local
        self.spaces.local.grow(local + code.local)
        return Activation(code, path, parent, regs, local)

    def _needed(self, activation: Activation) -> int:
        """Return the slots of an activation that waiting threads still need."""
        needed, depth = 0, len(activation.path)
        for path, other in self.waiting.items():
            if path[:depth] == activation.path:
                if len(path) == depth + 1:
                    needed |= activation.code.blocks[other.number].live if other.activation is activation else 0
                else:
                    # They return to the block after the call that they are in.
                    blocks = activation.code.blocks
                    needed |= blocks[path[depth] + 1].live if path[depth] + 1 < len(blocks) else 0
        return needed

    def flush(self) -> None:
        """Write the registers of a part of the chunk back to those of the whole."""
        if not self.dirty or self.running is None:
            return
        live = self._needed(self.running)
        for slot in self.dirty:
            if not live >> slot & 1:
                continue
            value, old = self.regs[slot], self.running.regs[slot]
            assert value is not None
            whole = np.empty(self.whole, value.dtype)
            before = self._unset(value.dtype) if old is None else old
            whole[...] = before if before.dtype == value.dtype else before.view(value.dtype)
            self.frame.outside(value, whole)
            self.running.regs[slot] = whole
        self.dirty = set()

    def settle(self) -> None:
        """Write registers back, so that those of the whole chunk are right until the next step."""
        self.flush()
        if not self.frame.full:
            self.running = None

    def whole_value(self, activation: Activation, slot: int) -> Array | None:
        """Return a register of the whole chunk, with right values at least for the threads that run."""
        if activation is not self.running or self.frame.full:
            return activation.regs[slot]
        assert self.dirty is not None
        value = self.regs[slot]
        if slot not in self.dirty or value is None:
            return activation.regs[slot]
        whole = np.zeros(self.whole, value.dtype)
        self.frame.outside(value, whole)
        return whole

    def put_whole(self, activation: Activation, slot: int, value: Array, mask: Array) -> None:
        """Set a register of the whole chunk in some threads."""
        size = DTYPES[activation.code.kinds[slot]].itemsize
        if value.dtype.itemsize != size:
            raise Unsupported("an argument of another size")
        old = activation.regs[slot]
        if old is not None and mask.size > 1:
            value = np.where(mask, value, old.view(value.dtype))
        elif old is not None and not mask.all():
            value = old
        activation.regs[slot] = value
        if activation is self.running and not self.frame.full:
            self.regs[slot] = None
            assert self.dirty is not None
            self.dirty.discard(slot)

    def waiting_in(self, path: Path) -> Activation | None:
        """Return the activation of threads that wait in the call at `path`; None if there are none."""
        for other, entry in self.waiting.items():
            if other[: len(path)] == path and len(other) == len(path) + 1:
                return entry.activation
            if other[: len(path)] == path and len(other) > len(path):
                activation: Activation | None = entry.activation
                while activation is not None and len(activation.path) > len(path):
                    activation = activation.parent
                return activation
        return None

    # Where threads go.

    def back(self, activation: Activation, mask: Array) -> None:
        """Take threads back from a function to the block after its call."""
        raise NotImplementedError

    def go_on(self, activation: Activation, number: int, mask: Array) -> None:
        """Let threads wait before a block; past the last one a function returns."""
        if number >= len(activation.code.blocks):
            if activation.parent is not None:
                self.back(activation, mask)
            else:
                self.leave(mask)
            return
        path = (*activation.path, number)
        there = self.waiting.get(path)
        if there is None:
            self.waiting[path] = Waiting(activation, number, mask)
        else:
            there.mask = there.mask | mask

    def leave(self, mask: Array) -> None:
        """End threads."""
        if self.waiting:
            self.alive = self.alive & ~mask

    # The running line and instruction.

    def line(self) -> int:
        """Return the line of the innermost instruction that has a line in the student's file, 0 if none has."""
        if self.step is not None and self.step.instruction.line:
            return self.step.instruction.line
        activation = self.running
        while activation is not None and activation.parent is not None:
            end = activation.parent.code.blocks[activation.path[-1]].end
            if end is not None and end.line:
                return end.line
            activation = activation.parent
        return 0

    def place(self) -> int:
        return id(self.step)

    def spot_of(self, instruction: ThreadInstruction) -> Site:
        """Return the place of an instruction, for all blocks of the chunk."""
        return Site(self.kernel, instruction.line or self.line(), self.numbers, self.grid.blocks)

    def first(self, mask: Array) -> int:
        """Return the index, in this part, of the first block that has threads in a mask of the whole chunk."""
        inside = mask if self.frame.full else self.frame.inside(mask)
        return int(np.argmax(inside.any(1))) if inside.shape[0] > 1 else 0
