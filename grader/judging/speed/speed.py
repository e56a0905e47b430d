"""Timing of a case, from its plan to its figures."""

from __future__ import annotations

import torch

from grader.course.cases import TimedCase
from grader.errors import InfrastructureError
from grader.judging.plans.planning import RequestedCall
from grader.judging.prepared import NoAnswer, PreparedTask, TaskPlans
from grader.judging.running import device
from grader.judging.running.buffers import NoRoomError
from grader.judging.running.lane import LANE
from grader.judging.running.machine import GpuMachine, SimulatedMachine
from grader.judging.speed.measure import Bounds, TimedCall, largest_fitting, measure_case
from grader.judging.speed.pool import ReplayFault
from grader.judging.speed.tuning import tuned
from grader.plan.plan import Plan
from grader.results.result import Timing
from grader.sandbox.forkserver import clock

# The time for all timed calls of a case.
SPEED_SECONDS = 600.0


def time_case(
    prepared: PreparedTask, planned: TaskPlans, case: TimedCase, machine: SimulatedMachine
) -> Timing | NoAnswer | ReplayFault:
    """Time a submission against the baseline on a timed case, and check every answer. Raises InfrastructureError if it
    cannot be timed."""
    if not isinstance(machine, GpuMachine):
        raise InfrastructureError("speed is measured on a GPU, never guessed")
    until, task = clock.now() + SPEED_SECONDS, prepared.task
    try:
        fits, slots = largest_fitting(task.assignment, case, device.memory())
        wanted = RequestedCall(fits, prepared.draws.scalars(fits))
        plan = tuned(
            prepared, planned.plans.get(fits.name) or prepared.toolchain.plan([wanted]).outcomes[0], wanted,
            machine.runner, slots=slots, until=until)
        if not isinstance(plan, Plan):
            return plan if isinstance(plan, ReplayFault) else NoAnswer(plan)
        code = prepared.code(plan)
        if isinstance(code, NoAnswer):
            return code
        bounds = Bounds(
            task.course.threshold_of(task.assignment.name), task.course.limits.call_seconds, until)
        timing = measure_case(
            TimedCall(task.assignment, fits, slots, plan, code, wanted.scalars), machine.runner.exclusive_executor(),
            LANE.baselines, bounds)
    except (NoRoomError, torch.OutOfMemoryError) as error:
        raise InfrastructureError(str(error)) from None
    if isinstance(timing, Timing) and fits.name != case.name:
        timing.notes.append(f"{case.name} does not fit into this device's memory: {fits.name} instead.")
    return timing if isinstance(timing, Timing | ReplayFault) else NoAnswer(timing)
