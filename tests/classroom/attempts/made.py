"""Attempts as gradings leave them, from results made by hand or by the judge."""

from pathlib import Path
from typing import Any

from grader.classroom.attempts.attempt import Attempt
from grader.classroom.attempts.recording import record
from grader.classroom.attempts.selected import SelectedAttempt, select_attempts
from grader.classroom.attempts.store import Store
from grader.classroom.attempts.student_files import shown_attempts
from grader.course.late import LatePolicy
from grader.grading.job import JobOutcome
from grader.results.result import Result
from tests.pages import samples

KERNELS = list(samples.KERNELS)


def draft(assignment: str = "silu", student: str = "ada", **fields: Any) -> Attempt:
    return Attempt.model_validate({
        "student": student, "slug": student, "members": (student,), "assignment": assignment, "submission": "ab" * 32,
        "tests": "tests", "environment": "cpu", "rules": "rules", **fields})


def kept(graded: JobOutcome, out: Path, **fields: Any) -> list[str]:
    """Keeps what a submission's grading gave, as a class's grading does."""
    names = graded.result.assignments if graded.result else ["silu"]
    drafts = {name: draft(name, graded.submission.student, slug=graded.submission.slug, **fields) for name in names}
    with Store.create(out) as store:
        return record(store, out, LatePolicy(), drafts, graded.result, graded.log, graded.error)


def add(store: Store, *heads: Attempt, result: Result | None = None) -> list[Attempt]:
    """Records attempts without anything drawn of them; returns them as they were recorded."""
    store.add([(head, result) for head in heads], "log")
    return store.attempts()[-len(heads):]


def stands(store: Store) -> list[SelectedAttempt]:
    return list(select_attempts(store.attempts(), store.decisions()).values())


def scores(store: Store) -> dict[tuple[str, str], float]:
    """What the files of each student show, by student and assignment."""
    return {(attempt.slug, attempt.assignment): attempt.score
            for attempts in shown_attempts(store, LatePolicy()).values() for attempt in attempts}
