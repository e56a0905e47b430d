"""Judging of a case: run its calls, compare their answers with the oracle's, and explain an error, with the line that
evidence names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from grader.course.cases import Case
from grader.course.parameters import Inputs
from grader.judging.answers.answers import Compared, given_answer
from grader.judging.checks import concluded
from grader.judging.evidence.large import look_at_large, told
from grader.judging.evidence.sampling import SECONDS
from grader.judging.explain import (
    Called,
    between_elements,
    explain_case,
    explain_failure,
    explain_findings,
    explain_slow,
)
from grader.judging.explain.wording import listed, phrases_of, quoted, say
from grader.judging.prepared import Prepared, Stopped, TaskPlans
from grader.judging.running.allowance import Allowance
from grader.judging.running.machine import CallRunner
from grader.judging.running.simulation import Ran
from grader.judging.seeds import wrong_seed
from grader.languages.phrases import Fact, fact
from grader.plan.findings import Finding
from grader.plan.messages import Exhausted
from grader.plan.plan import Plan
from grader.results.result import CheckResult, Detail
from grader.sandbox.forkserver.conversation import Lost

SMALL = 32
"""Edge of a block that any kernel may have: a smaller size takes as long as this one."""

MOST_TUNED = 2
"""Most autotuners whose configuration a message names."""


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
    are earlier cases with right answers, and their seconds.

    No tensor of the case outlives the function: on a GPU they are the largest that a judge has. Raises
    InfrastructureError.
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
        detail = detail or explain_findings(
            prepared.task.assignment, prepared.task.text, chances, every_access=ran.accesses)
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
    """Return the reason why a simulator's time-out proves nothing; None if it does prove something. The seconds of
    earlier cases bound the time of a kernel that ends. Its work grows at most with the square of the product of sizes
    (N threads may each sum N elements), and a block takes as long however little of it a size fills."""
    stop, task = stopped.stop, prepared.task
    if isinstance(stop, Lost) and stop.kind == "time_out":
        # The simulator ends by its own clock, unless the machine is too busy to let it come so far.
        stop = Exhausted(seq=0, what="time")
    if task.on_gpu or not isinstance(stop, Exhausted) or stop.what not in ("time", "operations"):
        return None
    bounds = [(seconds * max(1.0, *(_work(case, least) / _work(one, least) for least in (1, SMALL))) ** 2, one.name,
               seconds) for one, seconds in right]
    most, name, seconds = min(bounds, default=(0.0, "", 0.0))
    if most < task.course.limits.call_seconds:
        return None
    return explain_slow(task.assignment, task.text, stop, name, seconds)


def _sampled(prepared: Prepared, case: Case, plan: Plan, check: CheckResult, slow: Detail) -> CheckResult:
    """Return the check of a case that takes the simulator too long: sample it, as sizes are that only a GPU runs. If
    that is impossible, `slow` is the outcome, and the check stays open."""
    task = prepared.task
    looks = look_at_large(task.assignment, case, plan, prepared.simulation.under(Allowance(SECONDS)), prepared.draws,
                          task.text)
    detail = next((look.detail for look in looks if look.detail is not None), None)
    if detail is None and any(look.unseen for look in looks):
        detail = slow
    note = "" if detail else told(looks, phrases_of(task.assignment, task.text))
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
        seen = say(called.words, fact("guards", tensors=listed(ran.touched)))
        detail = explain_failure(task.assignment, "out_of_bounds", seen, source=task.text)
    if detail is None:
        return None
    placed = prepared.witness.placed(detail, case, inputs, answer, ran.findings)
    return placed.model_copy(update={
        "message": f"{placed.message} {say(called.words, *_tuned(plan))}".strip(), "traceback": "",
        "output": ran.printed})


def _tuned(plan: Plan) -> list[Fact]:
    """Return the configurations that autotuners took, if they had a choice: with another one the case may be right."""
    return [fact("tuned", kernel=quoted(one.kernel), configuration=quoted(one.configuration.partition(", num_")[0]),
                 candidates=one.candidates) for one in plan.tuners[:MOST_TUNED] if one.candidates > 1]
