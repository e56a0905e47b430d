"""Samples, without a GPU, of sizes that only a GPU runs whole: places are drawn from all of the output, the programs
that store there are simulated, and the elements there are compared with the right answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import prod

from grader.course.assignment import Assignment
from grader.course.cases import Case, shape_of
from grader.judging.answers.answers import compared
from grader.judging.answers.inputs import Draws
from grader.judging.evidence.blocks import SamplingError
from grader.judging.evidence.sampling import LATE, SECONDS, SLOW, Sample, SampledCase, SampleEnd, wrong_part
from grader.judging.explain import between_elements, explain_case, explain_findings, explain_stop, left_unread
from grader.judging.explain.explained_call import ExplainedCall
from grader.judging.explain.wording import say
from grader.judging.prepared import PreparedTask
from grader.judging.running.simulation import CallResult, Simulation
from grader.judging.running.time_budget import USED_UP, TimeBudget
from grader.languages.phrases import Phrases, fact
from grader.plan.messages import CannotSimulate
from grader.plan.plan import Launch, Plan, touched_buffers

# The most elements of an output that is run whole because each element takes all of the input.
MOST_WHOLE = 1 << 21

SLOW_AS_A_WHOLE = "slow_whole"


def sample_large_cases(prepared: PreparedTask, plans: Mapping[str, Plan]) -> list[SampledCase]:
    """Sample the cases that a simulator cannot run whole, the smallest first, in SECONDS together. Cases of the same
    sizes are sampled once, by the first of them. If a case took too long, each case that is at least as large in every
    size gets the same outcome."""
    task = prepared.task
    by_sizes: dict[tuple[int, ...], Case] = {}
    small = task.assignment.cases_for("cpu")
    for case in (*task.assignment.cases, *task.assignment.timed):
        if case not in small:
            by_sizes.setdefault(tuple(case.sizes.values()), case)
    samples: list[SampledCase] = []
    slow: list[SampledCase] = []
    budget = TimeBudget(SECONDS)
    simulation = prepared.simulation.under(budget)
    for case in sorted(by_sizes.values(), key=lambda case: prod(case.sizes.values())):
        as_slow = next((sample for sample in slow if all(
            case.sizes[name] >= size for name, size in sample.case.sizes.items())), None)
        if as_slow is not None:
            samples.append(replace(as_slow, case=case))
        elif budget.left <= 0:
            samples.append(SampledCase(case, unsampled=LATE))
        elif case.name in plans:
            seen = sample_case(
                task.assignment, case, plans[case.name], simulation, prepared.draws, task.text)
            samples += seen
            slow += [sample for sample in seen if sample.unsampled in (SLOW, SLOW_AS_A_WHOLE) and not sample.output]
    return samples


def sample_case(
    assignment: Assignment, case: Case, plan: Plan, simulation: Simulation, draws: Draws, source: str
) -> list[SampledCase]:
    """Sample every call of a plan, or run one call whole. Each output that can be taken in parts is sampled. Returns a
    failure alone; else one outcome for all outputs that were sampled, and one for each that was not. Raises
    InfrastructureError."""
    views = assignment.views()
    whole = max(prod(shape_of(output, case)) for output in assignment.outputs) <= MOST_WHOLE
    if whole and all(view.rows is None for view in views):
        return [_all_of(assignment, case, plan, simulation, draws, source)]
    samples = []
    for view in views:
        samples.append(_output(view, case, plan, simulation, draws, source))
        if samples[-1].detail is not None:
            return samples[-1:]
    seen = [sample for sample in samples if not sample.unsampled]
    if not seen and len({sample.unsampled for sample in samples}) == 1:
        return samples[:1]
    most = [max(seen, key=lambda sample: sample.run)] if seen else []
    return most + [replace(sample, output=view.output.name) for view, sample in zip(views, samples, strict=True)
                   if sample.unsampled]


def _output(
    view: Assignment, case: Case, plan: Plan, simulation: Simulation, draws: Draws, source: str
) -> SampledCase:
    sample, setup, stored = SampledCase(case), plan.setup, set[int]()
    for call, operations in enumerate(plan.calls()):
        part = plan.model_copy(update={"setup": setup, "first": operations, "steady": None})
        try:
            taken = Sample(view, case, part, simulation, draws, source, call)
            sample = taken.take(stored)
        except SamplingError as unsampled:
            return SampledCase(case, unsampled=str(unsampled))
        except SampleEnd as wrong:
            return SampledCase(case, detail=wrong.detail)
        if sample.detail is not None:
            break
        # The steady call uses what the first call put into memory that is kept: host code's part of it is put there
        # again, launches are not made again.
        stored = taken.stored
        setup = [*setup, *(operation for operation in operations if not isinstance(operation, Launch)
                           and not any(plan.buffers[buffer].given for buffer in touched_buffers(operation)))]
    return sample


def _all_of(
    assignment: Assignment, case: Case, plan: Plan, simulation: Simulation, draws: Draws, source: str
) -> SampledCase:
    """Run one call of a case, chosen at random, as a whole: each element takes all of the input."""
    call = draws.random(case, "large").randrange(len(plan.calls()))
    programs = sum(prod(operation.grid) for operation in plan.calls()[call] if isinstance(operation, Launch))
    inputs = [draws.inputs(case, number) for number in range(call + 1)]
    ran = simulation.run(assignment, case, plan, inputs)
    if isinstance(ran, CannotSimulate):
        return SampledCase(case, detail=explain_stop(assignment, source, ran))
    if not isinstance(ran, CallResult):
        return SampledCase(case, unsampled=LATE if ran == USED_UP else SLOW_AS_A_WHOLE)
    answer = compared(assignment, ran, inputs[-1])
    comparison, about = answer.chosen, assignment.about(answer.about)
    detail = explain_findings(assignment, source, ran.findings)
    called = ExplainedCall(about, case, plan, call, ran, source)
    if detail is None and not comparison.passed:
        # The values are not explained: small cases show sooner what they look like.
        share = "all" if comparison.count == comparison.total else "some"
        detail = wrong_part(called.words, fact(f"wrong.{share}", count=comparison.count, total=comparison.total), about,
                            comparison, comparison.wrong)
        if (unread := left_unread(called)) is not None:
            detail = detail.model_copy(update={"hint": unread.text(called.words), "place": called.place(unread.line)})
    elif detail is None:
        detail = explain_case(called, inputs[-1], answer)
        detail = detail or (between_elements(called, ran.between) if ran.between else None)
    return SampledCase(case, programs, programs, whole=True, detail=detail)


def sampling_note(samples: Sequence[SampledCase], words: Phrases) -> str:
    """Return up to three sentences about how much was sampled; "" if there was nothing to sample."""
    seen = [sample for sample in samples if not sample.unsampled]
    parts = [say(words, fact("sample.part", run=sample.run, programs=sample.programs, case=sample.what))
             for sample in seen if not sample.whole]
    whole = [sample.what for sample in seen if sample.whole]
    reasons: dict[str, list[str]] = {}
    for sample in samples:
        if sample.unsampled:
            reasons.setdefault(sample.unsampled, []).append(sample.what)
    left = [f"{', '.join(names)} ({say(words, fact(f'unseen.{reason}', seconds=SECONDS))})"
            for reason, names in reasons.items()]
    return say(words, fact("sample.run", parts=", ".join(parts)) if parts else None,
               fact("sample.whole", cases=", ".join(whole)) if whole else None,
               fact("sample.left", cases="; ".join(left)) if left else None)
