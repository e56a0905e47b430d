"""The machine that runs a launch: functions and blocks, operation by operation, for all programs of a chunk at once."""

from __future__ import annotations

from collections import deque
from typing import Any

import numpy as np

from grader.languages.triton.confined.simulator.observing import Accesses, TileMeter
from grader.languages.triton.confined.simulator.pointers import Storage, Value, merge
from grader.languages.triton.confined.simulator.races import Shadow
from grader.languages.triton.confined.simulator.ramps import Ramp
from grader.languages.triton.confined.simulator.state import Code, Mode, State
from grader.languages.triton.confined.simulator.text import BasicBlock, Op
from grader.languages.triton.confined.simulator.types import Array
from grader.plan.limits import Budget, Limit, Unsupported


class Pipeline:
    """A loop under way. Its `loads` may be made some iterations ahead, before the stores of the iterations between.

    `loads` are all loads of blocks if the loop states a number of stages, else the loads that lead to a product.
    """

    def __init__(self, op: Op, stages: int) -> None:
        explicit = int(op.attribute("tt.num_stages")) if "tt.num_stages" in op.body else 0
        stages = explicit or stages
        self.loads: set[Op] = op.early if stages > 1 else set()
        self.stored: set[int] = set()
        self._before: deque[dict[int, Array]] = deque(maxlen=max(1, stages))

    def begin(self) -> None:
        """Begin another iteration."""
        self._before.append({})

    def keep(self, buffer: Storage, copied: bool) -> None:
        """Note a store before it is made. With `copied`, copy the buffer's contents first."""
        self.stored.add(buffer.index)
        if copied and self._before and buffer.index not in self._before[-1]:
            self._before[-1][buffer.index] = buffer.raw.copy()

    def early(self, buffer: Storage) -> Storage:
        """Return the buffer as it was when the load of this iteration could be made at the earliest."""
        old = next((copies[buffer.index] for copies in self._before if buffer.index in copies), None)
        return buffer if old is None else Storage(buffer.index, old, None, buffer.given)


FLOOR = 4000
"""The element operations that each operation costs beside those of its elements, for its own overhead."""
MOST_CALLS = 24

Env = dict[str, Value]


class EarlierLaunches:
    """Stores of earlier launches that a programmatic launch has to wait for. `ahead`: one of these launches lets it
    begin early. `writers` are the shadows of these launches by buffer.
    """

    def __init__(self) -> None:
        self.writers: dict[int, Shadow] = {}
        self.ahead = False

    def followed_by(self, machine: Machine) -> None:
        """Add a launch, which may have waited for the earlier ones."""
        if machine.earlier is None:
            self.writers, self.ahead = {}, False
        self.writers.update(machine.shadows)
        self.ahead |= machine.ahead


class Machine(State):
    """The machine that runs the programs of a launch. `earlier` are launches that it has not waited for. `ahead`: it
    lets the next launch begin early."""

    def __init__(
        self, code: Code, kernel: str, grid: tuple[int, int, int], stored: set[int], budget: Budget, mode: Mode,
        meter: TileMeter | None = None, earlier: EarlierLaunches | None = None,
    ) -> None:
        super().__init__(code, kernel, grid, stored, budget, mode)
        self.meter = meter
        # For all programs: they run in lockstep, so all wait at once.
        self.earlier, self.ahead = earlier, False
        self.stages = 0
        # The loops that the current operation is in.
        self.loops: list[Pipeline] = []
        self.accesses = Accesses()
        self.shadows: dict[int, Shadow] = {}

    def run(self, arguments: list[Value], numbers: Array) -> None:
        """Run a chunk: the programs of these numbers (int32), to their ends."""
        self.numbers = numbers
        self.owners = self.numbers + np.int32(1)
        self.count = numbers.size
        with np.errstate(all="ignore"):
            self.call(self.code.entry, arguments, None)

    def call(self, name: str, arguments: list[Value], active: Array | None) -> list[Value]:
        """Call a function. Returns its results."""
        function = self.code.functions.get(name)
        if function is None or len(function.blocks[0].arguments) != len(arguments):
            raise Unsupported(f"a call of {name[:100]}")
        if len(self.calls) > MOST_CALLS:
            raise Unsupported("calls too deep")
        env: Env = dict(zip(function.blocks[0].arguments, arguments, strict=True))
        if len(function.blocks) == 1 or function.blocks[0].ops[-1].name == "tt.return":
            end, values = self.block(function.blocks[0], env, active)
            if end is None or end.name != "tt.return":
                raise Unsupported("a function of another form")
            return values
        return self._follow(function.blocks, env, active)

    def block(self, block: BasicBlock, env: Env, active: Array | None) -> tuple[Op | None, list[Value]]:
        """Run a block. Returns the operation that ends it, and the values of its operands."""
        budget = self.budget
        for op in block.ops:
            values: list[Any] = [env[name] for name in op.operands]
            if not op.ramps:
                values = [value.array() if type(value) is Ramp else value for value in values]
            self.op = op
            if op.pure is not None:
                result = op.pure(*values)
            elif op.run is not None:
                self.active = active
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

    def _follow(self, blocks: list[BasicBlock], env: Env, active: Array | None) -> list[Value]:
        """Run a function of several blocks: next is always the earliest block at which programs wait."""
        index = {block.label: number for number, block in enumerate(blocks)}
        waiting: dict[int, Array] = {0: np.ones(self.count, bool) if active is None else active}
        returned: list[Value] | None = None
        while waiting:
            number = min(waiting)
            here = waiting.pop(number)
            self.budget.charge(4 * FLOOR)
            op, values = self.block(blocks[number], env, None if here.all() else here)
            if op is None:
                raise Unsupported("a block without an end")
            if op.name == "tt.return":
                returned = values if returned is None else [
                    merge(here, new, old) for new, old in zip(values, returned, strict=True)]
                continue
            if op.name == "cf.br":
                ways = [(op.targets[0], here)]
            elif op.name == "cf.cond_br":
                condition = np.broadcast_to(np.asarray(values[0]), (self.count,))
                ways = [(op.targets[0], here & condition), (op.targets[1], here & ~condition)]
            else:
                raise Unsupported(f"{op.name} at the end of a block")
            for (label, names), going in ways:
                if not going.any():
                    continue
                target = index[label]
                given = [env[name] for name in names]
                for name, value in zip(blocks[target].arguments, given, strict=True):
                    env[name] = merge(going, value, env[name]) if target in waiting else value
                waiting[target] = waiting[target] | going if target in waiting else going
        if returned is None:
            raise Unsupported("a function without an end")
        return returned
