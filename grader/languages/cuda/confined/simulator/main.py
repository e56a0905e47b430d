"""Simulator: runs plans without a GPU, with kernels' PTX on NumPy arrays of the threads of many blocks.

The process reads hostile text, so it is confined. It reports what it cannot run or could not finish.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import partial
from math import inf

from grader.languages.cuda.symbols import variable_name
from grader.plan.findings import Access
from grader.plan.limits import Budget
from grader.plan.messages import Simulate
from grader.plan.plan import Kernel, Launch, Plan
from grader.plan.traffic import Watch
from grader.simulation import driver
from grader.simulation.allocation import keep_freed_memory
from grader.simulation.memory import UNWRITTEN, Array, BufferMemory, Result
from grader.simulation.ptx.launch import PLAIN, Setting, SimulatedDevice, run_launch
from grader.simulation.ptx.observing import ThreadObserver

SUFFIX = ".cu"


def prepare() -> None:
    """Prepare the process from which simulators are forked."""
    keep_freed_memory()


class ThreadKernels(driver.KernelMachine):
    """Machine of kernels in PTX."""

    def __init__(self, budget: Budget, setting: Setting, observer: ThreadObserver) -> None:
        super().__init__(budget, observer)
        self._setting, self._observer = setting, observer

    def launch(self, launch: Launch, kernel: Kernel, buffers: list[BufferMemory]) -> None:
        run_launch(launch, kernel, buffers, self.budget, self.findings, self._setting)
        if not self._observer.chooses:
            # Where only some blocks run, unwritten elements are expected.
            self.budget.left -= sum(buffer.settle() for buffer in buffers)

    def accesses(self) -> list[Access]:
        return self._observer.accesses()


def run(
    plan: Plan, *memories: Sequence[Array], outputs: Collection[str] = (), budget: Budget | None = None,
    on: SimulatedDevice = PLAIN, twice: Collection[int] = (), watch: Watch | None = None,
    order: Sequence[int] | None = None,
) -> Result:
    """Run the calls of a plan, as `simulate` does. `order` makes another choice of what is left to chance, as in
    `Simulate`: the order of blocks (0), the contents of temporaries and outputs (others), or all if it is empty."""
    observer = ThreadObserver(watch or Watch(), (watch and watch.output) or next(iter(outputs), ""))
    byte = on.unwritten if order is not None and (not order or any(order)) else UNWRITTEN
    setting = Setting(SUFFIX, variable_name, on, observer, turned=order is not None and (not order or 0 in order))
    machine = ThreadKernels(budget or Budget(1 << 40), setting, observer)
    return driver.simulate(machine, plan, memories, outputs, twice, byte)


def run_request(plan: Plan, memories: Sequence[Sequence[Array]], request: Simulate) -> Result:
    """Run a plan as a request asks."""
    device = SimulatedDevice(
        request.device, request.registers, frozenset(request.elsewhere), frozenset(request.erring),
        request.resident, request.unwritten)
    return run(
        plan, *memories, outputs=request.outputs, budget=Budget(request.operations, request.seconds or inf),
        on=device, twice=request.twice, watch=request.watch, order=request.order)


serve = partial(driver.serve, run=run_request)
