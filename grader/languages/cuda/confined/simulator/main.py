"""Simulator: runs plans without a GPU, with kernels' PTX on NumPy arrays of the threads of many blocks.

The process reads hostile text, so it is confined. It reports what it cannot run or could not finish.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import partial
from math import inf

from grader.languages.cuda.symbols import variable_name
from grader.plan.device import Device
from grader.plan.findings import Access
from grader.plan.limits import Budget
from grader.plan.messages import PLAIN, RunOptions, Simulate
from grader.plan.plan import Kernel, Launch, Plan
from grader.plan.traffic import Watch
from grader.simulation import driver
from grader.simulation.allocation import keep_freed_memory
from grader.simulation.memory import Array, BufferMemory, Result
from grader.simulation.ptx.launch import LaunchSettings, run_launch
from grader.simulation.ptx.observing import ThreadObserver

SUFFIX = ".cu"


def prepare() -> None:
    """Prepare the process from which simulators are forked."""
    keep_freed_memory()


class ThreadKernels(driver.KernelMachine):
    """Machine of kernels in PTX."""

    def __init__(self, budget: Budget, settings: LaunchSettings, observer: ThreadObserver) -> None:
        super().__init__(budget, observer)
        self._settings, self._observer = settings, observer

    def launch(self, launch: Launch, kernel: Kernel, buffers: list[BufferMemory]) -> None:
        run_launch(launch, kernel, buffers, self.budget, self.findings, self._settings)
        if not self._observer.chooses:
            # Where only some blocks run, unwritten elements are expected.
            self.budget.left -= sum(buffer.settle() for buffer in buffers)

    def accesses(self) -> list[Access]:
        return self._observer.accesses()


def run(
    plan: Plan, *memories: Sequence[Array], outputs: Collection[str] = (), budget: Budget | None = None,
    device: Device | None = None, options: RunOptions = PLAIN,
) -> Result:
    """Run the calls of a plan, as `simulate` does."""
    watch = options.watch or Watch()
    observer = ThreadObserver(watch, watch.output or next(iter(outputs), ""))
    settings = LaunchSettings(SUFFIX, variable_name, device, options, observer)
    machine = ThreadKernels(budget or Budget(1 << 40), settings, observer)
    return driver.simulate(machine, plan, memories, outputs, options.twice, options.unwritten)


def run_request(plan: Plan, memories: Sequence[Sequence[Array]], request: Simulate) -> Result:
    """Run a plan as a request asks."""
    return run(
        plan, *memories, outputs=request.outputs, budget=Budget(request.operations, request.seconds or inf),
        device=request.device, options=request.options)


serve = partial(driver.serve, run=run_request)
