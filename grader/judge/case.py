"""Judging a case: its calls run, and their answers are compared and explained, with the line that evidence names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from grader.judge.checks import concluded
from grader.judge.compare import Comparison
from grader.judge.explain import Called, explain_case, explain_failure, explain_findings
from grader.judge.machine import CallRunner
from grader.judge.prepared import Prepared, Stopped, TaskPlans
from grader.judge.simulation import Ran
from grader.model.assignment import Case, Inputs
from grader.model.result import CheckResult, Detail
from grader.plan.findings import Finding
from grader.plan.plan import Plan


@dataclass(frozen=True)
class JudgedCase:
    """The outcome of a case's check, and the findings of its calls."""

    check: CheckResult
    findings: tuple[Finding, ...] = ()


def judge_case(
    prepared: Prepared, planned: TaskPlans, machine: CallRunner, check: CheckResult, case: Case, plan: Plan
) -> JudgedCase:
    """Runs each call of a case, compares its answer with the oracle's, and explains a difference by what was seen.

    Nothing of a case outlives this: on a GPU its tensors are the largest that a judge has. Raises InfrastructureError.
    """
    findings: list[Finding] = []
    seconds = worst = 0.0
    for call in range(len(plan.calls())):
        inputs = prepared.inputs(case, call)
        ran = machine.run(case, plan, inputs)
        if isinstance(ran, Stopped):
            return JudgedCase(concluded(check, planned.explain(prepared.task, ran)), tuple(findings))
        comparison = prepared.compared(ran, inputs[-1])
        detail = explain_answer(prepared, case, plan, inputs, ran, comparison)
        chances = machine.chances(case, plan, inputs, ran) if detail is None else []
        detail = detail or explain_findings(prepared.task.assignment, prepared.task.text, chances)
        findings += [*ran.findings, *(chances if detail is None else [])]
        seconds += ran.seconds
        if detail is not None:
            failed = concluded(check, detail, seconds=seconds, worst=comparison.worst_ratio)
            return JudgedCase(failed, tuple(findings))
        worst = max(worst, comparison.worst_ratio)
    return JudgedCase(concluded(check, None, seconds=seconds, worst=worst), tuple(findings))


def explain_answer(
    prepared: Prepared, case: Case, plan: Plan, inputs: Sequence[Inputs], ran: Ran, comparison: Comparison
) -> Detail | None:
    """What is wrong with the last call's answer; None if it is right. Raises InfrastructureError."""
    task = prepared.task
    called = Called(task.assignment, case, plan, len(inputs) - 1, ran, task.text)
    detail = explain_case(called, inputs[-1], comparison)
    if detail is None and ran.touched:
        detail = explain_failure(
            task.assignment, "out_of_bounds", f"A store lies outside of {' and '.join(ran.touched)}.")
    if detail is None:
        return None
    placed = prepared.witness.placed(detail, case, inputs, comparison, ran.findings)
    return placed.model_copy(update={"traceback": "", "output": ran.printed})
