"""Which configuration of an autotuner is the fastest: each is run as it would be timed, and its answers are checked."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import replace

from grader.judge.execution import Lost
from grader.judge.launching import Launching
from grader.judge.planning import Unplanned, Wanted
from grader.judge.prepared import Prepared
from grader.judge.preparing import MOST_CANDIDATES, kernels_of
from grader.judge.timing.pool import Pool, Wrong
from grader.judge.timing.replays import Replays
from grader.plan.compiled import Binary
from grader.plan.messages import Answers
from grader.plan.plan import Plan

# What a student's own autotuner would do, in less: these calls are tens of milliseconds long.
REPLAYS = 3


def tuned(
    prepared: Prepared, plan: Plan | Unplanned, wanted: Wanted, launching: Launching, *, slots: int, until: float
) -> Plan | Unplanned | Lost | Wrong:
    """The plan of a timed case with each of its autotuners at the configuration that is fastest here, of those that
    are tried `until` then (time.monotonic); `plan` is one with any of each. Raises what `measure` does."""
    chosen: list[int] = []
    while isinstance(plan, Plan) and len(chosen) < len(plan.tuners):
        count = min(plan.tuners[len(chosen)].candidates, MOST_CANDIDATES)
        planned = prepared.preparing.plan([
            replace(wanted, answers=Answers(winners=[*chosen, number])) for number in range(count)]).outcomes
        # All at once: where there are cores for it, they are compiled side by side.
        prepared.preparing.binaries(kernels_of(planned))
        best = _fastest(prepared, planned, wanted, launching, slots, until)
        if not isinstance(best, int):
            return best
        chosen.append(best)
        plan = planned[best]
    return plan


def _fastest(
    prepared: Prepared, planned: Sequence[Plan | Unplanned], wanted: Wanted, launching: Launching, slots: int,
    until: float,
) -> int | Unplanned | Lost | Wrong:
    """The number of the fastest plan; how all of them fail, or the first that fails otherwise than by asking for more
    than a GPU has: such a configuration is passed over, as a language's own autotuner does."""
    best, least, lost = -1, math.inf, Lost("out_of_resources", "no configuration of the autotuner can be started")
    executor = launching.executor()
    pool = Pool(prepared.task.assignment, wanted.case, slots, cuda=True)
    try:
        for number, plan in enumerate(planned):
            if not isinstance(plan, Plan):
                return plan
            if time.monotonic() > until:
                lost = Lost("time_limit", "the time for timed calls was used up by configurations of the autotuner")
                break
            binaries = prepared.preparing.binaries(plan.kernels)
            if not isinstance(binaries, list):
                return binaries
            sound = [one for one in binaries if isinstance(one, Binary)]
            if len(sound) < len(binaries):
                continue
            executor = launching.executor()
            program = executor.load(plan, sound)
            found: Lost | Wrong | float | None = program if isinstance(program, Lost) else executor.bind(
                pool.slots(), pool.look)
            if found is None and isinstance(program, int):
                seconds = prepared.task.course.limits.call_seconds
                found = _seconds(Replays(executor, program, wanted.scalars, pool, seconds), pool)
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
        # Memory may be given back only when no executor has it bound.
        executor.unbind()
        pool.close()


def _seconds(calls: Replays, pool: Pool) -> float | Lost | Wrong:
    lost = calls.prepare()
    if lost is not None:
        return lost
    taken = []
    for _ in range(REPLAYS):
        calls.draw(expect=True)
        one = calls.replay()
        if isinstance(one, Lost):
            return one
        wrong = pool.check(calls.count)
        if wrong is not None:
            return wrong
        taken.append(one)
    return min(taken)
