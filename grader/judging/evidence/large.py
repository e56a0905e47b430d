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
from grader.judging.evidence.blocks import Unseen
from grader.judging.evidence.sampling import LATE, SECONDS, SLOW, Sample, SampledCase, Settled, wrong_part
from grader.judging.explain import Called, between_elements, explain_case, explain_findings, explain_stop, left_unread
from grader.judging.explain.wording import say
from grader.judging.prepared import Prepared
from grader.judging.running.allowance import USED_UP, Allowance
from grader.judging.running.simulation import Ran, Simulation
from grader.languages.phrases import Phrases, fact
from grader.plan.messages import CannotSimulate
from grader.plan.plan import Launch, Plan

# Most elements of an output that is run whole, because each of them takes all of the input.
MOST_WHOLE = 1 << 21

SLOW_AS_A_WHOLE = "slow_whole"


def look_at_all(prepared: Prepared, plans: Mapping[str, Plan]) -> list[SampledCase]:
    """Sample the cases that a simulator cannot run whole, the smallest first, in SECONDS together. Cases of the same
    sizes are sampled once, by the first of them. If a case took too long, each case that is at least as large in every
    size gets the same outcome."""
    task = prepared.task
    by_sizes: dict[tuple[int, ...], Case] = {}
    small = task.assignment.cases_for("cpu")
    for case in (*task.assignment.cases, *task.assignment.timed):
        if case not in small:
            by_sizes.setdefault(tuple(case.sizes.values()), case)
    looks: list[SampledCase] = []
    slow: list[SampledCase] = []
    budget = Allowance(SECONDS)
    simulation = prepared.simulation.under(budget)
    for case in sorted(by_sizes.values(), key=lambda one: prod(one.sizes.values())):
        as_slow = next((one for one in slow if all(
            case.sizes[name] >= size for name, size in one.case.sizes.items())), None)
        if as_slow is not None:
            looks.append(replace(as_slow, case=case))
        elif budget.left <= 0:
            looks.append(SampledCase(case, unseen=LATE))
        elif case.name in plans:
            seen = look_at_large(
                task.assignment, case, plans[case.name], simulation, prepared.draws, task.text)
            looks += seen
            slow += [one for one in seen if one.unseen in (SLOW, SLOW_AS_A_WHOLE) and not one.output]
    return looks


def look_at_large(
    assignment: Assignment, case: Case, plan: Plan, simulation: Simulation, draws: Draws, source: str
) -> list[SampledCase]:
    """Sample every call of a plan, or run one call whole. Each output that can be taken in parts is sampled. Returns a
    failure alone; else one outcome for all outputs that were sampled, and one for each that was not. Raises
    InfrastructureError."""
    views = assignment.views()
    whole = max(prod(shape_of(output, case)) for output in assignment.outputs) <= MOST_WHOLE
    if whole and all(view.rows is None for view in views):
        return [_all_of(assignment, case, plan, simulation, draws, source)]
    looks = []
    for view in views:
        looks.append(_output(view, case, plan, simulation, draws, source))
        if looks[-1].detail is not None:
            return looks[-1:]
    seen = [look for look in looks if not look.unseen]
    if not seen and len({look.unseen for look in looks}) == 1:
        return looks[:1]
    most = [max(seen, key=lambda look: look.run)] if seen else []
    return most + [replace(look, output=view.output.name) for view, look in zip(views, looks, strict=True)
                   if look.unseen]


def _output(
    view: Assignment, case: Case, plan: Plan, simulation: Simulation, draws: Draws, source: str
) -> SampledCase:
    look = SampledCase(case)
    for call, operations in enumerate(plan.calls()):
        part = plan.model_copy(update={"first": operations, "steady": None})
        try:
            look = Sample(view, case, part, simulation, draws, source, call).look()
        except Unseen as unseen:
            return SampledCase(case, unseen=str(unseen))
        except Settled as wrong:
            return SampledCase(case, detail=wrong.detail)
        if look.detail is not None:
            break
    return look


def _all_of(
    assignment: Assignment, case: Case, plan: Plan, simulation: Simulation, draws: Draws, source: str
) -> SampledCase:
    """Run one call of a case, chosen at random, as a whole: each element takes all of the input."""
    call = draws.random(case, "large").randrange(len(plan.calls()))
    programs = sum(prod(one.grid) for one in plan.calls()[call] if isinstance(one, Launch))
    inputs = [draws.inputs(case, number) for number in range(call + 1)]
    ran = simulation.run(assignment, case, plan, inputs)
    if isinstance(ran, CannotSimulate):
        return SampledCase(case, detail=explain_stop(assignment, source, ran))
    if not isinstance(ran, Ran):
        return SampledCase(case, unseen=LATE if ran == USED_UP else SLOW_AS_A_WHOLE)
    answer = compared(assignment, ran, inputs[-1])
    found, about = answer.chosen, assignment.about(answer.about)
    detail = explain_findings(assignment, source, ran.findings)
    called = Called(about, case, plan, call, ran, source)
    if detail is None and not found.passed:
        # The values are not explained: small cases show sooner what they look like.
        share = "all" if found.count == found.total else "some"
        detail = wrong_part(called.words, fact(f"wrong.{share}", count=found.count, total=found.total), about, found,
                            found.wrong)
        if (unread := left_unread(called)) is not None:
            detail = detail.model_copy(update={"hint": unread.text(called.words), "place": called.place(unread.line)})
    elif detail is None:
        detail = explain_case(called, inputs[-1], answer)
        detail = detail or (between_elements(called, ran.between) if ran.between else None)
    return SampledCase(case, programs, programs, whole=True, detail=detail)


def told(looks: Sequence[SampledCase], words: Phrases) -> str:
    """Return up to three sentences about how much was sampled; "" if there was nothing to sample."""
    seen = [look for look in looks if not look.unseen]
    parts = [say(words, fact("sample.part", run=look.run, programs=look.programs, case=look.what))
             for look in seen if not look.whole]
    whole = [look.what for look in seen if look.whole]
    reasons: dict[str, list[str]] = {}
    for look in looks:
        if look.unseen:
            reasons.setdefault(look.unseen, []).append(look.what)
    left = [f"{', '.join(names)} ({say(words, fact(f'unseen.{reason}', seconds=SECONDS))})"
            for reason, names in reasons.items()]
    return say(words, fact("sample.run", parts=", ".join(parts)) if parts else None,
               fact("sample.whole", cases=", ".join(whole)) if whole else None,
               fact("sample.left", cases="; ".join(left)) if left else None)
