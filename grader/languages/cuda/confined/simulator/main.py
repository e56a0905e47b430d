"""Simulator: runs plans without a GPU, with kernels' PTX on NumPy arrays of the threads of many blocks.

The process reads hostile text, so it is confined. It reports what it cannot run or could not finish.
"""

from __future__ import annotations

import gc
import re
from collections.abc import Collection, Sequence
from math import inf

import numpy as np

from grader.plan import serving
from grader.plan.frames import Channel
from grader.plan.limits import Budget, LaunchStopped, Limit
from grader.plan.messages import SIMULATOR_REQUEST, CannotSimulate, Exhausted, Simulate, Simulated
from grader.plan.plan import Launch, Malformed, Plan, read_plan
from grader.plan.traffic import Watch
from grader.simulation.memory import (
    UNWRITTEN,
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
from grader.simulation.ptx.allocation import keep_freed_memory, zeros
from grader.simulation.ptx.findings import Sightings
from grader.simulation.ptx.launch import PLAIN, Setting, SimulatedDevice, run_launch
from grader.simulation.ptx.observing import ThreadObserver

SUFFIX = ".cu"
# The least cost of each operation of the host, however little it moves.
_OPERATION = 10_000
_LENGTH = re.compile(r"\d{1,3}")


def prepare() -> None:
    """Prepare the process from which simulators are forked."""
    keep_freed_memory()


def run(
    plan: Plan, *memories: Sequence[Array], outputs: Collection[str] = (), budget: Budget | None = None,
    on: SimulatedDevice = PLAIN, twice: Collection[int] = (), watch: Watch | None = None,
    order: Sequence[int] | None = None,
) -> Result:
    """Run the first call of a plan and, with two `memories`, the steady call after it.

    Each call has its own memory of the given buffers: writable arrays of bytes, in the order of their indices. Launches
    of the kernels `twice` are made twice. `outputs` names parameters that hold nothing yet. `order` makes another
    choice of what is left to chance, as in `Simulate`: the order of blocks (0), the contents of temporaries and outputs
    (others), or all if it is empty. A `watch` concerns the last call.
    """
    budget, findings = budget or Budget(1 << 40), Sightings()
    observer = ThreadObserver(watch or Watch(), (watch and watch.output) or next(iter(outputs), ""))
    byte = on.unwritten if order is not None and (not order or any(order)) else UNWRITTEN
    loads_first = order is not None and (not order or 0 in order)
    setting = Setting(SUFFIX, variable_name, on, observer, loads_first)
    try:
        if (stopped := stop_at_once(plan, memories)) is not None:
            return stopped
        buffers = [BufferMemory(*temporary(number, each, byte)) for number, each in enumerate(plan.buffers)]
        for position, step in enumerate([plan.setup, *plan.calls()[: len(memories)]]):
            if position > 1:
                # The findings of the call before were reported with that call.
                findings = Sightings()
                observer.forget()
            for number, raw in zip(given_of(plan), memories[max(0, position - 1)], strict=True):
                name = plan.buffers[number].given
                written = zeros(raw.size, np.uint8) if name in outputs else None
                if name in outputs and byte != UNWRITTEN:
                    raw[:] = byte
                buffers[number] = BufferMemory(number, raw, written, name)
            for operation in step:
                budget.left -= _OPERATION
                if budget.left < 0:
                    raise Limit("operations")
                if not isinstance(operation, Launch):
                    budget.left -= run_on_host(operation, buffers, findings.copied)
                    continue
                for _ in range(2 if operation.kernel in twice else 1):
                    run_launch(operation, plan.kernels[operation.kernel], buffers, budget, findings, setting)
                if not observer.chooses:
                    # Where only some blocks run, unwritten elements are expected.
                    budget.left -= sum(buffer.settle() for buffer in buffers)
        return _simulated(findings, budget, observer)
    except LaunchStopped as error:
        if isinstance(error.cause, Limit) and error.cause.what == "operations" and observer.cut():
            return _simulated(findings, budget, observer)
        return stopped_at(error)
    except Limit as limit:
        return Exhausted(seq=0, what=limit.what)
    except (LookupError, ValueError) as error:
        return CannotSimulate(seq=0, operation=f"{type(error).__name__}: {error}"[:200])
    except MemoryError:
        return Exhausted(seq=0, what="memory")


def variable_name(symbol: str) -> str:
    """Return the name of a variable in the student's file: the last name in a mangled symbol."""
    if not symbol.startswith("_Z"):
        return symbol
    found = symbol
    for match in _LENGTH.finditer(symbol):
        name = symbol[match.end() : match.end() + int(match[0])]
        if len(name) == int(match[0]) and name.isidentifier():
            found = name
    return found


def _simulated(findings: Sightings, budget: Budget, observer: ThreadObserver) -> Simulated:
    return Simulated(
        seq=0, findings=findings.list(), accesses=observer.accesses(), operations=budget.used,
        printed=findings.printed, stored=observer.stored(), launched=observer.launched(), touched=observer.touched())


def serve(channel: Channel) -> None:
    """Answer requests until the judge hangs up."""
    serving.serve(channel, SIMULATOR_REQUEST, _answer)


def _answer(request: Simulate, descriptors: list[int]) -> Result:
    # Cycles of objects may hold memory of the last request, and address space is limited.
    gc.collect()
    gc.freeze()
    try:
        plan = read_plan(serving.contents(descriptors[0], request.bytes))
        memories = mapped(plan, request.call, descriptors[1:])
        device = SimulatedDevice(
            request.device, request.registers, frozenset(request.elsewhere), frozenset(request.erring),
            request.resident, request.unwritten)
        result = run(
            plan, *memories, outputs=request.outputs, budget=Budget(request.operations, request.seconds or inf),
            on=device, twice=request.twice, watch=request.watch, order=request.order)
    except (Malformed, ValueError, IndexError, OSError) as error:
        result = CannotSimulate(seq=request.seq, operation=f"{type(error).__name__}: {error}"[:200])
    return fitting(result).model_copy(update={"seq": request.seq})
