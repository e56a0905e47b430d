"""Grades a folder as `kernelmark grade` would, for tests that look at the results."""

from __future__ import annotations

from pathlib import Path

from grader.model.catalogue import ROOT, assignments
from grader.model.course import LimitsTable, read_course
from grader.model.job import read_job
from grader.model.result import AssignmentResult
from grader.model.submission import find_submissions
from grader.run.grading import grade

FILES = {a.file: name for name, a in assignments().items()}


def results(folder: Path, limits: LimitsTable, device: str = "cpu", speed: bool = False) -> dict[str, AssignmentResult]:
    """The results of the assignments that `folder` holds a file of, by name."""
    present = tuple(name for file, name in FILES.items() if (folder / file).exists())
    course = read_course(ROOT / "course.toml", frozenset(assignments())).model_copy(update={"limits": limits})
    (submission,) = find_submissions(folder, FILES)
    graded = grade(read_job(submission, course, present, device, speed))
    assert graded.result is not None, graded.error
    return graded.result.assignments


def told(result: AssignmentResult) -> str:
    """All that a result tells its student, in lines."""
    texts = [f"{result.verdict}: {result.message} {result.hint}"]
    texts += [f"{check.id}: {check.detail.message} {check.detail.hint} {check.detail.traceback[-300:]}"
              for check in result.correctness.checks if check.detail]
    texts += result.remarks
    return "\n".join(texts)
