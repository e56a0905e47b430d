"""What a grading gives becomes attempts: one for each assignment, recorded before a student's files are drawn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from grader.model.result import AssignmentResult, Result, with_assignments
from grader.model.scoring import Earlier, earlier_shares
from grader.records.attempt import Attempt
from grader.records.draw import refresh
from grader.records.standing import Standing
from grader.records.store import Store, StoreError


def keep(
    store: Store, out: Path, drafts: Mapping[str, Attempt], result: Result | None, log: str = "", error: str = ""
) -> list[str]:
    """Records what became of `drafts`, by assignment, and draws the student's files. Returns one line for each failure
    of ours. Without a `result` the grading as a whole failed, as `error` says."""
    student, slug = next((one.student, one.slug) for one in drafts.values())
    if result is None:
        lines = [f"{student}: not graded: {error}"]
    else:
        lines = [f"{student}: {name}: {_why(a)}" for name, a in result.assignments.items()
                 if a.ours]
    try:
        before = {one.assignment for one in store.attempts(slug) if not one.failed}
        # In the order in which they were judged, which is that of the course: the student's files keep it.
        order = [*(result.assignments if result else ()), *drafts]
        made = [_attempt(draft, result, error)
                for draft in sorted(drafts.values(), key=lambda one: order.index(one.assignment))]
        if any(head.failed and head.assignment in before for head, _ in made):
            lines = [f"{line} (the earlier result was kept)" for line in lines]
        store.add(made, log)
        lines += refresh(store, out, slug)
    except StoreError as failed:
        lines.append(f"{student}: {failed}")
    except ValueError as failed:
        lines.append(f"{student}: results not written: {failed}")
    return lines


def _attempt(draft: Attempt, result: Result | None, error: str) -> tuple[Attempt, Result | None]:
    found = result.assignments.get(draft.assignment) if result else None
    if result is None or found is None:
        return draft.model_copy(update={"error": error}), None
    head = scored_head(draft, found)
    if found.source_sha256:
        # As it was when it was graded.
        head = head.model_copy(update={"submission": found.source_sha256})
    return head, with_assignments(result, {draft.assignment: found})


def scored_head(head: Attempt, found: AssignmentResult) -> Attempt:
    return head.model_copy(update={
        "verdict": found.verdict, "score": found.score, "max_score": found.max_score})


def earlier(store: Store, standing: Sequence[Standing], drafts: Mapping[str, Attempt]) -> dict[str, Earlier]:
    """The shares of the points for speed that the same files were given before, by assignment."""
    found: dict[str, Earlier] = {}
    for one in standing:
        draft = drafts.get(one.attempt.assignment)
        if draft is not None and (draft.slug, draft.submission) == (one.attempt.slug, one.attempt.submission):
            result = store.result(one.attempt)
            found |= earlier_shares(result) if result else {}
    return found


def _why(failed: AssignmentResult) -> str:
    """What failed of ours; a message for students does not tell it of hidden cases."""
    hidden = [check.detail.message for check in failed.correctness.checks
              if check.hidden and check.detail and check.detail.kind == "infrastructure"]
    return " ".join([failed.message, *hidden[:1]])
