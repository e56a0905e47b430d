"""Machines that run a task's plans: a simulator, or a GPU with a simulator beside it that sees what the GPU
forgives."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Protocol, TypeGuard

from grader.course.cases import Case
from grader.course.parameters import Inputs
from grader.judging.explain import explain_findings
from grader.judging.prepared import Prepared, Stopped
from grader.judging.running.execution import GpuFailure
from grader.judging.running.lane import LANE
from grader.judging.running.launching import Launching
from grader.judging.running.simulation import PLAIN, Manner, Ran
from grader.plan.findings import Finding
from grader.plan.messages import CannotSimulate, Exhausted, Failed
from grader.plan.plan import Plan
from grader.sandbox.forkserver.conversation import Lost


class CallRunner(Protocol):
    """A machine that runs a task's plans."""

    def run(self, case: Case, plan: Plan, inputs: Sequence[Inputs], *, again: bool = False) -> Ran | Stopped:
        """Run the plan's calls on these inputs, an entry for each call, and return the last call's answer. With
        `again`, a simulator takes another order where none is defined. Raises InfrastructureError."""
        ...

    def chances(self, case: Case, plan: Plan, inputs: Sequence[Inputs], ran: Ran) -> Sequence[Finding]:
        """Return findings of undefined behaviour on which a right answer rests."""
        ...

    def close(self) -> None: ...


class Simulator:
    """A machine that runs calls in the simulator of a task."""

    def __init__(self, prepared: Prepared) -> None:
        self._prepared = prepared

    def run(self, case: Case, plan: Plan, inputs: Sequence[Inputs], *, again: bool = False) -> Ran | Stopped:
        assignment, manner = self._prepared.task.assignment, Manner(order=[]) if again else PLAIN
        ran = self._prepared.simulation.run(assignment, case, plan, inputs, manner)
        if _ended(ran):
            # Once more: the machine may end one simulator by chance, but not two on the same call.
            ran = self._prepared.simulation.run(assignment, case, plan, inputs, manner)
        if _ended(ran):
            said = f"its kernels end the simulator, which runs them without a GPU: {ran.message}"
            return Stopped(Failed(seq=0, failure="unsupported", message=said))
        return ran if isinstance(ran, Ran) else Stopped(ran)

    def chances(self, case: Case, plan: Plan, inputs: Sequence[Inputs], ran: Ran) -> Sequence[Finding]:
        return self._prepared.witness.chances(case, plan, inputs, ran, self._prepared.compared)

    def close(self) -> None:
        self._prepared.simulation.end()


def _ended(ran: Ran | CannotSimulate | Exhausted | Lost) -> TypeGuard[Lost]:
    """Return whether a simulator has ended by itself, or has sent a message that is none of ours."""
    return isinstance(ran, Lost) and ran.kind in ("crash", "protocol")


class GpuMachine(Simulator):
    """A machine that runs calls on the GPU of `launching`. The simulator names the line where something goes wrong."""

    def __init__(self, prepared: Prepared) -> None:
        super().__init__(prepared)
        task = prepared.task
        self.launching = Launching(task.assignment, LANE.executors, seconds=task.course.limits.call_seconds)

    def run(self, case: Case, plan: Plan, inputs: Sequence[Inputs], *, again: bool = False) -> Ran | Stopped:
        code = self._prepared.code(plan)
        ran = code if isinstance(code, Stopped) else self.launching.run(case, plan, code, inputs)
        foreseen = self._prepared.foreseen(case, len(inputs) - 1)
        seen, endless = foreseen.seen, foreseen.endless
        if isinstance(ran, Stopped):
            # A compiler fails on some loops that it finds endless, and names no line; the simulator does.
            return Stopped(endless) if endless is not None and endless.what in ("endless", "unmet", "stalled") else ran
        if isinstance(ran, GpuFailure) and ran.kind == "time_limit":
            return Stopped(endless or self._prepared.stalled(case, plan) or ran)
        if isinstance(ran, Ran):
            # Only a simulator sees what a GPU forgives, such as a read past the end that no answer needs.
            return ran if seen is None else replace(ran, findings=seen.findings, accesses=seen.accesses)
        # The GPU did not finish, so the answer is never right; a simulator may show the line that goes wrong.
        task = self._prepared.task
        if seen is not None and (explain_findings(task.assignment, task.text, seen.findings) or not foreseen.right):
            return seen
        return Stopped(ran)

    def chances(self, case: Case, plan: Plan, inputs: Sequence[Inputs], ran: Ran) -> Sequence[Finding]:
        return self._prepared.foreseen(case, len(inputs) - 1).chances

    def close(self) -> None:
        try:
            super().close()
        finally:
            self.launching.end()


def machine_of(prepared: Prepared) -> CallRunner:
    """Return the machine for a task's plans: close it when the task is judged."""
    return GpuMachine(prepared) if prepared.task.on_gpu else Simulator(prepared)
