"""Recording of a grading's results as attempts, one for each assignment. The student's files are written afterwards."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from grader.classroom.attempts.attempt import Attempt
from grader.classroom.attempts.selected import SelectedAttempt
from grader.classroom.attempts.store import Store, StoreError
from grader.classroom.attempts.student_files import refresh
from grader.course.late import Late
from grader.course.scoring import EarlierShare, earlier_shares
from grader.results.result import AssignmentResult, Result, with_assignments


def record(
    store: Store, out: Path, late: Late, drafts: Mapping[str, Attempt], result: Result | None, log: str = "",
    error: str = "",
) -> list[str]:
    """Record the outcome of the attempts `drafts`, by assignment, and write the student's files. Return a line for each
    failure of the grader. Without a `result` the whole grading failed, and `error` says why."""
    student, slug = next((draft.student, draft.slug) for draft in drafts.values())
    if result is None:
        lines = [f"{student}: not graded: {error}"]
    else:
        lines = [f"{student}: {name}: {_why(a)}" for name, a in result.assignments.items() if a.ours]
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
    except StoreError as failed:
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


def _why(failed: AssignmentResult) -> str:
    """Describe what failed, including the message of a hidden case, which the assignment's own message leaves out."""
    hidden = [check.detail.message for check in failed.correctness.checks
              if check.hidden and check.detail and check.detail.kind == "infrastructure"]
    return " ".join([failed.message, *hidden[:1]])
