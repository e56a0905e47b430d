"""Timing of a case, from its plan to its figures."""

from __future__ import annotations

import time

import torch

from grader.course.cases import TimedCase
from grader.judging.plans.planning import Wanted
from grader.judging.prepared import Prepared, Stopped, TaskPlans
from grader.judging.running import device
from grader.judging.running.buffers import NoRoomError
from grader.judging.running.lane import LANE
from grader.judging.running.machine import CallRunner, GpuMachine
from grader.judging.speed.measure import Bounds, Timed, largest_fitting, measure_case
from grader.judging.speed.pool import Wrong
from grader.judging.speed.tuning import tuned
from grader.plan.plan import Plan
from grader.results.result import Timing
from grader.sandbox.forkserver.handle import InfrastructureError

# The time for all timed calls of a case.
SPEED_SECONDS = 600.0


def time_case(
    prepared: Prepared, planned: TaskPlans, case: TimedCase, machine: CallRunner
) -> Timing | Stopped | Wrong:
    """Time a submission against the baseline on a timed case, and check every answer. Raises InfrastructureError if it
    cannot be timed."""
    if not isinstance(machine, GpuMachine):
        raise InfrastructureError("speed is measured on a GPU, never guessed")
    until, task = time.monotonic() + SPEED_SECONDS, prepared.task
    try:
        fits, slots = largest_fitting(task.assignment, case, device.memory())
        wanted = Wanted(fits, prepared.draws.scalars(fits))
        plan = tuned(
            prepared, planned.plans.get(fits.name) or prepared.preparing.plan([wanted]).outcomes[0], wanted,
            machine.launching, slots=slots, until=until)
        if not isinstance(plan, Plan):
            return plan if isinstance(plan, Wrong) else Stopped(plan)
        code = prepared.code(plan)
        if isinstance(code, Stopped):
            return code
        bounds = Bounds(
            task.course.threshold_of(task.assignment.name), task.course.limits.call_seconds, until)
        timing = measure_case(
            Timed(task.assignment, fits, slots, plan, code, wanted.scalars), machine.launching.alone(),
            LANE.baselines, bounds)
    except (NoRoomError, torch.OutOfMemoryError) as error:
        raise InfrastructureError(str(error)) from None
    if isinstance(timing, Timing) and fits.name != case.name:
        timing.notes.append(f"{case.name} does not fit into this device's memory: {fits.name} instead.")
    return timing if isinstance(timing, Timing | Wrong) else Stopped(timing)
