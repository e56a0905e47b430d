"""Computation of new points from recorded checks and times, after the course's points or thresholds have changed. It
also shows students the repairs that were found, once the course does."""

from __future__ import annotations

from grader.classroom.attempts.attempt import Attempt, hash_of_rules
from grader.classroom.attempts.recording import scored_head
from grader.classroom.attempts.selected import pending, select_attempts
from grader.classroom.attempts.store import Store
from grader.course.course import Course
from grader.course.scoring import earlier_shares, scored
from grader.results.result import AssignmentResult, Result, with_assignments


def rescore(store: Store, course: Course) -> int:
    """Record a new attempt, with the same checks and new points, for each selected or newer attempt that was judged
    under other rules than the course has, or whose repair the course now shows. Runs no code. Returns the number of new
    attempts. Raises StoreError."""
    attempts, decisions = store.attempts(), store.decisions()
    newest = {hand_in: attempt for hand_in, (_, attempt, _) in select_attempts(attempts, decisions).items()}
    newest |= {after.hand_in: after for _, after in pending(attempts, decisions)}
    rules = {name: hash_of_rules(name, course) for name in {attempt.assignment for attempt in newest.values()}}
    folders: dict[str, list[tuple[Attempt, Result | None]]] = {}
    for attempt in newest.values():
        name = attempt.assignment
        alike = attempt.rules == rules[name]
        if (alike and course.hints.level != "edit") or not attempt.judged or (record := store.result(attempt)) is None:
            continue
        shown = _shown(record.assignments[name], course)
        if alike and shown is record.assignments[name]:
            continue
        rescored = scored(name, shown, course, record.environment.device, earlier_shares(record).get(name))
        record = with_assignments(record, {name: rescored}, environment=record.environment.model_copy(
            update={"course": course.sha256}))
        head = scored_head(attempt, rescored).model_copy(update={"rules": rules[name], "of": attempt.id})
        folders.setdefault(attempt.slug, []).append((head, record))
    for made in folders.values():
        store.add(made)
    return sum(map(len, folders.values()))


def _shown(a: AssignmentResult, course: Course) -> AssignmentResult:
    """Return the assignment with its repair for the student to see, if the course shows repairs in full."""
    if a.repair is None or a.repair.level == course.hints.level or course.hints.level != "edit":
        return a
    return a.model_copy(update={"repair": a.repair.model_copy(update={"level": "edit"})})
