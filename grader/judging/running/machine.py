"""Machines that run a task's plans: a simulator, or a GPU with a simulator beside it that sees what the GPU
forgives."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TypeGuard

from grader.course.cases import Case
from grader.course.parameters import Inputs
from grader.judging.explain import explain_findings
from grader.judging.prepared import NoAnswer, PreparedTask
from grader.judging.running.execution import GpuFailure
from grader.judging.running.gpu_runner import GpuRunner
from grader.judging.running.lane import LANE
from grader.judging.running.simulation import CallResult
from grader.plan.findings import Finding
from grader.plan.messages import EVERYWHERE, PLAIN, CannotSimulate, Exhausted, Failed, RunOptions
from grader.plan.plan import Plan
from grader.sandbox.forkserver.conversation import LostAnswer


class SimulatedMachine:
    """A machine that runs a task's calls in a simulator."""

    def __init__(self, prepared: PreparedTask) -> None:
        self._prepared = prepared

    def run(self, case: Case, plan: Plan, inputs: Sequence[Inputs], *, again: bool = False) -> CallResult | NoAnswer:
        """Run the plan's calls on these inputs, an entry for each call, and return the last call's answer. With
        `again`, a simulator takes another order where none is defined. Raises InfrastructureError."""
        assignment = self._prepared.task.assignment
        options = RunOptions(order=EVERYWHERE, unwritten=0) if again else PLAIN
        ran = self._prepared.simulation.run(assignment, case, plan, inputs, options)
        if _has_ended(ran):
            # Once more: the machine may end one simulator by chance, but not two on the same call.
            ran = self._prepared.simulation.run(assignment, case, plan, inputs, options)
        if _has_ended(ran):
            said = f"its kernels end the simulator, which runs them without a GPU: {ran.message}"
            return NoAnswer(Failed(seq=0, failure="unsupported", message=said))
        return ran if isinstance(ran, CallResult) else NoAnswer(ran)

    def latent_faults(self, case: Case, plan: Plan, inputs: Sequence[Inputs], result: CallResult) -> Sequence[Finding]:
        """Return findings of undefined behaviour on which a right answer rests."""
        return self._prepared.evidence.latent_faults(case, plan, inputs, result, self._prepared.compared)

    def close(self) -> None:
        self._prepared.simulation.end()


def _has_ended(ran: CallResult | CannotSimulate | Exhausted | LostAnswer) -> TypeGuard[LostAnswer]:
    """Return whether a simulator has ended by itself, or has sent a message that is none of ours."""
    return isinstance(ran, LostAnswer) and ran.kind in ("crash", "protocol")


class GpuMachine(SimulatedMachine):
    """A machine that runs calls on the GPU of `runner`. The simulator names the line where something goes wrong."""

    def __init__(self, prepared: PreparedTask) -> None:
        super().__init__(prepared)
        task = prepared.task
        self.runner = GpuRunner(task.assignment, LANE.executors, seconds=task.course.limits.call_seconds)

    def run(self, case: Case, plan: Plan, inputs: Sequence[Inputs], *, again: bool = False) -> CallResult | NoAnswer:
        code = self._prepared.code(plan)
        ran = code if isinstance(code, NoAnswer) else self.runner.run(case, plan, code, inputs)
        view = self._prepared.simulated_view(case, len(inputs) - 1)
        result, endless = view.result, view.endless
        if isinstance(ran, NoAnswer):
            # A compiler fails on some loops that it finds endless, and names no line; the simulator does.
            return NoAnswer(endless) if endless is not None and endless.what in ("endless", "unmet", "stalled") else ran
        if isinstance(ran, GpuFailure) and ran.kind == "time_limit":
            return NoAnswer(endless or self._prepared.stalled(case, plan) or ran)
        if isinstance(ran, CallResult):
            # Only a simulator sees what a GPU forgives, such as a read past the end that no answer needs.
            return ran if result is None else replace(ran, findings=result.findings, accesses=result.accesses)
        # The GPU did not finish, so the answer is never right; a simulator may show the line that goes wrong.
        task = self._prepared.task
        if result is not None and (explain_findings(task.assignment, task.text, result.findings) or not view.right):
            return result
        return NoAnswer(ran)

    def latent_faults(self, case: Case, plan: Plan, inputs: Sequence[Inputs], result: CallResult) -> Sequence[Finding]:
        return self._prepared.simulated_view(case, len(inputs) - 1).latent_faults

    def close(self) -> None:
        try:
            super().close()
        finally:
            self.runner.end()
