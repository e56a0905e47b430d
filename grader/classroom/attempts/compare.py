"""A comparison of selected attempts with newer ones: whose grade would change, by how much, in which checks, and
why."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from grader.classroom.attempts.attempt import FACTS, Attempt
from grader.classroom.attempts.policy import counting_hand_ins
from grader.classroom.attempts.selected import pending, select_attempts
from grader.classroom.attempts.store import Store
from grader.course.late import LatePolicy
from grader.results.result import AssignmentResult, Environment, Result
from grader.results.text import plural

CHECKS = 4


@dataclass(frozen=True)
class Move:
    """A selected attempt and a newer one of the same hand-in. `counts`: of the student's hand-ins, this one counts.
    `checks` are the checks that differ, and `why` the causes, in words."""

    before: Attempt
    after: Attempt
    counts: bool
    checks: tuple[str, ...]
    why: tuple[str, ...]

    @property
    def moved(self) -> bool:
        return (self.before.score, self.before.verdict) != (self.after.score, self.after.verdict)

    @property
    def points(self) -> float:
        return round(self.after.score - self.before.score, 2)


def moves(store: Store, late: LatePolicy) -> list[Move]:
    """Return every selected attempt that has a newer one, the largest change first. Raises UserError."""
    attempts, decisions = store.attempts(), store.decisions()
    selected = list(select_attempts(attempts, decisions).values())
    counting = {hand_in.attempt.hand_in for hand_in in counting_hand_ins(selected, late).values()}
    moved = [_move(before, after, before.hand_in in counting, store.result(before), store.result(after))
             for before, after in pending(attempts, decisions)]
    return sorted(moved, key=lambda move: (-abs(move.points), move.before.slug, move.before.assignment))


def _move(before: Attempt, after: Attempt, counts: bool, then: Result | None, now: Result | None) -> Move:
    if then is None or now is None:
        return Move(before, after, counts, (), _why(before, after, None, None, False))
    name = before.assignment
    old, new = then.assignments[name], now.assignments[name]
    checks = _checks(old, new)
    alike = not checks and old.correctness.points == new.correctness.points
    timing = alike and old.performance.points != new.performance.points and before.rules == after.rules
    return Move(before, after, counts, checks, _why(before, after, then.environment, now.environment, timing))


def _checks(old: AssignmentResult, new: AssignmentResult) -> tuple[str, ...]:
    """Return the checks with another outcome, in words."""
    then = {check.id: check.outcome for check in old.correctness.checks}
    now = {check.id: check.outcome for check in new.correctness.checks}
    return tuple(f"{id_}: {then.get(id_, 'not there')} → {now.get(id_, 'not there')}".replace("_", " ")
                 for id_ in dict.fromkeys((*then, *now)) if then.get(id_) != now.get(id_))


def _why(
    before: Attempt, after: Attempt, then: Environment | None, now: Environment | None, timing: bool
) -> tuple[str, ...]:
    reasons = []
    if before.failed:
        reasons.append("infrastructure: the grader failed before")
    changed = [words for words, differs in (
        ("files of the assignment, version of the judge or limits", before.tests != after.tests),
        ("points or thresholds", before.rules != after.rules)) if differs]
    if changed:
        reasons.append(f"specification: other {' and '.join(changed)}")
    # In a grading on different GPUs, every attempt has the hash of the first GPU's environment; the record names the
    # real GPU.
    facts = [f"{name} {getattr(then, name)} → {getattr(now, name)}" for name in FACTS
             if then is not None and now is not None and getattr(then, name) != getattr(now, name)]
    if facts or before.environment != after.environment:
        reasons.append(f"environment: {', '.join(facts) or 'speed measured or not'}")
    if timing:
        reasons.append("timing only: every check ended as before")
    return tuple(reasons or ["inputs: nothing changed, but other inputs were drawn"])


def failures(store: Store) -> list[Attempt]:
    """Return the newest attempt of each hand-in that failed through the grader's fault after a grade that counts, which
    stays."""
    attempts = store.attempts()
    newest = {attempt.hand_in: attempt for attempt in attempts}
    return [newest[hand_in] for hand_in, attempt in select_attempts(attempts, store.decisions()).items()
            if newest[hand_in].failed and newest[hand_in].id > attempt.attempt.id]


def lines(moves: Sequence[Move], failed: Sequence[Attempt]) -> list[str]:
    """Return the comparison as lines for the terminal."""
    shown = []
    moved = [move for move in moves if move.moved]
    for move in moved:
        before, after = move.before, move.after
        verdicts = f", {before.verdict} → {after.verdict}" if before.verdict != after.verdict else ""
        which = "" if move.counts else " (a hand-in that does not count)"
        shown.append(f"{before.student} {before.assignment}{which}: {before.score:g} of {before.max_score:g} → "
                    f"{after.score:g} of {after.max_score:g} ({move.points:+g}){verdicts}; {'; '.join(move.why)}")
        shown += [f"    {text}" for text in move.checks[:CHECKS]]
        if len(move.checks) > CHECKS:
            shown.append(f"    and {len(move.checks) - CHECKS:,} more checks")
    shown += [f"{attempt.student} {attempt.assignment}: infrastructure: graded again and failed through no fault of "
              f"the student's; the grade stays{f' ({attempt.error})' if attempt.error else ''}" for attempt in failed]
    up, down = sum(move.points > 0 for move in moved), sum(move.points < 0 for move in moved)
    many = plural(len(moves), "newer attempt")
    shown.append(f"{many}: {len(moved):,} would move a grade, {up:,} up, {down:,} down")
    return shown
