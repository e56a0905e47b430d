"""Machine for a chunk of thread blocks: runs all their threads at once, in lockstep under masks.

Threads wait before basic blocks. Each step runs the threads furthest behind among those that can go on: so diverged
threads meet again. Every thread has a path: the blocks of the calls that it is in, and the block that it waits at.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from grader.plan.limits import Budget, Limit
from grader.simulation.findings import Findings, Site
from grader.simulation.ptx import calls
from grader.simulation.ptx.barriers import Barriers
from grader.simulation.ptx.code import FunctionCode, KernelCode, PtxBlock, waits_in_shared_memory
from grader.simulation.ptx.decode import Decoded
from grader.simulation.ptx.engines import PendingSums
from grader.simulation.ptx.lanes import ANYWHERE, DTYPES, WARP, Array, Frame, Grid, Unsupported, count, special
from grader.simulation.ptx.memory import Spaces
from grader.simulation.ptx.observing import ThreadObserver, WarpMeter
from grader.simulation.ptx.program import ThreadInstruction

INSTRUCTION_COST = 4000
"""The cost in operations of an instruction, beside one operation for each thread."""
FAIR = 32
"""The number of steps after which the threads with the longest wait go on: none waits for ever behind a loop."""
SPARSE, LARGE = 4, 1 << 12
"""A part of a chunk runs alone if the chunk has at least SPARSE times as many threads, and at least LARGE."""
MOST_CALLS = 48
Path = tuple[int, ...]


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
class WaitingThreads:
    """Threads that wait before a block of a function; `last` is the time at which threads last arrived there or went
    on."""

    activation: Activation
    number: int
    mask: Array
    last: int = 0


@dataclass
class Loop:
    """History of a loop, from which the machine sees whether it can end: the number of rounds, and the values that its
    head needed. `failed_poll` is the machine's `failed_poll` at the last round."""

    rounds: int = 0
    failed_poll: int = -1
    version: int = -1
    values: list[Array | None] = field(default_factory=list)


class Machine:
    """Machine that runs chunks of a launch's blocks, one after another; the `numbers` of a chunk's blocks in the grid
    ascend, and `whole` is its shape.

    `waiting` are threads by where they wait, `alive` those of the chunk that have not ended. `running` is the function
    that runs, `step` its instruction. `regs` are its registers in the running part of the chunk, whose `shape` is that
    of `frame`; `dirty` are the slots that only this part has set, None if it is the whole chunk. `mask` are the threads
    there that take part, None if all do. `needed` are the slots whose values other threads still need. `clock` counts
    steps over all chunks, `version` changes of memory, `polls` looks at flags; `failed_poll` is the version at which a
    thread last tested a barrier in memory that was not complete.
    """

    def __init__(
        self, code: KernelCode, grid: Grid, spaces: Spaces, budget: Budget, findings: Findings, kernel: str = ""
    ) -> None:
        self.code, self.grid, self.spaces = code, grid, spaces
        self.budget, self.findings, self.kernel = budget, findings, kernel
        self.clock = self.version = self.polls = 0
        self.failed_poll = -1
        self.numbers: Array = np.zeros(0, np.int64)
        self.shape = self.whole = (0, 0)
        self.frame = Frame((0, 0))
        self.regs: list[Array | None] = []
        self.mask: Array | None = None
        self.needed = 0
        self.dirty: set[int] | None = None
        self.step: Decoded | None = None
        self.running: Activation | None = None
        self.waiting: dict[Path, WaitingThreads] = {}
        self.alive: Array = np.zeros((1, 1), bool)
        self.barriers = Barriers(self)
        self.sums = PendingSums()
        self.loops: dict[Path, Loop] = {}
        self.held_back: Array | None = None
        # Blocks that begin once all others only wait, and the version of memory at which `polls` began to count.
        self.late: Array | None = None
        self.polled = -1
        # Steps are counted apart from the clock, which atomics move as well: a loop that moves it by an even number
        # could miss every multiple of FAIR.
        self.steps = 0
        self.observer: ThreadObserver | None = None
        self.warps: WarpMeter | None = None
        self.matrices: dict[tuple[object, ...], tuple[object, Array]] = {}
        """A cache of the matrices that registers hold: see `grader.simulation.ptx.instructions.matrices`."""

    def run(self, numbers: Array, checked: bool, late: int = 0) -> None:
        """Run blocks, by their numbers in the grid, to their ends. `checked`: check for races within blocks. The first
        `late` blocks begin once all others only wait."""
        self.numbers = numbers
        self.whole = self.shape = (numbers.size, self.grid.block)
        self.frame = Frame(self.whole)
        self.dirty = None
        self.spaces.begin(numbers, self.grid.block, checked)
        self.barriers.begin()
        self.sums = PendingSums()
        self.alive = np.ones((1, 1), bool)
        self.loops = {}
        self.late = np.arange(numbers.size)[:, None] < late if late else None
        entry = self.activate(self.code.function(self.code.entry), (), None)
        self.running = None
        self.waiting = {(0,): WaitingThreads(entry, 0, self.alive)}
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
        self.budget.charge((len(block.steps) + 1) * (INSTRUCTION_COST + lanes))
        if self.warps is not None:
            self.warps.ran(block, lanes if self.mask is None else count(self.mask, self.shape))
        for step in block.steps:
            self.step = step
            if self.sums.slots:
                self.sums.check(self, step.instruction.name, step.reads, step.writes, self.running)
            step.run(self)
        self._leave(entry, block)

    def _choose(self) -> Path | None:
        """Return the path whose threads go on; threads there that cannot go on keep waiting. None if a barrier has
        released threads."""
        waiting = self.waiting
        if self.late is not None:
            self._begin_late()
        if len(waiting) == 1 and self.steps % FAIR and self.late is None:
            path, entry = next(iter(waiting.items()))
            if not entry.activation.code.blocks[entry.number].waits:
                return path
        order = sorted(waiting) if self.steps % FAIR else sorted(waiting, key=lambda place: waiting[place].last)
        if self.version == self.failed_poll:
            # Threads that would test unchanged memory again come last.
            order.sort(key=self._polls_again)
        for path in order:
            entry = waiting[path]
            waits = entry.activation.code.blocks[entry.number].waits
            if not waits and self.late is None:
                return path
            if waits == "block":
                if self.barriers.release_block(path):
                    return None
                continue
            ready = self.barriers.warps_ready(entry) if waits else entry.mask
            if ready is not None and self.late is not None:
                ready = ready & ~self.late
            if ready is not None and ready.any():
                self._split(path, entry, ready)
                return path
        if self.late is not None:
            self.late = None
            return self._choose()
        return self.barriers.release_stuck()

    def _begin_late(self) -> None:
        """Let late blocks begin if the others have looked at flags so often that none of them goes on."""
        if self.version != self.polled:
            self.polled, self.polls = self.version, 0
        elif self.polls > FAIR:
            self.late = None

    def _polls_again(self, path: Path) -> bool:
        return path in self.loops and self.loops[path].failed_poll == self.version

    def _split(self, path: Path, entry: WaitingThreads, ready: Array) -> None:
        """Let only the threads of `ready` go on from a path; the others wait there again once these have left."""
        if ready is entry.mask:
            return
        rest = entry.mask & ~ready
        entry.mask = ready
        self.held_back = rest if rest.any() else None

    def _enter(self, path: Path, entry: WaitingThreads) -> None:
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
            self.spaces.select(frame, entry.activation.local)
        if here == frame.shape[0] * frame.shape[1]:
            self.mask = None
        else:
            self.mask = mask if frame.full else frame.narrow(mask)
        del self.waiting[path]
        if self.held_back is not None:
            self.waiting[path] = WaitingThreads(entry.activation, entry.number, self.held_back, entry.last)
            self.held_back = None
        self.needed = self._needed_slots(entry.activation)

    def _frame(self, mask: Array, here: int, total: int) -> Frame:
        """Return the part of the chunk that threads run in: if they are few, only their blocks and warps."""
        if here * SPARSE > total or total < LARGE:
            return self.frame if self.frame.full else Frame(self.whole)
        frame = self.frame
        if not frame.full and here * SPARSE * 2 > frame.shape[0] * frame.shape[1] and (
            count(np.broadcast_to(frame.narrow(mask), frame.shape), frame.shape) == here
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

    def _leave(self, entry: WaitingThreads, block: PtxBlock) -> None:
        activation, mask = entry.activation, entry.mask
        if block.ending == "next":
            self.wait_before(activation, entry.number + 1, mask)
            return
        self.step = None if block.end is None else Decoded(block.end, _nothing)
        if block.ending == "indirect":
            self._indirect(entry, block)
            return
        taken, left = self._split_threads(mask, block)
        if self.warps is not None and block.ending == "branch" and block.condition is not None:
            self.warps.branched(self, self.line(), mask, taken)
        if block.ending == "branch":
            if taken is not None:
                if block.targets[0] <= entry.number:
                    self._count_round((*activation.path, block.targets[0]), activation)
                self.wait_before(activation, block.targets[0], taken)
            if left is not None:
                self.wait_before(activation, entry.number + 1, left)
            return
        if left is not None:
            self.wait_before(activation, entry.number + 1, left)
        if taken is None:
            return
        if block.ending == "call":
            assert block.call is not None
            calls.call(self, entry, block.call, taken)
        elif block.ending == "return" and activation.parent is not None:
            calls.return_to_caller(self, activation, taken)
        else:
            if block.end is not None and block.end.name == "trap":
                self.findings.failed(self.site(), "", self.first(taken))
            self.end_threads(taken)

    def _split_threads(self, mask: Array, block: PtxBlock) -> tuple[Array | None, Array | None]:
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
        taken = self.to_chunk(goes)
        return taken, mask & ~taken

    def _indirect(self, entry: WaitingThreads, block: PtxBlock) -> None:
        assert block.condition is not None
        which = block.condition(self)
        for number, target in enumerate(block.targets):
            taken = which == number
            if self.mask is not None:
                taken = taken & self.mask
            if taken.any():
                self.wait_before(entry.activation, target, self.to_chunk(taken))

    def _count_round(self, path: Path, activation: Activation) -> None:
        """Record another round of a loop. Raises Limit for a loop that nothing can end."""
        loop = self.loops.setdefault(path, Loop())
        loop.rounds += 1
        loop.failed_poll = self.failed_poll
        if loop.rounds % 512 or any(
            not entry.activation.code.blocks[entry.number].waits and not self._polls_again(place)
            for place, entry in self.waiting.items()
        ):
            return
        block = activation.code.blocks[path[-1]]
        # Live registers of the part of the chunk that runs, and which part that is.
        values = [(here if here is not None else value) if block.live >> slot & 1 else None
                  for slot, (here, value) in enumerate(zip(self.regs, activation.regs, strict=True))]
        values += [self.frame.rows, self.frame.columns]
        if loop.version == self.version and len(loop.values) == len(values) and all(map(_same, values, loop.values)):
            unmet = self.failed_poll == self.version or any(
                waits_in_shared_memory(step.instruction) for step in block.steps)
            limit = Limit("unmet" if unmet else "stalled" if self.code.spins else "endless")
            limit.rounds = loop.rounds
            raise limit
        loop.values, loop.version = values, self.version

    def wait_before(self, activation: Activation, number: int, mask: Array) -> None:
        """Let threads wait before a block; past the last block their function returns."""
        if number >= len(activation.code.blocks):
            if activation.parent is not None:
                calls.return_to_caller(self, activation, mask)
            else:
                self.end_threads(mask)
            return
        path = (*activation.path, number)
        there = self.waiting.get(path)
        if there is None:
            # A loop that waits for others comes back at once, and must not count as the one that waits longest.
            self.waiting[path] = WaitingThreads(activation, number, mask, self.clock if self.code.spins else 0)
        else:
            there.mask = there.mask | mask

    def end_threads(self, mask: Array) -> None:
        """End threads."""
        if self.waiting:
            self.alive = self.alive & ~mask

    # Registers.

    def fetch(self, slot: int) -> Array:
        """Return a register that this part of the chunk has not read yet, and record it if nothing has written it."""
        assert self.running is not None
        value = self.running.regs[slot]
        if value is None:
            value = self._unset(DTYPES[self.running.code.kinds[slot]])
            self.findings.undefined(self.site(), "unset", certain=False)
        elif not self.frame.full:
            value = self.frame.narrow(value)
        self.regs[slot] = value
        return value

    def known(self, slot: int) -> bool:
        """Return whether a register was ever written."""
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
                self.findings.undefined(self.site(), "places", certain=False)
        local = 0
        if parent is not None:
            local = parent.local + parent.code.local
        self.spaces.local.grow(local + code.local)
        return Activation(code, path, parent, regs, local)

    def _needed_slots(self, activation: Activation) -> int:
        """Return the slots of an activation that waiting threads still need."""
        needed, depth = 0, len(activation.path)
        for path, entry in self.waiting.items():
            if path[:depth] == activation.path:
                if len(path) == depth + 1:
                    needed |= activation.code.blocks[entry.number].live if entry.activation is activation else 0
                else:
                    # They return to the block after the call that they are in.
                    blocks = activation.code.blocks
                    needed |= blocks[path[depth] + 1].live if path[depth] + 1 < len(blocks) else 0
        return needed

    def flush(self) -> None:
        """Write the registers of a part of the chunk back to those of the whole."""
        if not self.dirty or self.running is None:
            return
        live = self._needed_slots(self.running)
        for slot in self.dirty:
            if not live >> slot & 1:
                continue
            value, old = self.regs[slot], self.running.regs[slot]
            assert value is not None
            whole = np.empty(self.whole, value.dtype)
            before = self._unset(value.dtype) if old is None else old
            whole[...] = before if before.dtype == value.dtype else before.view(value.dtype)
            self.frame.scatter(value, whole)
            self.running.regs[slot] = whole
        self.dirty = set()

    def write_back(self) -> None:
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
        self.frame.scatter(value, whole)
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
        for place, entry in self.waiting.items():
            if place[: len(path)] == path and len(place) == len(path) + 1:
                return entry.activation
            if place[: len(path)] == path and len(place) > len(path):
                activation: Activation | None = entry.activation
                while activation is not None and len(activation.path) > len(path):
                    activation = activation.parent
                return activation
        return None

    # The threads that take part.

    def merged(self, slot: int, value: Array) -> Array:
        """Return the new value where the mask holds, and the old one elsewhere."""
        old = self.regs[slot]
        if old is None:
            if not self.known(slot):
                return value
            old = self.fetch(slot)
        assert self.mask is not None
        return np.where(self.mask, value, old if old.dtype is value.dtype else old.view(value.dtype))

    def under(self, mask: Array) -> _MaskedThreads:
        """Run the body of a `with` for the threads of `mask` alone; the others keep everything as it was."""
        return _MaskedThreads(self, mask)

    @property
    def active(self) -> Array:
        """Return the mask of the threads that take part."""
        return np.ones((1, 1), bool) if self.mask is None else self.mask

    def to_chunk(self, mask: Array) -> Array:
        """Return a mask of this part as a mask of the whole chunk."""
        if self.frame.full:
            return mask
        whole = np.zeros(self.whole, bool)
        self.frame.scatter(mask, whole)
        return whole

    def numbers_here(self) -> Array:
        """Return the numbers of the blocks that run."""
        return self.numbers if self.frame.rows is None else self.numbers[self.frame.rows]

    # The running line and instruction.

    def line(self) -> int:
        """Return the line of the innermost instruction that has a line in the student's file, 0 if none has."""
        if self.step is not None and self.step.instruction.line:
            return self.step.instruction.line
        return self._call_line(self.running)

    @staticmethod
    def _call_line(activation: Activation | None) -> int:
        """Return the line of the innermost call around an activation that has a line, 0 if none has."""
        while activation is not None and activation.parent is not None:
            end = activation.parent.code.blocks[activation.path[-1]].end
            if end is not None and end.line:
                return end.line
            activation = activation.parent
        return 0

    def place(self) -> int:
        """Return a number that identifies the running instruction within its kernel."""
        return id(self.step)

    def site_of(self, instruction: ThreadInstruction, activation: Activation | None) -> Site:
        """Return the place of a function's instruction, for all blocks of the chunk."""
        return Site(
            self.kernel, instruction.line or self._call_line(activation), self.numbers, self.grid.blocks)

    def first(self, mask: Array) -> int:
        """Return the index, in this part, of the first block that has threads in a mask of the whole chunk."""
        inside = mask if self.frame.full else self.frame.narrow(mask)
        return int(np.argmax(inside.any(1))) if inside.shape[0] > 1 else 0

    def site(self) -> Site:
        """Return the place of the running instruction, for the blocks that run."""
        return Site(self.kernel, self.line(), self.numbers_here(), self.grid.blocks)


class _MaskedThreads:
    """The context manager of `Machine.under`."""

    def __init__(self, threads: Machine, mask: Array) -> None:
        self.threads, self.mask = threads, mask

    def __enter__(self) -> None:
        self.before = self.threads.mask, self.threads.needed
        self.threads.mask, self.threads.needed = self.mask, -1

    def __exit__(self, *error: Any) -> None:
        self.threads.mask, self.threads.needed = self.before


def _nothing(machine: Machine) -> None:
    pass


def _same(first: Array | None, second: Array | None) -> bool:
    return first is second or (
        first is not None and second is not None and first.shape == second.shape
        and first.tobytes() == second.tobytes())
