"""Which configuration of an autotuner is the fastest: each is run as it would be timed, and its answers are checked."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from grader.assignment import Assignment, Case
from grader.judge.execution import Executors, Lost
from grader.judge.timing.pool import Pool, Wrong
from grader.judge.timing.replays import Replays
from grader.plan.compiled import Binary
from grader.plan.plan import Plan

# What a student's own autotuner would do, in less: these calls are tens of milliseconds long.
REPLAYS = 3


@dataclass(frozen=True)
class Candidate:
    """A plan with one configuration; `binaries` is None where that does not compile, or takes more than a GPU has."""

    plan: Plan
    binaries: Sequence[Binary] | None


def fastest(
    assignment: Assignment, case: Case, candidates: Sequence[Candidate], scalars: Mapping[str, float],
    executors: Executors, *, slots: int, seconds: float,
) -> int | Lost | Wrong:
    """The number of the fastest candidate; how all of them fail, or the first wrong answer of one.

    A configuration that a GPU cannot start is passed over, as Triton's autotuner does. Raises what `measure` does.
    """
    best, least, lost = -1, math.inf, Lost("out_of_resources", "no configuration of the autotuner can be started")
    executor = executors.take()
    pool = Pool(assignment, case, {"student": scalars, "baseline": scalars}, slots, cuda=True)
    try:
        for number, one in enumerate(candidates):
            if one.binaries is None:
                continue
            if executor.over:
                executor = executors.take()
            program = executor.load(one.plan, one.binaries)
            found: Lost | Wrong | float | None = program if isinstance(program, Lost) else executor.bind(
                pool.slots("student"), pool.looks["student"])
            if found is None and isinstance(program, int):
                found = _seconds(Replays("student", executor, program, pool, seconds), pool)
            if isinstance(found, Wrong):
                return found
            if isinstance(found, Lost):
                if found.kind not in ("out_of_resources", "out_of_memory"):
                    return found
                lost = found
            elif found is not None and found < least:
                best, least = number, found
        return best if best >= 0 else lost
    finally:
        # Memory may be given back only when nobody has it bound.
        executor.close()
        pool.close()


def _seconds(calls: Replays, pool: Pool) -> float | Lost | Wrong:
    lost = calls.prepare()
    if lost is not None:
        return lost
    taken = []
    for _ in range(REPLAYS):
        one = calls.replay(expect=True)
        if isinstance(one, Lost):
            return one
        wrong = pool.check("student", calls.count)
        if wrong is not None:
            return wrong
        taken.append(one)
    return min(taken)
