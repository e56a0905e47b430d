"""Points anew, after points or thresholds of the course have changed: from the checks and times on record."""

from __future__ import annotations

from grader.model.course import Course
from grader.model.result import Result, with_assignments
from grader.model.scoring import earlier_shares, scored
from grader.records.attempt import Attempt, hash_of_rules
from grader.records.keep import scored_head
from grader.records.standing import pending, standing
from grader.records.store import Store


def rescore(store: Store, course: Course) -> int:
    """Records an attempt beside each that stands, or is newer, was judged and has other rules than the course's, and
    returns how many: the same checks, with the points of now. No code is run. Raises StoreError."""
    attempts, decisions = store.attempts(), store.decisions()
    newest = {hand_in: one.attempt for hand_in, one in standing(attempts, decisions).items()}
    newest |= {after.hand_in: after for _, after in pending(attempts, decisions)}
    rules = {name: hash_of_rules(name, course) for name in {one.assignment for one in newest.values()}}
    folders: dict[str, list[tuple[Attempt, Result | None]]] = {}
    for one in newest.values():
        if one.rules == rules[one.assignment] or not one.judged or (record := store.result(one)) is None:
            continue
        found = scored(one.assignment, record.assignments[one.assignment], course, record.environment.device,
                       earlier_shares(record).get(one.assignment))
        record = with_assignments(record, {one.assignment: found}, environment=record.environment.model_copy(
            update={"course": course.sha256}))
        head = scored_head(one, found).model_copy(update={"rules": rules[one.assignment], "of": one.id})
        folders.setdefault(one.slug, []).append((head, record))
    for made in folders.values():
        store.add(made)
    return sum(map(len, folders.values()))
