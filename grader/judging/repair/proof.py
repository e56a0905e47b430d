"""Proof that an edited file is right: the judge's own verdict, on new contents, at the public sizes and at others."""

from __future__ import annotations

import hashlib
import random
from contextlib import closing
from dataclasses import replace
from typing import NamedTuple

from grader.course.assignment import Assignment, check_strides
from grader.course.cases import Case, shape_of, strides_of
from grader.course.parameters import Scalar
from grader.course.submission import Source
from grader.judging.checks import SOURCE, case_check, results
from grader.judging.evidence.large import sample_large_cases
from grader.judging.judge import judge
from grader.judging.prepared import PreparedTask
from grader.plan.plan import Plan

# A long size: a loop that takes one tile, or a block that covers a row, is right up to some size.
LONG = 4096
SMALL = 90
FEW = (1, 5)
# Sizes of some blocks in two directions: work that is split by one size may be wrong if another one is long, too.
BLOCKS = (130, 190)


class Proof(NamedTuple):
    """The number of cases that the judge finds right, and whether a simulator has sampled all cases that only a GPU
    runs."""

    cases: int
    whole: bool


def proved(prepared: PreparedTask, case: Case, text: str) -> Proof | None:
    """Return the proof that `text` is a right file; None if a case fails, has no plan, or shows an error in a sample of
    sizes that only a GPU runs. `case` failed with the student's file. Hidden cases take no part: a proof would reveal
    them. Raises InfrastructureError."""
    task = prepared.task
    small = task.assignment.cases_for("cpu")
    public = [case for case in small if not case.hidden]
    large = [case for case in task.assignment.cases if not case.hidden and case not in small]
    seed = hashlib.blake2b(b"proof", key=task.seed[:64], digest_size=16).digest()
    # The failed case first, since most wrong edits fail there.
    cases = (case, *(other for other in public if other != case), *fresh(task.assignment, case, random.Random(seed)))
    assignment = task.assignment.model_copy(update={"cases": (*cases, *large), "timed": ()})
    tried = PreparedTask(replace(task, assignment=assignment, seed=seed, device="cpu",
                                 source=Source(content=text.encode(), file=task.source.file)))
    with closing(judge(tried, [SOURCE, *map(case_check, cases)])) as outcomes:
        if any(check.outcome != "passed" for check in results(outcomes)):
            return None
    plans = {name: plan for name, plan in tried.plan().plans.items() if isinstance(plan, Plan)}
    samples = sample_large_cases(tried, plans)
    if len(plans) < len(cases) + len(large) or any(sample.detail for sample in samples):
        return None
    return Proof(len(cases), not any(sample.unsampled for sample in samples))


def fresh(assignment: Assignment, case: Case, drawn: random.Random) -> list[Case]:
    """Return cases of other sizes: small ones, one of some blocks, and for each size one in which that size is long. A
    size with choices takes one of them. Cases whose sizes do not fit each other, or in which a tensor is empty, are
    left out."""
    names = list(case.sizes)
    sizes = [{name: drawn.randint(2, SMALL) for name in names} for _ in range(2)]
    sizes.append({name: drawn.randint(*(BLOCKS if name in names[-2:] else FEW)) for name in names})
    for long in names:
        sizes.append({name: drawn.randint(LONG + 1, LONG + 300) if name == long else drawn.randint(*FEW)
                      for name in names})
    for size in sizes:
        size.update({name: drawn.choice(allowed) for name, allowed in assignment.choices.items()})
    cases = [Case(name=f"proof-{number}", sizes=size, strides=case.strides, dtypes=case.dtypes)
             for number, size in enumerate(sizes)]
    return [case for case in cases if _laid_out(assignment, case)
            and (assignment.fits is None or assignment.fits(case.sizes))]


def _laid_out(assignment: Assignment, case: Case) -> bool:
    """Return whether no tensor is empty, and the case's strides, made for other sizes, let no two elements share
    memory."""
    for tensor in (p for p in assignment.parameters if not isinstance(p, Scalar)):
        shape = shape_of(tensor, case)
        try:
            check_strides(case.name, tensor.name, shape, strides_of(tensor, case))
        except ValueError:
            return False
        if min(shape, default=1) < 1:
            return False
    return True
