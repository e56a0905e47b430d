"""Machine for a chunk of thread blocks: runs all their threads at once, in lockstep under masks.

Threads wait before basic blocks. In each step, of the threads that can go on, those furthest behind do: this reunites
threads that have diverged. Every thread has a path: the blocks of the calls that it is in, and the block that it waits
at.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from grader.plan.limits import Budget, Limit
from grader.simulation.findings import Findings
from grader.simulation.ptx.barriers import Barriers
from grader.simulation.ptx.calling import Calling
from grader.simulation.ptx.code import waits_in_shared_memory
from grader.simulation.ptx.decode import Decoded
from grader.simulation.ptx.flow import Stretch
from grader.simulation.ptx.lanes import WARP, Frame, count
from grader.simulation.ptx.memory import Spaces
from grader.simulation.ptx.scheduling import Activation, Path, Runnable, Scheduling, Waiting
from grader.simulation.ptx.state import ChunkState, Grid
from grader.simulation.ptx.sums import Sums
from grader.simulation.ptx.types import Array

FLOOR = 4000
"""The cost in operations of an instruction, beside one operation for each thread."""
FAIR = 32
"""The number of steps after which the threads that waited longest go on, so that none waits for ever behind a loop."""
SPARSE = 4
"""The least ratio of a chunk's threads to a part's at which the part runs alone..."""
LARGE = 1 << 12
"""...if the chunk has at least so many threads."""


@dataclass
class Loop:
    """History of a loop, from which the machine sees whether it can end: the number of rounds, and the values that its
    head needed. `vain` is the machine's at the last round."""

    rounds: int = 0
    vain: int = -1
    version: int = -1
    values: list[Array | None] = field(default_factory=list)


class ThreadMachine(Scheduling):
    """Machine that runs chunks of a launch's blocks, one after another."""

    def __init__(
        self, code: Runnable, grid: Grid, spaces: Spaces, budget: Budget, findings: Findings, kernel: str = ""
    ) -> None:
        super().__init__(code, grid, spaces, budget, findings, kernel)
        self.barriers, self.calls = Barriers(self), Calling(self)
        self.loops: dict[Path, Loop] = {}
        self.held: Array | None = None
        # Steps are counted apart from the clock, which atomics move as well: a loop that moves it by an even number
        # could miss every multiple of FAIR.
        self.steps = 0

    def arrive(self, number: int, mask: Array) -> None:
        self.barriers.arrive(number, mask)

    def back(self, activation: Activation, mask: Array) -> None:
        self.calls.back(activation, mask)

    def run(self, numbers: Array, checked: bool) -> None:
        """Run blocks, by their numbers in the grid, to their ends. `checked`: look for races within blocks."""
        self.numbers = numbers
        self.whole = self.shape = (numbers.size, self.grid.block)
        self.frame = Frame(self.whole)
        self.dirty = None
        self.spaces.begin(numbers, self.grid.block, checked)
        self.barriers.begin()
        self.sums = Sums()
        self.alive = np.ones((1, 1), bool)
        self.loops = {}
        entry = self.activate(self.code.function(self.code.entry), (), None)
        self.running = None
        self.waiting = {(0,): Waiting(entry, 0, self.alive)}
        with np.errstate(all="ignore"):
            while self.waiting:
                self._step()

    def _step(self) -> None:
        self.clock += 1
        self.steps += 1
        path = self._choose()
        if path is None:
            return
        entry = self.waiting[path]
        entry.last = self.clock
        self._enter(path, entry)
        block = entry.activation.code.blocks[entry.number]
        lanes = self.shape[0] * self.shape[1]
        self.budget.charge((len(block.steps) + 1) * (FLOOR + lanes))
        if self.warps is not None:
            self.warps.ran(block, lanes if self.mask is None else count(self.mask, self.shape))
        for step in block.steps:
            self.step = step
            if self.sums.slots:
                self.sums.look(self, step.instruction.name, step.reads, step.writes, self.running)
            step.run(self)
        self._leave(entry, block)

    def _choose(self) -> Path | None:
        """Return the path whose threads go on; threads there that cannot go on keep waiting. None if a barrier has
        released threads."""
        waiting = self.waiting
        if len(waiting) == 1 and self.steps % FAIR:
            path, entry = next(iter(waiting.items()))
            if not entry.activation.code.blocks[entry.number].waits:
                return path
        order = sorted(waiting) if self.steps % FAIR else sorted(waiting, key=lambda one: waiting[one].last)
        if self.version == self.vain:
            # Threads that would test unchanged memory again come last.
            order.sort(key=self._looks_again)
        for path in order:
            entry = waiting[path]
            waits = entry.activation.code.blocks[entry.number].waits
            if not waits:
                return path
            if waits == "warp":
                ready = self.barriers.warps_ready(entry)
                if ready is not None:
                    self._split(path, entry, ready)
                    return path
            elif self.barriers.pass_block(path):
                return None
        return self.barriers.force()

    def _looks_again(self, path: Path) -> bool:
        return path in self.loops and self.loops[path].vain == self.version

    def _split(self, path: Path, entry: Waiting, ready: Array) -> None:
        """Let only the threads of `ready` go on from a path; the others wait there again once these have left."""
        if ready is entry.mask:
            return
        rest = entry.mask & ~ready
        entry.mask = ready
        self.held = rest if rest.any() else None

    def _enter(self, path: Path, entry: Waiting) -> None:
        """Set up the part of the chunk in which threads of an entry run, its registers and its mask."""
        mask, total = entry.mask, self.whole[0] * self.whole[1]
        here = total if mask.size == 1 else count(mask, self.whole)
        frame = self._frame(mask, here, total)
        if frame is not self.frame or entry.activation is not self.running:
            self.flush()
            self.frame, self.running = frame, entry.activation
            self.shape = frame.shape
            full = frame.full
            self.regs = entry.activation.regs if full else [None] * len(entry.activation.regs)
            self.dirty = None if full else set()
            self.spaces.turn_to(frame, entry.activation.local)
        if here == frame.shape[0] * frame.shape[1]:
            self.mask = None
        else:
            self.mask = mask if frame.full else frame.inside(mask)
        del self.waiting[path]
        if self.held is not None:
            self.waiting[path] = Waiting(entry.activation, entry.number, self.held, entry.last)
            self.held = None
        self.needed = self._needed(entry.activation)

    def _frame(self, mask: Array, here: int, total: int) -> Frame:
        """Return the part of the chunk that threads run in: if they are few, only their blocks and warps."""
        if here * SPARSE > total or total < LARGE:
            return self.frame if self.frame.full else Frame(self.whole)
        frame = self.frame
        if not frame.full and here * SPARSE * 2 > frame.shape[0] * frame.shape[1] and (
            count(np.broadcast_to(frame.inside(mask), frame.shape), frame.shape) == here
        ):
            return frame
        rows = columns = None
        size, width = self.whole
        if mask.shape[0] > 1:
            on = mask.any(1)
            rows = None if on.all() else np.flatnonzero(on)
        if mask.shape[1] > 1:
            on = mask.any(0)
            warps = np.logical_or.reduceat(on, np.arange(0, width, WARP))
            columns = None if warps.all() else np.flatnonzero(np.repeat(warps, WARP)[:width])
        shape = (size if rows is None else rows.size, width if columns is None else columns.size)
        if shape[0] * shape[1] * 2 > total:
            return frame if frame.full else Frame(self.whole)
        return Frame(shape, rows, columns)

    # Where threads go from a block.

    def _leave(self, entry: Waiting, block: Stretch) -> None:
        activation, mask = entry.activation, entry.mask
        if block.ending == "next":
            self.go_on(activation, entry.number + 1, mask)
            return
        self.step = None if block.end is None else Decoded(block.end, _nothing)
        if block.ending == "indirect":
            self._indirect(entry, block)
            return
        taken, left = self._parted(mask, block)
        if self.warps is not None and block.ending == "branch" and block.condition is not None:
            self.warps.parted(self, self.line(), mask, taken)
        if block.ending == "branch":
            if taken is not None:
                if block.targets[0] <= entry.number:
                    self._again((*activation.path, block.targets[0]), activation)
                self.go_on(activation, block.targets[0], taken)
            if left is not None:
                self.go_on(activation, entry.number + 1, left)
            return
        if left is not None:
            self.go_on(activation, entry.number + 1, left)
        if taken is None:
            return
        if block.ending == "call":
            assert block.call is not None
            self.calls.call(entry, block.call, taken)
        elif block.ending == "return" and activation.parent is not None:
            self.calls.back(activation, taken)
        else:
            if block.end is not None and block.end.name == "trap":
                self.findings.failed(self.spot(), "", self.first(taken))
            self.leave(taken)

    def _parted(self, mask: Array, block: Stretch) -> tuple[Array | None, Array | None]:
        """Return the threads that take a block's ending and those that go on to the next block, as masks of the whole
        chunk."""
        if block.condition is None:
            return mask, None
        goes = block.condition(self)
        if goes.size == 1:
            return (mask, None) if goes.item() else (None, mask)
        if self.mask is not None:
            goes = goes & self.mask
        here = count(goes, self.shape) if goes.shape != self.shape else int(np.count_nonzero(goes))
        if here == 0:
            return None, mask
        if here == (self.shape[0] * self.shape[1] if self.mask is None else count(self.mask, self.shape)):
            return mask, None
        taken = self.out(goes)
        return taken, mask & ~taken

    def _indirect(self, entry: Waiting, block: Stretch) -> None:
        assert block.condition is not None
        which = block.condition(self)
        for number, target in enumerate(block.targets):
            taken = which == number
            if self.mask is not None:
                taken = taken & self.mask
            if taken.any():
                self.go_on(entry.activation, target, self.out(taken))

    def _again(self, path: Path, activation: Activation) -> None:
        """Record another round of a loop. Raises Limit for a loop that nothing can end."""
        loop = self.loops.setdefault(path, Loop())
        loop.rounds += 1
        loop.vain = self.vain
        if loop.rounds % 512 or any(
            not other.activation.code.blocks[other.number].waits and not self._looks_again(place)
            for place, other in self.waiting.items()
        ):
            return
        block = activation.code.blocks[path[-1]]
        # Live registers of the part of the chunk that runs, and which part that is.
        values = [(here if here is not None else value) if block.live >> slot & 1 else None
                  for slot, (here, value) in enumerate(zip(self.regs, activation.regs, strict=True))]
        values += [self.frame.rows, self.frame.columns]
        if loop.version == self.version and len(loop.values) == len(values) and all(map(_same, values, loop.values)):
            unmet = any(waits_in_shared_memory(step.instruction) for step in block.steps)
            limit = Limit("unmet" if unmet else "stalled" if self.code.spins else "endless")
            limit.rounds = loop.rounds
            raise limit
        loop.values, loop.version = values, self.version

def _nothing(machine: ChunkState) -> None:
    pass


def _same(one: Array | None, other: Array | None) -> bool:
    return one is other or (
        one is not None and other is not None and one.shape == other.shape
        and one.tobytes() == other.tobytes())
