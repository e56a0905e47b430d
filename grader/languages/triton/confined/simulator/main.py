"""A process that runs plans without a GPU: kernels on NumPy, over all programs of a launch at once.

It reads hostile text, so it is confined. Its answer says what it cannot do or could not finish.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import partial
from math import inf

from grader.languages.cuda.confined.simulator import main as threads
from grader.languages.triton.confined.simulator.arithmetic import warm_up
from grader.languages.triton.confined.simulator.launch import run_launch
from grader.languages.triton.confined.simulator.machine import EarlierLaunches
from grader.languages.triton.confined.simulator.observing import TileMeter
from grader.languages.triton.confined.simulator.pointers import Storage
from grader.languages.triton.confined.simulator.state import AS_WRITTEN, Mode
from grader.plan.findings import UndefinedBehaviour
from grader.plan.limits import Budget
from grader.plan.messages import Simulate, Simulated
from grader.plan.plan import Kernel, Launch, Plan
from grader.simulation import driver
from grader.simulation.memory import Array, Result


def prepare() -> None:
    """Load what each simulator needs, in the fork server."""
    warm_up()


class TileKernels(driver.KernelMachine):
    """Machine of kernels in TTIR."""

    memory = Storage

    def __init__(self, budget: Budget, mode: Mode, meter: TileMeter | None) -> None:
        super().__init__(budget, meter)
        self._mode, self._tiles = mode, meter

    def wait(self) -> None:
        self._earlier = EarlierLaunches()

    def launch(self, launch: Launch, kernel: Kernel, buffers: list[Storage]) -> None:
        run_launch(launch, kernel, buffers, self.budget, self.findings, self._mode, self._tiles, self._earlier)


def run(
    plan: Plan, *memories: Sequence[Array], outputs: Collection[str] = (), operations: int = 1 << 40,
    seconds: float = inf, mode: Mode = AS_WRITTEN,
) -> Result:
    """Run the calls of a plan, as `simulate` does. Lines refer to the file of `mode`, or to that of a kernel's entry.
    If a watch chooses programs, the findings are those of a part of the work."""
    options, watch = mode.options, mode.options.watch
    meter = None if watch is None else TileMeter(watch, watch.output or next(iter(outputs), ""))
    machine = TileKernels(Budget(operations, seconds), mode, meter)
    return driver.simulate(machine, plan, memories, outputs, options.twice, options.unwritten)


def _run(plan: Plan, memories: Sequence[Sequence[Array]], request: Simulate) -> Result:
    # Kernels in Gluon are PTX.
    if any(kernel.language == "cuda" for kernel in plan.kernels):
        return _without_compilers(threads.run_request(plan, memories, request))
    return run(
        plan, *memories, outputs=request.outputs, operations=request.operations, seconds=request.seconds or inf,
        mode=Mode(device=request.device, options=request.options))


def _without_compilers(result: Result) -> Result:
    """Return a result without the races of a program's own warps: Triton's compiler orders them, and warps that hold
    copies of an element store the same value to one place."""
    if not isinstance(result, Simulated):
        return result
    return result.model_copy(update={"findings": [
        finding for finding in result.findings
        if not (isinstance(finding, UndefinedBehaviour) and finding.what in ("shared", "warp"))]})


serve = partial(driver.serve, run=_run)
