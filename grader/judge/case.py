"""Judging a case: its calls run, and their answers are compared and explained, with the line that evidence names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from grader.judge.allowance import Allowance
from grader.judge.answers import Compared, given_answer
from grader.judge.checks import concluded
from grader.judge.explain import Called, between_elements, explain_case, explain_failure, explain_findings, explain_slow
from grader.judge.large import look_at_large, told
from grader.judge.machine import CallRunner
from grader.judge.prepared import Prepared, Stopped, TaskPlans
from grader.judge.sampling import SECONDS
from grader.judge.seeds import wrong_seed
from grader.judge.simulation import Ran
from grader.judge.wording import phrases_of, quoted, spoken
from grader.model.cases import Case
from grader.model.parameters import Inputs
from grader.model.result import CheckResult, Detail
from grader.plan.findings import Finding
from grader.plan.messages import Exhausted
from grader.plan.plan import Plan

SMALL = 32
"""Edge of a block that any kernel may have."""

MOST_TUNED = 2
"""Autotuners whose choice is told."""


@dataclass(frozen=True)
class JudgedCase:
    """The outcome of a case's check, and the findings of its calls."""

    check: CheckResult
    findings: tuple[Finding, ...] = ()


def judge_case(
    prepared: Prepared, planned: TaskPlans, machine: CallRunner, check: CheckResult, case: Case, plan: Plan,
    right: Sequence[tuple[Case, float]] = (),
) -> JudgedCase:
    """Run each call of a case, compare its answer with the oracle's, and explain a difference by what was seen. `right`
    are the cases before that came out right, with their seconds.

    Nothing of a case outlives this: on a GPU its tensors are the largest that a judge has. Raises InfrastructureError.
    """
    findings: list[Finding] = []
    seconds = worst = 0.0
    for call in range(len(plan.calls())):
        inputs = prepared.inputs(case, call)
        ran = machine.run(case, plan, inputs)
        if isinstance(ran, Stopped):
            if (slow := _slow_here(prepared, case, ran, right)) is not None:
                return JudgedCase(_sampled(prepared, case, plan, check, slow), tuple(findings))
            return JudgedCase(concluded(check, planned.explain(prepared.task, ran)), tuple(findings))
        answer = prepared.compared(ran, inputs[-1])
        detail = explain_answer(prepared, case, plan, inputs, ran, answer)
        if detail is None and not call:
            detail = wrong_seed(prepared, machine, case, plan, inputs[0], ran)
        chances = machine.chances(case, plan, inputs, ran) if detail is None else []
        detail = detail or explain_findings(prepared.task.assignment, prepared.task.text, chances)
        findings += [*ran.findings, *(chances if detail is None else [])]
        seconds += ran.seconds
        if detail is not None:
            failed = concluded(check, detail, seconds=seconds, worst=answer.worst_ratio)
            return JudgedCase(failed, tuple(findings))
        worst = max(worst, answer.worst_ratio)
    return JudgedCase(concluded(check, None, seconds=seconds, worst=worst), tuple(findings))


def _slow_here(
    prepared: Prepared, case: Case, stopped: Stopped, right: Sequence[tuple[Case, float]]
) -> Detail | None:
    """Return why a simulator's lack of time shows nothing: by what smaller cases took, even a kernel that ends may take
    as long. Work grows with the square of the product of sizes at most, as where N threads each sum N elements; a block
    takes as long however little of it a size fills."""
    stop, task = stopped.stop, prepared.task
    if task.on_gpu or not isinstance(stop, Exhausted) or stop.what not in ("time", "operations"):
        return None
    bounds = [(seconds * max(1.0, *(_work(case, least) / _work(one, least) for least in (1, SMALL))) ** 2, one.name,
               seconds) for one, seconds in right]
    most, name, seconds = min(bounds, default=(0.0, "", 0.0))
    if most < task.course.limits.call_seconds:
        return None
    return explain_slow(task.assignment, task.text, stop, name, seconds)


def _sampled(prepared: Prepared, case: Case, plan: Plan, check: CheckResult, slow: Detail) -> CheckResult:
    """Return the check of a case that takes a simulator too long, sampled as a size that only a GPU runs; open where
    that shows nothing."""
    task = prepared.task
    looks = look_at_large(task.assignment, case, plan, prepared.simulation.under(Allowance(SECONDS)), prepared.draws,
                          task.text)
    detail = next((look.detail for look in looks if look.detail is not None), None)
    if detail is None and any(look.unseen for look in looks):
        detail = slow
    note = "" if detail else spoken(told(looks), phrases_of(task.assignment))
    return concluded(check, detail).model_copy(update={"note": note})


def _work(case: Case, least: int) -> int:
    return prod(max(least, size) for size in case.sizes.values())


def explain_answer(
    prepared: Prepared, case: Case, plan: Plan, inputs: Sequence[Inputs], ran: Ran, answer: Compared
) -> Detail | None:
    """Return what is wrong with the last call's answer; None if it is right. Raises InfrastructureError."""
    task = prepared.task
    about = given_answer(task.assignment, ran, inputs[-1]).about(answer.about)
    called = Called(about, case, plan, len(inputs) - 1, ran, task.text)
    detail = explain_case(called, inputs[-1], answer)
    if detail is None and ran.between:
        detail = between_elements(called, ran.between)
    if detail is None and ran.touched:
        detail = explain_failure(
            task.assignment, "out_of_bounds", f"A store lies outside of {' and '.join(ran.touched)}.")
    if detail is None:
        return None
    placed = prepared.witness.placed(detail, case, inputs, answer, ran.findings)
    return placed.model_copy(update={
        "message": f"{placed.message}{_tuned(plan)}", "traceback": "", "output": ran.printed})


def _tuned(plan: Plan) -> str:
    """Return the configurations that autotuners took, where they had a choice: a case may go right with another."""
    return "".join(
        f" The configuration of {quoted(one.kernel)} was {quoted(one.configuration.partition(', num_')[0])}, one of "
        f"{one.candidates:,}." for one in plan.tuners[:MOST_TUNED] if one.candidates > 1)
