"""The state of a launch while it is run: the programs of a chunk, what they share, and what may still be spent."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from grader.frontends.triton.simulator.accesses import Accesses
from grader.frontends.triton.simulator.clocks import MOST_PROGRAMS, Clocks
from grader.frontends.triton.simulator.findings import Findings, Place
from grader.frontends.triton.simulator.pointers import Value
from grader.frontends.triton.simulator.races import Shadow
from grader.frontends.triton.simulator.ramps import Ramp
from grader.frontends.triton.simulator.text import Block, Op
from grader.frontends.triton.simulator.types import Array, Unsupported
from grader.plan.device import Device, Generation

if TYPE_CHECKING:
    from grader.frontends.triton.simulator.meter import Meter
    from grader.frontends.triton.simulator.orders import Pipeline
    from grader.frontends.triton.simulator.program import Program

FLOOR = 4000
"""Element operations that each operation counts beside those of its elements, for the time that it takes."""
MOST_CALLS = 24


class Limit(Exception):
    """A limit was reached, as `Exhausted` has them."""

    def __init__(self, what: Literal["operations", "memory", "stalled"]) -> None:
        super().__init__(what)
        self.what: Literal["operations", "memory", "stalled"] = what
        self.resident = 0


class Budget:
    """Element operations that are left, for all launches of a plan."""

    def __init__(self, operations: int) -> None:
        self.operations = self.left = operations

    @property
    def used(self) -> int:
        return min(self.operations, self.operations - self.left)


@dataclass(frozen=True)
class Mode:
    """How a plan is run: `masked`, `order`, `early` and `device` as in `messages.Simulate`, `file` is the student's."""

    file: str = ""
    masked: Collection[int] | None = None
    order: Collection[int] | None = None
    early: Collection[int] = ()
    device: Device | None = None

    @property
    def generation(self) -> Generation | None:
        """That of the device; None where a plan is run for none."""
        return None if self.device is None else self.device.generation

    @property
    def granule(self) -> int:
        return self.generation.granule if self.generation else 0

    @property
    def programs_turned(self) -> bool:
        """Whether programs of a launch are run in another order."""
        return self.order is not None and (not self.order or 0 in self.order)


AS_WRITTEN = Mode()


class Earlier:
    """What launches before this one have stored that it cannot know to be there: elements of buffers that this launch,
    a programmatic one, has to wait for. `ahead`: one of those let it begin before its own end."""

    def __init__(self) -> None:
        self.writers: dict[int, Shadow] = {}
        self.ahead = False

    def followed_by(self, machine: Machine) -> None:
        """Takes note of a launch, which may have waited for those before it."""
        if machine.earlier is None:
            self.writers, self.ahead = {}, False
        self.writers.update(machine.shadows)
        self.ahead |= machine.ahead


class Machine:
    """`count` programs are run at once, all doing the same operation; `active` ones have its effects.

    `step` counts atomics, `version` changes of memory by them and by stores. `synced` is the step of each program's
    last atomic, from which on what others stored before theirs is known to it; None in a kernel without atomics.
    """

    def __init__(
        self, program: Program, kernel: str, grid: tuple[int, int, int], stored: set[int], budget: Budget, mode: Mode,
        meter: Meter | None = None, earlier: Earlier | None = None,
    ) -> None:
        self.program, self.kernel, self.grid, self.stored = program, kernel, grid, stored
        self.budget, self.mode, self.meter, self.granule = budget, mode, meter, mode.granule
        self.file = PurePath(mode.file or program.file).name
        # Programs in step wait all at once.
        self.earlier, self.ahead = earlier, False
        # Buffers that the kernel loads from and stores to, its warps and stages, and the loops that it is in.
        self.shared: set[int] = set()
        self.warps, self.stages = 1, 0
        # Of the programs that are run, whose accesses are told.
        self.first = 0
        self.loops: list[Pipeline] = []
        # How many barriers there were: what a lane stored before the last is there for all lanes of its program.
        self.barriers = 0
        self.findings, self.accesses = Findings(), Accesses()
        self.shadows: dict[int, Shadow] = {}
        self.step = self.version = 0
        programs = grid[0] * grid[1] * grid[2]
        self.synced = np.zeros(programs, np.int32) if program.atomics else None
        self.clocks = Clocks(programs) if program.atomics and programs <= MOST_PROGRAMS else None
        self.early = self.clocks is not None and bool(mode.early)
        # The same as `synced`, of those that order what others store; and the line of one that does not.
        self.released = np.zeros(programs, np.int32) if program.relaxed else None
        self.acquired = np.zeros(programs, np.int32) if program.relaxed else None
        self.relaxed = 0
        self.calls: list[Op] = []
        self.op: Op | None = None
        self.numbers = self.owners = np.zeros(0, np.int32)
        self.count = 0

    def run(self, arguments: list[Value], numbers: Array) -> None:
        """Runs a chunk: the programs of these numbers (int32), to their ends."""
        self.numbers = numbers
        self.owners = self.numbers + np.int32(1)
        self.count = numbers.size
        with np.errstate(all="ignore"):
            self.call(self.program.entry, arguments, None)

    def charge(self, operations: int) -> None:
        self.budget.left -= operations
        if self.budget.left < 0:
            raise Limit("operations")

    @property
    def masked_is_nan(self) -> bool:
        """Whether lanes that a mask without `other` switches off here hold no number."""
        masked = self.mode.masked
        return masked is not None and (not masked or self.line() in masked)

    @property
    def turned(self) -> bool:
        """Whether what this operation leaves to chance is to come out otherwise."""
        order = self.mode.order
        return order is not None and (not order or self.line() in order)

    def line(self, op: Op | None = None) -> int:
        """The line of the innermost frame in the student's file."""
        ops = [each for each in (op or self.op, *reversed(self.calls)) if each is not None]
        frames = [frame for each in ops for frame in each.place.frames]
        own = (line for file, line in frames if PurePath(file).name == self.file)
        return next(own, frames[0][1] if frames else 0)

    def place(self) -> Place:
        return Place(self.kernel, self.line(), self.numbers, self.grid)

    def call(self, name: str, arguments: list[Value], active: Array | None) -> list[Value]:
        """What a function returns."""
        function = self.program.functions.get(name)
        if function is None or len(function.blocks[0].arguments) != len(arguments):
            raise Unsupported(f"a call of {name[:100]}")
        if len(self.calls) > MOST_CALLS:
            raise Unsupported("calls too deep")
        env: dict[str, Value] = dict(zip(function.blocks[0].arguments, arguments, strict=True))
        if len(function.blocks) == 1 or function.blocks[0].ops[-1].name == "tt.return":
            end, values = self.block(function.blocks[0], env, active)
            if end is None or end.name != "tt.return":
                raise Unsupported("a function of another form")
            return values
        from grader.frontends.triton.simulator.control import follow

        return follow(self, function.blocks, env, active)

    def block(self, block: Block, env: dict[str, Value], active: Array | None) -> tuple[Op | None, list[Value]]:
        """Runs a block; gives the operation that ends it and the values of its operands."""
        budget = self.budget
        for op in block.ops:
            values: list[Any] = [env[name] for name in op.operands]
            if not op.ramps:
                values = [each.array() if type(each) is Ramp else each for each in values]
            self.op = op
            if op.pure is not None:
                result = op.pure(*values)
            elif op.run is not None:
                result = op.run(self, op, values, env, active)
            else:
                return op, values
            names = op.results
            if len(names) == 1 and not isinstance(result, list):
                env[names[0]] = result
                budget.left -= FLOOR + op.weight * result.size
            else:
                if names:
                    env.update(zip(names, result, strict=True))
                budget.left -= FLOOR
            if budget.left < 0:
                raise Limit("operations")
            for name in op.dead:
                del env[name]
        return None, []
