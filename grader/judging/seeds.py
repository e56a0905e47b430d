"""Checks of random bits that have to follow from a seed: the same seed gives the same answer, another seed another
answer."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from math import prod

import torch

from grader.course.assignment import Assignment
from grader.course.cases import Case, shape_of
from grader.course.parameters import Inputs, Scalar, Value
from grader.judging.answers.answers import device_of
from grader.judging.answers.compare import compare_unchecked
from grader.judging.answers.inputs import Draws
from grader.judging.explain.evidence import Hint
from grader.judging.explain.wording import listed, phrases_of
from grader.judging.plans.planning import RequestedCall
from grader.judging.prepared import PreparedTask
from grader.judging.running.machine import SimulatedMachine
from grader.judging.running.simulation import CallResult
from grader.languages.phrases import fact
from grader.plan.plan import Plan
from grader.results.result import Detail

FEWEST, MOST = 32, 1 << 17
"""Fewest and most elements of the largest output of the case that runs again: fewer may be the same by chance."""


def wrong_seed(
    prepared: PreparedTask, machine: SimulatedMachine, case: Case, plan: Plan, inputs: Inputs, result: CallResult
) -> Detail | None:
    """Return what is wrong with how an answer follows from drawn whole-number scalars, the seeds; None if nothing is,
    for an assignment without a statistic, and in all but one of its cases. `result` is the outcome of the first call.
    Raises InfrastructureError."""
    assignment = prepared.task.assignment
    if case != _seed_case(assignment):
        return None
    others = _other_scalars(prepared, case)
    if not others:
        return None
    words, name = phrases_of(assignment, prepared.task.text), listed([*others])
    again = machine.run(case, plan, [inputs], again=True)
    if isinstance(again, CallResult) and not _equal(assignment, inputs, again, result):
        return Hint(fact("seed.again.seen", name=name), fact("seed.again.advice", name=name), "seed").detail(
            words, "wrong_values")
    # One seed at a time: a kernel that heeds only one of two would give another answer if both changed.
    wanted = [RequestedCall(case, {**prepared.draws.scalars(case), name: value}) for name, value in others.items()]
    for (scalar, value), outcome in zip(others.items(), prepared.toolchain.plan(wanted).outcomes, strict=True):
        if not isinstance(outcome, Plan):
            continue
        reseeded = machine.run(case, outcome, [{**inputs, scalar: value}])
        if isinstance(reseeded, CallResult) and reseeded.same_answer(result):
            return Hint(fact("seed.ignored.seen", name=scalar, value=inputs[scalar], other=value),
                        fact("seed.ignored.advice", name=scalar), "seed").detail(words, "wrong_values")
    return None


def _equal(assignment: Assignment, inputs: Inputs, again: CallResult, result: CallResult) -> bool:
    """Return whether two right answers agree; sums may be rounded in another order."""
    for view in assignment.views():
        name = view.output.name
        # Both may be off by the tolerance.
        first = result.outputs[name].to(device_of(inputs))
        first = first.to(torch.float64) if first.is_floating_point() else first
        allowed = None if view.tolerance is None else 2 * view.tolerance(inputs, first)
        if not compare_unchecked(again.outputs[name], first, allowed).passed:
            return False
    return True


def _seed_case(assignment: Assignment) -> Case | None:
    """Return the largest public case of FEWEST to MOST elements; None for an assignment without a statistic."""
    sizes = {case.name: max(prod(shape_of(output, case)) for output in assignment.outputs)
             for case in assignment.cases_for("cpu")}
    public = [case for case in assignment.cases_for("cpu") if not case.hidden and FEWEST <= sizes[case.name] <= MOST]
    return max(public, key=lambda case: sizes[case.name], default=None) if assignment.statistic else None


def _other_scalars(prepared: PreparedTask, case: Case) -> Mapping[str, Value]:
    """Return other values for the whole-number scalars that are drawn, by name; scalars that come out the same are left
    out."""
    task, own = prepared.task, prepared.draws.scalars(case)
    again = hashlib.blake2b(b"another seed", key=task.seed[:64]).digest()
    drawn = Draws(task.assignment, again[:32], cuda=task.on_gpu).scalars(case)
    return {p.name: drawn[p.name] for p in task.assignment.parameters
            if isinstance(p, Scalar) and p.type == "int" and drawn[p.name] != own[p.name]}
