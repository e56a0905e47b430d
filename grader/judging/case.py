"""Judging of a case: run its calls, compare their answers with the oracle's, and explain an error, with the line that
evidence names."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from grader.course.cases import Case
from grader.course.parameters import Inputs
from grader.judging.answers.answers import AnswerComparisons, given_answer
from grader.judging.checks import with_outcome
from grader.judging.evidence.large import sample_case, sampling_note
from grader.judging.evidence.sampling import SECONDS
from grader.judging.explain import (
    ExplainedCall,
    between_elements,
    explain_case,
    explain_failure,
    explain_findings,
    explain_slow,
)
from grader.judging.explain.wording import listed, phrases_of, quoted, say
from grader.judging.prepared import NoAnswer, PreparedTask, TaskPlans
from grader.judging.running.device import working
from grader.judging.running.machine import SimulatedMachine
from grader.judging.running.simulation import CallResult
from grader.judging.running.time_budget import TimeBudget
from grader.judging.seeds import wrong_seed
from grader.languages.phrases import Fact, fact
from grader.plan.findings import Finding
from grader.plan.messages import Exhausted
from grader.plan.plan import Plan
from grader.results.result import CheckResult, Detail
from grader.sandbox.forkserver.conversation import LostAnswer

SMALL = 32
"""The edge of a block that a kernel may use for any size: a smaller size takes as long as this one."""

MOST_TUNED = 2
"""Most autotuners whose configuration a message names."""


def judge_case(
    prepared: PreparedTask, planned: TaskPlans, machine: SimulatedMachine, check: CheckResult, case: Case, plan: Plan,
    right: Sequence[tuple[Case, float]] = (),
) -> tuple[CheckResult, list[Finding]]:
    """Run each call of a case, compare its answer with the oracle's, and explain a difference by what was seen. Returns
    the outcome and the findings of all calls. `right` are earlier cases with right answers, and their seconds.

    No tensor of the case outlives the function: on a GPU they are the largest that a judge has. Raises
    InfrastructureError.
    """
    findings: list[Finding] = []
    seconds = worst = 0.0
    for call in range(len(plan.calls())):
        inputs = prepared.inputs(case, call)
        ran = machine.run(case, plan, inputs)
        if isinstance(ran, NoAnswer):
            if (slow := _slow_here(prepared, case, ran, right)) is not None:
                return _sampled(prepared, case, plan, check, slow), findings
            return with_outcome(check, planned.explain(prepared.task, ran)), findings
        answer = prepared.compared(ran, inputs[-1])
        detail = explain_answer(prepared, case, plan, inputs, ran, answer)
        if detail is None and not call:
            detail = wrong_seed(prepared, machine, case, plan, inputs[0], ran)
        latent_faults = machine.latent_faults(case, plan, inputs, ran) if detail is None else []
        detail = detail or explain_findings(
            prepared.task.assignment, prepared.task.text, latent_faults, every_access=ran.accesses)
        findings += [*ran.findings, *(latent_faults if detail is None else [])]
        seconds += ran.seconds
        if detail is not None:
            return with_outcome(check, detail, seconds=seconds, worst=answer.worst_ratio), findings
        worst = max(worst, answer.worst_ratio)
    return with_outcome(check, None, seconds=seconds, worst=worst), findings


def _slow_here(
    prepared: PreparedTask, case: Case, stopped: NoAnswer, right: Sequence[tuple[Case, float]]
) -> Detail | None:
    """Return the outcome of a case that ran out of time but may just be slow to simulate; None if it is not slow, or
    ended otherwise. The seconds of earlier cases bound the time of a kernel that ends. Its work grows at most
    with the square of the product of sizes (N threads may each sum N elements), and a block takes as long however
    little of it a size fills."""
    stop, task = stopped.stop, prepared.task
    if isinstance(stop, LostAnswer) and stop.kind == "time_out":
        # The simulator ends a run by its own clock, unless the machine is too busy for the simulator to look at it.
        stop = Exhausted(seq=0, what="time")
    if task.on_gpu or not isinstance(stop, Exhausted) or stop.what not in ("time", "operations"):
        return None
    bounds = [(seconds * max(1.0, *(_work(case, least) / _work(earlier, least) for least in (1, SMALL))) ** 2,
               earlier.name, seconds) for earlier, seconds in right]
    most, name, seconds = min(bounds, default=(0.0, "", 0.0))
    if most < task.course.limits.call_seconds:
        return None
    return explain_slow(task.assignment, task.text, stop, name, seconds)


def _sampled(prepared: PreparedTask, case: Case, plan: Plan, check: CheckResult, slow: Detail) -> CheckResult:
    """Sample a case that takes the simulator too long, like sizes that only a GPU runs whole, and return its check. If
    it cannot be sampled, `slow` is the outcome, and the check stays open."""
    task = prepared.task
    samples = sample_case(task.assignment, case, plan, prepared.simulation.under(TimeBudget(SECONDS)), prepared.draws,
                          task.text)
    detail = next((sample.detail for sample in samples if sample.detail is not None), None)
    if detail is None and any(sample.unsampled for sample in samples):
        detail = slow
    note = "" if detail else sampling_note(samples, phrases_of(task.assignment, task.text))
    return with_outcome(check, detail).model_copy(update={"note": note})


def _work(case: Case, least: int) -> int:
    return prod(max(least, size) for size in case.sizes.values())


def explain_answer(
    prepared: PreparedTask, case: Case, plan: Plan, inputs: Sequence[Inputs], ran: CallResult, answer: AnswerComparisons
) -> Detail | None:
    """Return what is wrong with the last call's answer; None if it is right. Raises InfrastructureError."""
    task = prepared.task
    # The inputs may lie on a GPU, and explanations compute there.
    with working():
        about = given_answer(task.assignment, ran, inputs[-1]).about(answer.about)
        called = ExplainedCall(about, case, plan, len(inputs) - 1, ran, task.text)
        detail = explain_case(called, inputs[-1], answer)
    if detail is None and ran.between:
        detail = between_elements(called, ran.between)
    if detail is None and ran.overruns:
        sentence = say(called.words, fact("guards", tensors=listed(ran.overruns)))
        detail = explain_failure(task.assignment, "out_of_bounds", sentence, source=task.text)
    if detail is None:
        return None
    placed = prepared.evidence.with_line(detail, case, inputs, answer, ran.findings)
    return placed.model_copy(update={
        "message": f"{placed.message} {say(called.words, *_tuned(plan))}".strip(), "traceback": "",
        "output": ran.printed})


def _tuned(plan: Plan) -> list[Fact]:
    """Return the configurations that autotuners took, if they had a choice: with another one the case may be right."""
    return [fact("tuned", kernel=quoted(tuner.kernel), configuration=quoted(tuner.configuration.partition(", num_")[0]),
                 candidates=tuner.candidates) for tuner in plan.tuners[:MOST_TUNED] if tuner.candidates > 1]
