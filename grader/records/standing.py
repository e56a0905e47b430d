"""Which attempt of a hand-in stands, and which hand-in counts: functions of attempts and decisions, stored nowhere."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from grader.records.attempt import Attempt, HandIn
from grader.records.store import Decision


class Standing(NamedTuple):
    """A hand-in's standing attempt, and the number of its first one, which orders hand-ins."""

    first: int
    attempt: Attempt


def standing(attempts: Sequence[Attempt], decisions: Sequence[Decision] = ()) -> dict[HandIn, Standing]:
    """The standing attempt of every hand-in, in the order of recording: what was applied last and is not undone, or
    else the first that judged it. Where none could, the first that only a GPU could, or that failed."""
    found: dict[HandIn, Standing] = {}
    for one in attempts:
        before = found.get(one.hand_in)
        if before is None or _rank(one) < _rank(before.attempt):
            found[one.hand_in] = Standing(before.first if before else one.id, one)
    numbered = {one.id: one for one in attempts}
    undone = {decision.undoes for decision in decisions}
    for decision in decisions:
        if decision.attempt in numbered and decision.batch not in undone:
            applied = numbered[decision.attempt]
            found[applied.hand_in] = Standing(found[applied.hand_in].first, applied)
    return found


def _rank(attempt: Attempt) -> int:
    return 0 if attempt.judged else 1 if not attempt.failed else 2


def pending(attempts: Sequence[Attempt], decisions: Sequence[Decision]) -> list[tuple[Attempt, Attempt]]:
    """Standing attempts with the newest one beside them that judged the same hand-in later."""
    newest = {one.hand_in: one for one in attempts if one.judged}
    return [(before, after) for hand_in, (_, before) in standing(attempts, decisions).items()
            if (after := newest.get(hand_in)) is not None and after.id > before.id]


def to_undo(decisions: Sequence[Decision]) -> int | None:
    """The last batch that was applied and is not undone."""
    undone = {decision.undoes for decision in decisions}
    return max((d.batch for d in decisions if d.undoes is None and d.batch not in undone), default=None)


def by_assignment(found: Mapping[HandIn, Standing]) -> dict[tuple[str, str], list[Standing]]:
    """The hand-ins of each student's folder and assignment."""
    groups: dict[tuple[str, str], list[Standing]] = {}
    for hand_in, one in found.items():
        groups.setdefault((hand_in.slug, hand_in.assignment), []).append(one)
    return groups


def latest(hand_ins: Sequence[Standing]) -> Standing:
    """The one of a student's hand-ins for an assignment that was made last, as its source says; as they were recorded,
    where it does not. Of a file's times the one recorded last counts: an earlier one was corrected, or the file was
    handed in again. A hand-in that nothing but a failure of ours is known of displaces none, nor does an empty one."""
    hand_ins = ([one for one in hand_ins if not one.attempt.failed and not one.attempt.empty]
                or [one for one in hand_ins if not one.attempt.failed] or hand_ins)
    settled = list({one.attempt.submission: one for one in sorted(hand_ins, key=_recorded)}.values())
    instants = [one.attempt.instant for one in settled]
    if None in instants:
        return max(settled, key=_recorded)
    return max(zip(instants, map(_recorded, settled), settled, strict=True))[2]


def newest(hand_ins: Iterable[Standing]) -> Standing:
    """The one of a student's hand-ins for an assignment that was recorded last, whatever counts."""
    return max(hand_ins, key=_recorded)


def timed(hand_ins: Sequence[Standing]) -> list[Standing]:
    """Those hand-ins, without a file's unknown time where a time of it is known."""
    known = {one.attempt.submission for one in hand_ins if one.attempt.submitted_at is not None}
    return [one for one in hand_ins if one.attempt.submitted_at is not None or one.attempt.submission not in known]


def _recorded(one: Standing) -> int:
    return one.first


def newest_books(attempts: Iterable[Attempt]) -> dict[str, tuple[str, str]]:
    """Tests and rules of each assignment's newest attempt: others are not to be compared with it, nor averaged."""
    return {one.assignment: one.book for one in sorted(attempts, key=lambda one: one.id)}
