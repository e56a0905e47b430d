"""A process that runs plans without a GPU: kernels on NumPy, over all programs of a launch at once.

It reads hostile text, so it is confined. Its answer says what it cannot do or could not finish.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from math import inf

import numpy as np

from grader.languages.triton.confined.simulator.arithmetic import warm_up
from grader.languages.triton.confined.simulator.findings import Findings
from grader.languages.triton.confined.simulator.launch import run_launch
from grader.languages.triton.confined.simulator.machine import EarlierLaunches
from grader.languages.triton.confined.simulator.meter import TileMeter
from grader.languages.triton.confined.simulator.pointers import Storage
from grader.languages.triton.confined.simulator.state import AS_WRITTEN, Mode
from grader.plan import serving
from grader.plan.frames import Channel
from grader.plan.limits import Budget, LaunchStopped, Limit
from grader.plan.messages import SIMULATOR_REQUEST, CannotSimulate, Exhausted, Simulate, Simulated
from grader.plan.plan import Launch, Malformed, Plan, read_plan
from grader.plan.traffic import Watch
from grader.simulation.memory import (
    UNWRITTEN,
    Array,
    Result,
    fitting,
    given_of,
    mapped,
    run_on_host,
    stop_at_once,
    stopped_at,
    temporary,
)
from grader.simulation.ptx.allocation import zeros


def prepare() -> None:
    """Load what each simulator needs, in the fork server."""
    warm_up()


def run(
    plan: Plan, *memories: Sequence[Array], outputs: Collection[str] = (), operations: int = 1 << 40,
    seconds: float = inf, mode: Mode = AS_WRITTEN, twice: Collection[int] = (), watch: Watch | None = None,
) -> Result:
    """Run the first call of a plan and, with two `memories`, the steady call after it.

    Each call has its own memory of the given buffers: writable arrays of bytes, in the order of their indices. Lines
    refer to the file of `mode`, or to that of a kernel's entry. Launches of the kernels `twice` are made twice.
    `outputs` names parameters that hold nothing yet: a load from them before a store is a finding. A `watch` concerns
    the last call; if it chooses programs, the findings are those of a part of the work.
    """
    budget = Budget(operations, seconds)
    findings = Findings()
    meter = None if watch is None else TileMeter(watch, watch.output or next(iter(outputs), ""))
    try:
        if (stopped := stop_at_once(plan, memories)) is not None:
            return stopped
        given = given_of(plan)
        # In another order, unwritten memory holds other contents, too.
        byte = UNWRITTEN if mode.order is None or mode.order else mode.unwritten
        buffers = [Storage(*temporary(number, each, byte)) for number, each in enumerate(plan.buffers)]
        calls = plan.calls()[: len(memories)]
        for position, step in enumerate([plan.setup, *calls]):
            # The findings of earlier calls were reported with those calls.
            findings = findings if position < 2 else Findings()
            if meter is not None and position > 1:
                meter.forget()
            for number, raw in zip(given, memories[max(0, position - 1)], strict=True):
                name = plan.buffers[number].given
                if name in outputs and byte != UNWRITTEN:
                    raw[:] = byte
                buffers[number] = Storage(number, raw, zeros(raw.size, np.uint8) if name in outputs else None, name)
            earlier = EarlierLaunches()
            for operation in step:
                budget.left -= 10_000
                if budget.left < 0:
                    raise Limit("operations")
                if isinstance(operation, Launch):
                    for _ in range(2 if operation.kernel in twice else 1):
                        run_launch(
                            operation, plan.kernels[operation.kernel], buffers, budget, findings, mode, meter, earlier)
                else:
                    budget.left -= run_on_host(operation, buffers, findings.copied)
                    earlier = EarlierLaunches()
        return _simulated(findings, budget, meter)
    except LaunchStopped as error:
        if isinstance(error.cause, Limit) and error.cause.what == "operations" and meter is not None and meter.cut():
            return _simulated(findings, budget, meter)
        return stopped_at(error)
    except Limit as limit:
        return Exhausted(seq=0, what=limit.what)
    except (LookupError, ValueError) as error:
        return CannotSimulate(seq=0, operation=f"{type(error).__name__}: {error}"[:200])
    except MemoryError:
        return Exhausted(seq=0, what="memory")


def _simulated(findings: Findings, budget: Budget, meter: TileMeter | None) -> Simulated:
    return Simulated(
        seq=0, findings=findings.list(), accesses=findings.accesses, operations=budget.used,
        printed=findings.printed, stored=[] if meter is None else meter.stored(),
        launched=[] if meter is None else meter.launched(), touched=[] if meter is None else meter.touched())


def serve(channel: Channel) -> None:
    """Answer requests until the judge hangs up."""
    serving.serve(channel, SIMULATOR_REQUEST, _answer)


def _answer(request: Simulate, descriptors: list[int]) -> Result:
    try:
        plan = read_plan(serving.contents(descriptors[0], request.bytes))
        memories = mapped(plan, request.call, descriptors[1:])
        result = run(
            plan, *memories, outputs=request.outputs, operations=request.operations, seconds=request.seconds or inf,
            mode=Mode(masked=request.masked, order=request.order, early=request.early, device=request.device,
                      unwritten=request.unwritten, resident=request.resident),
            twice=request.twice, watch=request.watch)
    except (Malformed, ValueError, IndexError, OSError) as error:
        result = CannotSimulate(seq=request.seq, operation=f"{type(error).__name__}: {error}"[:200])
    return fitting(result).model_copy(update={"seq": request.seq})
