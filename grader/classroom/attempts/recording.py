"""Recording of a grading's results as attempts, one for each assignment, and of new points for recorded ones. The
student's files are written afterwards."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from grader.classroom.attempts.attempt import Attempt, hash_of_rules
from grader.classroom.attempts.selected import SelectedAttempt, pending, select_attempts
from grader.classroom.attempts.store import Store
from grader.classroom.attempts.student_files import refresh
from grader.course.course import Course
from grader.course.late import LatePolicy
from grader.course.scoring import EarlierShare, earlier_shares, scored
from grader.errors import UserError
from grader.results.result import AssignmentResult, Result, with_assignments


def record(
    store: Store, out: Path, late: LatePolicy, drafts: Mapping[str, Attempt], result: Result | None, log: str = "",
    error: str = "",
) -> list[str]:
    """Record the outcome of the attempts `drafts`, by assignment, and write the student's files. Return a line for each
    failure of the grader. Without a `result` the whole grading failed, and `error` says why."""
    student, slug = next((draft.student, draft.slug) for draft in drafts.values())
    if result is None:
        lines = [f"{student}: not graded: {error}"]
    else:
        lines = [f"{student}: {name}: {_describe_failure(a)}" for name, a in result.assignments.items() if a.ours]
    try:
        before = {attempt.assignment for attempt in store.attempts(slug) if not attempt.failed}
        # Record in the course's order, in which checks were made: the student's files list assignments in this order.
        order = [*(result.assignments if result else ()), *drafts]
        made = [_attempt(draft, result, error)
                for draft in sorted(drafts.values(), key=lambda draft: order.index(draft.assignment))]
        if any(head.failed and head.assignment in before for head, _ in made):
            lines = [f"{line} (the earlier result was kept)" for line in lines]
        store.add(made, log)
        lines += refresh(store, out, late, slug)
    except UserError as failed:
        lines.append(f"{student}: {failed}")
    except ValueError as failed:
        lines.append(f"{student}: results not written: {failed}")
    return lines


def _attempt(draft: Attempt, result: Result | None, error: str) -> tuple[Attempt, Result | None]:
    assignment = result.assignments.get(draft.assignment) if result else None
    if result is None or assignment is None:
        return draft.model_copy(update={"error": error}), None
    return scored_head(draft, assignment), with_assignments(result, {draft.assignment: assignment})


def scored_head(head: Attempt, assignment: AssignmentResult) -> Attempt:
    return head.model_copy(update={
        "verdict": assignment.verdict, "score": assignment.score, "max_score": assignment.max_score})


def earlier(
    store: Store, selected: Sequence[SelectedAttempt], drafts: Mapping[str, Attempt]
) -> dict[str, EarlierShare]:
    """Return, by assignment, the share of the speed points that the same file was given earlier."""
    shares: dict[str, EarlierShare] = {}
    for hand_in in selected:
        draft = drafts.get(hand_in.attempt.assignment)
        if draft is not None and (draft.slug, draft.submission) == (hand_in.attempt.slug, hand_in.attempt.submission):
            result = store.result(hand_in.attempt)
            shares |= earlier_shares(result) if result else {}
    return shares


def _describe_failure(failed: AssignmentResult) -> str:
    """Describe what failed, including the message of a hidden case, which the assignment's own message leaves out."""
    hidden = [check.detail.message for check in failed.correctness.checks
              if check.hidden and check.detail and check.detail.kind == "infrastructure"]
    return " ".join([failed.message, *hidden[:1]])


def rescore(store: Store, course: Course) -> int:
    """Record a new attempt, with the same checks and new points, for each selected or newer attempt that was judged
    under other rules than the course has, or whose repair the course now shows. Runs no code. Returns the number of new
    attempts. Raises UserError."""
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
    for folder in folders.values():
        store.add(folder)
    return sum(map(len, folders.values()))


def _shown(assignment: AssignmentResult, course: Course) -> AssignmentResult:
    """Return the assignment with its repair for the student to see, if the course shows repairs in full."""
    if assignment.repair is None or assignment.repair.level == course.hints.level or course.hints.level != "edit":
        return assignment
    return assignment.model_copy(update={"repair": assignment.repair.model_copy(update={"level": "edit"})})
