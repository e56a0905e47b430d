"""The kernels that a baseline launches and their shares of its time, found with PyTorch's profiler in our executor."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass

from grader.course.assignment import Assignment
from grader.course.cases import Case
from grader.judging.running.buffers import NoRoomError
from grader.judging.running.execution import GpuFailure
from grader.judging.running.lane import LANE
from grader.judging.speed import baselines as ours
from grader.judging.speed.pool import Pool
from grader.sandbox.forkserver.handle import InfrastructureError

SECONDS = 60.0
# A pool needs a slot for the profiled call, and a slot for calls that do not count.
SLOTS = 2


@dataclass(frozen=True)
class LaunchedKernel:
    """A kernel by its short name, with its share of a call's time and its launches in a call."""

    name: str
    share: float
    count: float


def launched(assignment: Assignment, case: Case, function: str) -> list[LaunchedKernel]:
    """Return the kernels of a baseline ("eager" or "compiled") on a case, the slowest first. Raises
    InfrastructureError."""
    baselines = LANE.baselines
    executor, program = baselines.executor(), baselines.program(assignment, case, function)
    try:
        pool = Pool(assignment, case, SLOTS, cuda=True)
    except NoRoomError as error:
        raise InfrastructureError(str(error)) from None
    try:
        pool.draw(SLOTS, ours.scalars(assignment, case), expect=False)
        lost = executor.bind(pool.slots(), pool.look)
        events = lost if lost is not None else executor.profile(program, 0, seconds=SECONDS)
    finally:
        executor.unbind()
        pool.close()
    if isinstance(events, GpuFailure):
        raise InfrastructureError(f"the profiler failed: {events.message}")
    whole = sum(event.seconds for event in events)
    seconds, counts = Counter[str](), Counter[str]()
    for event in events:
        seconds[short(event.name)] += event.seconds  # type: ignore[assignment]
        counts[short(event.name)] += event.count  # type: ignore[assignment]
    return [LaunchedKernel(name, took / whole, counts[name]) for name, took in seconds.most_common()] if whole else []


def short(name: str) -> str:
    """Shorten `void at::native::reduce_kernel<512, …>(…)` to `at::native::reduce_kernel`."""
    name = re.sub(r"^(void|static) ", "", name)
    depth, kept = 0, []
    for sign in name.replace("(anonymous namespace)::", ""):
        depth -= sign == ">" and depth > 0
        if sign == "(" and not depth:
            break
        if not depth and sign not in "<>":
            kept.append(sign)
        depth += sign == "<"
    return "".join(kept).strip() or name[:80]
