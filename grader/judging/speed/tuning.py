"""Search for an autotuner's fastest configuration: each configuration runs as it would be timed, and its answers are
checked."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from grader.judging.plans.planning import RequestedCall, Unplanned
from grader.judging.plans.toolchain import MOST_CANDIDATES, kernels_of
from grader.judging.prepared import PreparedTask
from grader.judging.running.execution import GpuFailure
from grader.judging.running.gpu_runner import GpuRunner
from grader.judging.speed.pool import Pool, ReplayFault
from grader.judging.speed.replays import Replays
from grader.plan.compiled import Binary
from grader.plan.messages import Answers
from grader.plan.plan import Plan
from grader.sandbox.forkserver import clock

# Fewer than a student's own autotuner would make: each of these replays is of many calls.
REPLAYS = 3


def tuned(
    prepared: PreparedTask, plan: Plan | Unplanned, wanted: RequestedCall, runner: GpuRunner, *,
    slots: int, until: float
) -> Plan | Unplanned | GpuFailure | ReplayFault:
    """Return the plan of a timed case with the fastest configuration of each autotuner; `plan` has any configurations.
    No configuration is tried after `until` (clock.now). Raises the same errors as `measure_case`."""
    chosen: list[int] = []
    while isinstance(plan, Plan) and len(chosen) < len(plan.tuners):
        count = min(plan.tuners[len(chosen)].candidates, MOST_CANDIDATES)
        planned = prepared.toolchain.plan([
            replace(wanted, answers=Answers(winners=[*chosen, number])) for number in range(count)]).outcomes
        # All kernels at once, so that free cores compile them side by side.
        prepared.toolchain.binaries(kernels_of(planned))
        best = _fastest(prepared, planned, wanted, runner, slots, until)
        if not isinstance(best, int):
            return best
        chosen.append(best)
        plan = planned[best]
    return plan


def _fastest(
    prepared: PreparedTask, planned: Sequence[Plan | Unplanned], wanted: RequestedCall, runner: GpuRunner, slots: int,
    until: float,
) -> int | Unplanned | GpuFailure | ReplayFault:
    """Return the number of the fastest plan. A configuration that asks for more than the GPU has is passed over, as a
    language's own autotuner does. Returns the first other failure, or the last one if all are passed over."""
    best, least = -1, math.inf
    failure = GpuFailure("out_of_resources", "no configuration of the autotuner can be started")
    executor = runner.executor()
    pool = Pool(prepared.task.assignment, wanted.case, slots, cuda=True)
    try:
        for number, plan in enumerate(planned):
            if not isinstance(plan, Plan):
                return plan
            if clock.now() > until:
                failure = GpuFailure(
                    "time_limit", "the time for timed calls was used up by configurations of the autotuner")
                break
            binaries = prepared.toolchain.binaries(plan.kernels)
            if not isinstance(binaries, list):
                return binaries
            sound = [binary for binary in binaries if isinstance(binary, Binary)]
            if len(sound) < len(binaries):
                continue
            executor = runner.executor()
            program = executor.load(plan, sound)
            outcome: GpuFailure | ReplayFault | float | None = (
                program if isinstance(program, GpuFailure) else executor.bind(pool.slots(), pool.sample))
            if outcome is None and isinstance(program, int):
                seconds = prepared.task.course.limits.call_seconds
                outcome = _seconds(Replays(executor, program, wanted.scalars, pool, seconds), pool)
            if isinstance(outcome, ReplayFault):
                return outcome
            if isinstance(outcome, GpuFailure):
                if outcome.kind not in ("out_of_resources", "out_of_memory"):
                    return outcome
                failure = outcome
            elif outcome is not None and outcome < least:
                best, least = number, outcome
        return best if best >= 0 else failure
    finally:
        # Memory may be given back only when no executor has it bound.
        executor.unbind()
        pool.close()


def _seconds(calls: Replays, pool: Pool) -> float | GpuFailure | ReplayFault:
    lost = calls.prepare()
    if lost is not None:
        return lost
    taken = []
    for _ in range(REPLAYS):
        calls.draw(expect=True)
        seconds = calls.replay()
        if isinstance(seconds, GpuFailure):
            return seconds
        wrong = pool.check(calls.count)
        if wrong is not None:
            return wrong
        taken.append(seconds)
    return min(taken)
