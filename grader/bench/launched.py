"""Which kernels a baseline launches, and what share of its time each takes: by PyTorch's profiler, in our executor."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass

from grader.engine.forkserver.handle import InfrastructureError
from grader.judge.buffers import NoRoomError
from grader.judge.execution import Lost
from grader.judge.lane import lane_baselines
from grader.judge.timing import baselines as ours
from grader.judge.timing.pool import Pool
from grader.model.assignment import Assignment, Case

SECONDS = 60.0
# One to be used; a pool keeps another for calls that do not count.
SLOTS = 2


@dataclass(frozen=True)
class Launched:
    """A kernel by a short name: its share of the time of a call, and how often a call launches it."""

    name: str
    share: float
    count: float


def launched(assignment: Assignment, case: Case, function: str) -> list[Launched]:
    """Of a baseline ("eager" or "compiled") on a case, what takes longest first. Raises InfrastructureError."""
    baselines = lane_baselines()
    executor, program = baselines.executor(), baselines.program(assignment, case, function)
    try:
        pool = Pool(assignment, case, SLOTS, cuda=True)
    except NoRoomError as error:
        raise InfrastructureError(str(error)) from None
    try:
        pool.draw(SLOTS, ours.scalars(assignment, case), expect=False)
        lost = executor.bind(pool.slots(), pool.look)
        found = lost if lost is not None else executor.profile(program, 0, seconds=SECONDS)
    finally:
        executor.unbind()
        pool.close()
    if isinstance(found, Lost):
        raise InfrastructureError(f"the profiler failed: {found.message}")
    whole = sum(one.seconds for one in found)
    seconds, counts = Counter[str](), Counter[str]()
    for one in found:
        seconds[short(one.name)] += one.seconds  # type: ignore[assignment]
        counts[short(one.name)] += one.count  # type: ignore[assignment]
    return [Launched(name, took / whole, counts[name]) for name, took in seconds.most_common()] if whole else []


def short(name: str) -> str:
    """`void at::native::reduce_kernel<512, …>(…)` as `at::native::reduce_kernel`."""
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
