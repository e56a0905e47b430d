"""Computes points again from recorded checks and times, after the course's points or thresholds have changed."""

from __future__ import annotations

from grader.model.course import Course
from grader.model.result import Result, with_assignments
from grader.model.scoring import earlier_shares, scored
from grader.records.attempt import Attempt, hash_of_rules
from grader.records.keep import scored_head
from grader.records.standing import pending, standing
from grader.records.store import Store


def rescore(store: Store, course: Course) -> int:
    """Records a new attempt for each standing or newer one that was judged under other rules than the course has: the
    same checks with new points. Runs no code. Returns how many there are. Raises StoreError."""
    attempts, decisions = store.attempts(), store.decisions()
    newest = {hand_in: attempt for hand_in, (_, attempt) in standing(attempts, decisions).items()}
    newest |= {after.hand_in: after for _, after in pending(attempts, decisions)}
    rules = {name: hash_of_rules(name, course) for name in {attempt.assignment for attempt in newest.values()}}
    folders: dict[str, list[tuple[Attempt, Result | None]]] = {}
    for attempt in newest.values():
        name = attempt.assignment
        if attempt.rules == rules[name] or not attempt.judged or (record := store.result(attempt)) is None:
            continue
        rescored = scored(name, record.assignments[name], course, record.environment.device,
                          earlier_shares(record).get(name))
        record = with_assignments(record, {name: rescored}, environment=record.environment.model_copy(
            update={"course": course.sha256}))
        head = scored_head(attempt, rescored).model_copy(update={"rules": rules[name], "of": attempt.id})
        folders.setdefault(attempt.slug, []).append((head, record))
    for made in folders.values():
        store.add(made)
    return sum(map(len, folders.values()))
