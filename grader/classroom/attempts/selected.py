"""Selected attempts: which attempt of a hand-in is selected, and which hand-in counts, follows from attempts and
decisions, and is not stored."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from grader.classroom.attempts.attempt import Attempt, HandIn
from grader.classroom.attempts.store import CHOICE, Decision


class SelectedAttempt(NamedTuple):
    """A hand-in's selected attempt, and the id of its first attempt, which gives the order of hand-ins. `chosen`: the
    student chose this hand-in for its assignment."""

    first: int
    attempt: Attempt
    chosen: bool = False


def select_attempts(attempts: Sequence[Attempt], decisions: Sequence[Decision] = ()) -> dict[HandIn, SelectedAttempt]:
    """Return the selected attempt of every hand-in, in the order of recording. It is the attempt that was applied last
    and not undone; or else the first that judged the hand-in; or else the first that needs a GPU; or else the first
    that failed."""
    selected: dict[HandIn, SelectedAttempt] = {}
    for attempt in attempts:
        before = selected.get(attempt.hand_in)
        if before is None or _rank(attempt) < _rank(before.attempt):
            selected[attempt.hand_in] = SelectedAttempt(before.first if before else attempt.id, attempt)
    numbered = {attempt.id: attempt for attempt in attempts}
    undone = {decision.undoes for decision in decisions}
    chosen: dict[tuple[str, str], HandIn] = {}
    for decision in decisions:
        if decision.attempt in numbered and decision.batch not in undone:
            applied = numbered[decision.attempt]
            if decision.batch == CHOICE:
                chosen[applied.slug, applied.assignment] = applied.hand_in
            else:
                selected[applied.hand_in] = SelectedAttempt(selected[applied.hand_in].first, applied)
    return selected | {hand_in: selected[hand_in]._replace(chosen=True) for hand_in in chosen.values()}


def _rank(attempt: Attempt) -> int:
    return 0 if attempt.judged else 1 if not attempt.failed else 2


def pending(attempts: Sequence[Attempt], decisions: Sequence[Decision]) -> list[tuple[Attempt, Attempt]]:
    """Return each selected attempt whose hand-in was judged again later, together with its newest judged attempt."""
    newest = {attempt.hand_in: attempt for attempt in attempts if attempt.judged}
    return [(before, after) for hand_in, (_, before, _) in select_attempts(attempts, decisions).items()
            if (after := newest.get(hand_in)) is not None and after.id > before.id]


def to_undo(decisions: Sequence[Decision]) -> int | None:
    """Return the number of the last batch of decisions that was applied and is not undone."""
    undone = {decision.undoes for decision in decisions}
    return max((d.batch for d in decisions if d.undoes is None and d.batch not in {*undone, CHOICE}), default=None)


def by_assignment(hand_ins: Iterable[SelectedAttempt]) -> dict[tuple[str, str], list[SelectedAttempt]]:
    """Return the hand-ins by student's folder and assignment."""
    groups: dict[tuple[str, str], list[SelectedAttempt]] = {}
    for hand_in in hand_ins:
        groups.setdefault((hand_in.attempt.slug, hand_in.attempt.assignment), []).append(hand_in)
    return groups


def latest(hand_ins: Sequence[SelectedAttempt], *, chosen: bool) -> SelectedAttempt:
    """Return the hand-in that a student chose, if there is one and it counts if `chosen`; or else the one that the
    student made last for an assignment: by the times that the source gives, or in the order of recording if a time is
    missing. If a file has several times, the one recorded last counts: it corrects the others, or the file was handed
    in again. Empty hand-ins, and those on which the grader failed, count only if there is no other."""
    if chosen and (preferred := next((hand_in for hand_in in hand_ins if hand_in.chosen), None)):
        return preferred
    hand_ins = ([hand_in for hand_in in hand_ins if not hand_in.attempt.failed and not hand_in.attempt.empty]
                or [hand_in for hand_in in hand_ins if not hand_in.attempt.failed] or hand_ins)
    newest = list({hand_in.attempt.submission: hand_in for hand_in in sorted(hand_ins, key=_recorded)}.values())
    instants = [hand_in.attempt.instant for hand_in in newest]
    if None in instants:
        return max(newest, key=_recorded)
    return max(zip(instants, map(_recorded, newest), newest, strict=True))[2]


def newest(hand_ins: Iterable[SelectedAttempt]) -> SelectedAttempt:
    """Return the hand-in that was recorded last."""
    return max(hand_ins, key=_recorded)


def timed(hand_ins: Sequence[SelectedAttempt]) -> list[SelectedAttempt]:
    """Return the hand-ins. A hand-in without a time is left out if another one of the same file has a time."""
    known = {hand_in.attempt.submission for hand_in in hand_ins if hand_in.attempt.submitted_at is not None}
    return [hand_in for hand_in in hand_ins
            if hand_in.attempt.submitted_at is not None or hand_in.attempt.submission not in known]


def _recorded(hand_in: SelectedAttempt) -> int:
    return hand_in.first


def newest_books(attempts: Iterable[Attempt]) -> dict[str, tuple[str, str]]:
    """Return the hashes of tests and rules of each assignment's newest attempt. Attempts with other hashes are not
    comparable with it."""
    return {attempt.assignment: attempt.book for attempt in sorted(attempts, key=lambda attempt: attempt.id)}
