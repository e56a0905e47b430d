"""The search for changes that mend what failed, after a grading. Changes are hints: no check and no points change."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TypeVar

from grader.course import catalogue
from grader.grading.job import Graded, Job, seed_bytes
from grader.judging.prepared import Prepared, Task
from grader.judging.repair.search import repaired
from grader.judging.running.lane import LANE
from grader.results.result import AssignmentResult, Detail

Explained = TypeVar("Explained", AssignmentResult, Detail)


def mended(
    job: Job, name: str, assignment: AssignmentResult,
    progress: Callable[[int, int], object] = lambda tried, most: None,
) -> AssignmentResult:
    """Return a graded assignment, with a change that makes every case right if one is found. Changes are tried without
    a GPU, wherever the job was graded. `progress` is called with the number of tried changes and their maximum. Raises
    InfrastructureError."""
    if assignment.right or job.course.hints.level == "off":
        return assignment
    task = Task(catalogue.assignments()[name], job.handed_in.sources[name], job.course, seed_bytes(job.seed), "cpu")
    try:
        repair = repaired(Prepared(task), assignment.correctness.checks, progress)
    finally:
        LANE.station.hang_up()
    return assignment if repair is None else without_guess(assignment).model_copy(update={"repair": repair})


def without_guess(assignment: AssignmentResult) -> AssignmentResult:
    """Return the assignment with its hints reduced to what follows from evidence."""
    correctness = assignment.correctness
    checks = [check.model_copy(update={"detail": _sure(check.detail)}) if check.detail and check.detail.guess else check
              for check in correctness.checks]
    return _sure(assignment).model_copy(update={"correctness": correctness.model_copy(update={"checks": checks})})


def _sure(explained: Explained) -> Explained:
    return explained.model_copy(update={"hint": explained.hint.removesuffix(explained.guess).strip(), "guess": ""})


def mend(job: Job, graded: Graded, begun: Callable[[str], object] = lambda assignment: None) -> Graded:
    """Return a job's outcome with every change that was found. A failure of the grader in the search only costs the
    hint, and is in the log. `begun` is called with each assignment's name."""
    if graded.result is None:
        return graded
    assignments, log = dict(graded.result.assignments), graded.log
    for name, assignment in graded.result.assignments.items():
        begun(name)
        try:
            assignments[name] = mended(job, name, assignment)
        except Exception as error:
            log += f"\n{name}: the search for a change failed: {type(error).__name__}: {error}\n"
    return replace(graded, result=graded.result.model_copy(update={"assignments": assignments}), log=log)
