"""Driver of simulators: runs the calls of a plan, whatever machine runs its kernels, and answers the judge."""

from __future__ import annotations

import gc
from collections.abc import Callable, Collection, Sequence
from functools import partial
from typing import Any

import numpy as np

from grader.plan import serving
from grader.plan.findings import Access
from grader.plan.frames import Channel
from grader.plan.limits import Budget, LaunchStopped, Limit
from grader.plan.messages import SIMULATOR_REQUEST, UNWRITTEN, CannotSimulate, Exhausted, Simulate, Simulated
from grader.plan.plan import Kernel, Launch, Malformed, Plan, read_plan
from grader.simulation.allocation import zeros
from grader.simulation.findings import Findings
from grader.simulation.memory import (
    Array,
    BufferMemory,
    Result,
    fitting,
    given_of,
    mapped,
    run_on_host,
    stop_at_once,
    stopped_at,
    temporary,
)
from grader.simulation.metering import Meter

_OPERATION = 10_000
"""The least cost of each operation of the host, however little it moves."""


class KernelMachine:
    """Machine of a language: it runs launches on a plan's buffers. `meter` answers a `Watch`; None without one."""

    memory = BufferMemory

    def __init__(self, budget: Budget, meter: Meter | None) -> None:
        self.budget, self.meter = budget, meter
        self.findings = Findings()

    def launch(self, launch: Launch, kernel: Kernel, buffers: list[Any]) -> None:
        """Run a launch. Raises LaunchStopped if it cannot begin or stops before its end."""
        raise NotImplementedError

    def wait(self) -> None:
        """Wait for all launches so far, since a call begins or host code accesses memory."""

    def forget(self) -> None:
        """Forget the findings of a call, which were reported with it."""
        self.findings = Findings()
        if self.meter is not None:
            self.meter.forget()

    def accesses(self) -> list[Access]:
        return self.findings.accesses

    def simulated(self) -> Simulated:
        meter = self.meter
        return Simulated(
            seq=0, findings=self.findings.list(), accesses=self.accesses(), operations=self.budget.used,
            printed=self.findings.printed, stored=meter.stored() if meter else [],
            launched=meter.launched() if meter else [], touched=meter.touched() if meter else [])


def simulate(
    machine: KernelMachine, plan: Plan, memories: Sequence[Sequence[Array]], outputs: Collection[str] = (),
    twice: Collection[int] = (), byte: int = UNWRITTEN,
) -> Result:
    """Run the first call of a plan and, with two `memories`, the steady call after it.

    Each call has its own memory of the given buffers: writable arrays of bytes, in the order of their indices. Launches
    of the kernels `twice` are made twice. `outputs` names parameters that hold nothing yet: a load from them before a
    store is a finding. Memory that nothing has written holds `byte`. Findings, and what a `Watch` asks for, are those
    of the last call.
    """
    try:
        if (stopped := stop_at_once(plan, memories)) is not None:
            return stopped
        buffers = [machine.memory(*temporary(number, buffer, byte)) for number, buffer in enumerate(plan.buffers)]
        # The operations of an import touch no given buffer, and their findings are reported with the first call's.
        for operations, memory in [(plan.setup, memories[0]), *zip(plan.calls(), memories, strict=False)]:
            if memory is not memories[0]:
                machine.forget()
            for number, raw in zip(given_of(plan), memory, strict=True):
                name = plan.buffers[number].given
                if name in outputs and byte != UNWRITTEN:
                    raw[:] = byte
                buffers[number] = machine.memory(
                    number, raw, zeros(raw.size, np.uint8) if name in outputs else None, name)
            machine.wait()
            for operation in operations:
                machine.budget.left -= _OPERATION
                if machine.budget.left < 0:
                    raise Limit("operations")
                if isinstance(operation, Launch):
                    for _ in range(2 if operation.kernel in twice else 1):
                        machine.launch(operation, plan.kernels[operation.kernel], buffers)
                else:
                    machine.budget.left -= run_on_host(operation, buffers, machine.findings.copied)
                    machine.wait()
        return machine.simulated()
    except LaunchStopped as error:
        exhausted = isinstance(error.cause, Limit) and error.cause.what == "operations"
        if exhausted and machine.meter is not None and machine.meter.cut():
            return machine.simulated()
        return stopped_at(error)
    except Limit as limit:
        return Exhausted(seq=0, what=limit.what)
    except (LookupError, ValueError) as error:
        return CannotSimulate(seq=0, operation=f"{type(error).__name__}: {error}"[:200])
    except MemoryError:
        return Exhausted(seq=0, what="memory")


Run = Callable[[Plan, Sequence[Sequence[Array]], Simulate], Result]
"""A language's function that runs a plan on these memories, with the options of a request."""


def serve(channel: Channel, run: Run) -> None:
    """Answer requests until the judge hangs up."""
    serving.serve(channel, SIMULATOR_REQUEST, partial(_answer, run))


def _answer(run: Run, request: Simulate, descriptors: list[int]) -> Result:
    # Cycles of objects may hold memory of the last request, and address space is limited.
    gc.collect()
    gc.freeze()
    try:
        plan = read_plan(serving.contents(descriptors[0], request.bytes))
        result = run(plan, mapped(plan, request.call, descriptors[1:]), request)
    except (Malformed, ValueError, IndexError, OSError) as error:
        result = CannotSimulate(seq=request.seq, operation=f"{type(error).__name__}: {error}"[:200])
    return fitting(result).model_copy(update={"seq": request.seq})
