"""From attempts to grades: a pure function of what stands, of roster and course. No clock, no file.

Grace days are spent where they save most, over all of a student's assignments. Whatever is chosen is then the best of
what is allowed, and so an extension, which allows more, can cost no student a point.
"""

from __future__ import annotations

import datetime
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from grader.intake.manifest import Manifest, Member
from grader.intake.people import Register
from grader.intake.source import RawSubmission
from grader.model.late import Late
from grader.model.roster import Student
from grader.records.attempt import Attempt
from grader.records.standing import Standing, latest, timed

DAY = 86_400


@dataclass(frozen=True)
class Step:
    """What was done, and the points after it; None where there are none."""

    text: str
    points: float | None


@dataclass(frozen=True)
class GradeLine:
    """A student's grade in an assignment. `points` is None for what is not handed in, not judged, or excused, whose
    `maximum` is 0; so is that of what nobody has a grade in yet. `open`: it was handed in, and not judged yet.
    `other_course`: it was graded under another course file than the newest grades of the class, with which it is not to
    be averaged."""

    assignment: str
    points: float | None
    maximum: float
    steps: tuple[Step, ...]
    grace_days: int = 0
    open: bool = False
    other_course: bool = False


@dataclass(frozen=True)
class Grade:
    """All of a student's lines. `late_days` are the grace days that there were."""

    student: str
    lines: tuple[GradeLine, ...]
    late_days: int

    @property
    def points(self) -> float:
        return round(sum(line.points or 0 for line in self.lines), 2)

    @property
    def maximum(self) -> float:
        return sum(line.maximum for line in self.lines)

    @property
    def grace_days(self) -> int:
        return sum(line.grace_days for line in self.lines)


@dataclass(frozen=True)
class _Option:
    """A hand-in that may count, with so many grace days. Points are hundredths, so that sums are exact."""

    attempt: Attempt
    days: int
    hundredths: int
    steps: tuple[Step, ...]


def as_in_roster(
    standing: Sequence[Standing], roster: Sequence[Student], manifest: Manifest | None
) -> list[Standing]:
    """The same attempts with the ids of now as their members': attempts have those of when they were graded, and a
    roster may have come since. The manifest's names and mails lead to the roster's people."""
    register = Register(roster, {})
    people: dict[tuple[str, str], Member] = {}
    for hand_in in manifest.submissions if manifest else ():
        people |= {(hand_in.folder, member.source_id.casefold()): member for member in hand_in.members}
        people |= {(hand_in.folder, member.id.casefold()): member for member in hand_in.members}
    now: dict[tuple[str, tuple[str, ...]], tuple[str, ...]] = {}
    for slug, ids in dict.fromkeys((one.attempt.slug, one.attempt.members) for one in standing):
        who = RawSubmission(slug, [people.get((slug, id_.casefold())) or Member(id=id_, source_id=id_) for id_ in ids])
        register.enter(who)
        now[slug, ids] = tuple(dict.fromkeys(member.id for member in who.members))
    return [one._replace(attempt=one.attempt.model_copy(
        update={"members": now[one.attempt.slug, one.attempt.members]})) for one in standing]


def class_grades(
    standing: Iterable[Standing], roster: Sequence[Student], late: Late, assignments: Mapping[str, float],
    books: Mapping[str, tuple[str, str]],
) -> list[Grade]:
    """The grades of everyone in the roster, then of others that handed in. A group's work counts for each member.

    `assignments` have the most points that each can give, `books` tests and rules of each one's newest grades.
    """
    work: dict[str, dict[str, list[Standing]]] = {}
    names = {student.id.casefold(): student.id for student in roster}
    for one in standing:
        for member in one.attempt.members:
            key = names.setdefault(member.casefold(), member)
            work.setdefault(key, {}).setdefault(one.attempt.assignment, []).append(one)
    days = {student.id: student.late_days for student in roster}
    return [grade(student, work.get(student, {}), days.get(student), late, assignments, books)
            for student in names.values()]


def grade(
    student: str, work: Mapping[str, Sequence[Standing]], late_days: int | None, late: Late,
    assignments: Mapping[str, float], books: Mapping[str, tuple[str, str]],
) -> Grade:
    """A student's grade. `work` are the standing hand-ins by assignment, `late_days` the roster's grace days."""
    budget = late.grace_days if late_days is None else late_days
    names = [*assignments, *(name for name in work if name not in assignments)]
    decided = {name: line for name in names
               if (line := _decided(student, name, work.get(name, ()), late, assignments.get(name, 0)))}
    options = {name: _options(student, name, work[name], late, budget) for name in names
               if name not in decided and name in work}
    chosen = _spend(options, budget)
    lines = []
    for name in names:
        if name in decided:
            lines.append(decided[name])
        elif (one := chosen.get(name)) is not None:
            lines.append(GradeLine(name, one.hundredths / 100, one.attempt.max_score, one.steps, one.days,
                              other_course=one.attempt.book != books.get(name, one.attempt.book)))
        elif name in work:
            maximum = max(one.attempt.max_score for one in work[name])
            lines.append(GradeLine(name, None, maximum, (Step("handed in, and not judged yet", None),), open=True))
        else:
            said = "nothing handed in, or not graded yet" if work else "nothing handed in"
            lines.append(GradeLine(name, None, assignments.get(name, 0) if name in books else 0, (Step(said, None),)))
    return Grade(student, tuple(lines), budget)


def _decided(student: str, name: str, work: Sequence[Standing], late: Late, most: float) -> GradeLine | None:
    """What a person has decided, if so. `most` are the course's points, where nothing was graded that says of how many.
    """
    maximum = max((one.attempt.max_score for one in work), default=most)
    for excused in late.excused:
        if (excused.student.casefold(), excused.assignment) == (student.casefold(), name):
            return GradeLine(name, None, 0, (Step(f"excused by {excused.by}: {excused.reason}", None),))
    for given in late.overrides:
        if (given.student.casefold(), given.assignment) == (student.casefold(), name):
            return GradeLine(name, given.points, maximum, (Step(f"given by {given.by}: {given.reason}", given.points),))
    return None


def _options(student: str, name: str, work: Sequence[Standing], late: Late, budget: int) -> list[_Option]:
    """The best that can be had with each number of grace days; where that is the same, of the hand-in made last."""
    judged = [one for one in (timed(work) if late.count == "best" else [latest(work)]) if one.attempt.judged]
    deadline = late.deadline(student, name)
    # What held no file is none that could have counted.
    many = sum(not one.attempt.empty for one in work)
    found: dict[int, _Option] = {}
    for one in sorted(judged, key=lambda one: one.first):
        seconds = _seconds_late(one.attempt, deadline)
        for days in range(min(budget, math.ceil(seconds / DAY)) + 1):
            option = _counted(one.attempt, many, deadline, seconds, days, late)
            if days not in found or option.hundredths >= found[days].hundredths:
                found[days] = option
    return list(found.values())


def _seconds_late(attempt: Attempt, deadline: datetime.datetime | None) -> float:
    instant = attempt.instant
    return 0 if deadline is None or instant is None else max(0.0, (instant - deadline).total_seconds())


def _counted(
    attempt: Attempt, many: int, deadline: datetime.datetime | None, seconds: float, days: int, late: Late
) -> _Option:
    points, maximum = attempt.score, attempt.max_score
    which = f", the {'last' if late.count == 'latest' else 'best'} of {many} hand-ins" if many > 1 else ""
    steps = [Step(f"{points:g} of {maximum:g} points, {attempt.verdict.replace('_', ' ')}{which}"
                  f" ({attempt.submitted_at or 'time of submission unknown'})", points)]
    if deadline is not None and attempt.submitted_at is None:
        steps.append(Step("in time as far as is known" + (
            "; its source marks it late and does not say since when" if attempt.late else ""), points))
    if deadline is not None and seconds:
        steps.append(Step(f"{_span(seconds)} after {late.words(deadline)}", points))
    left = max(0.0, seconds - days * DAY)
    if days:
        steps.append(Step(f"{days} grace {'day' if days == 1 else 'days'}: {_span(left)} late", points))
    if left:
        count = math.ceil(left / DAY) if late.by == "day" else left / DAY
        percent = min(late.most, late.percent * count)
        points *= 1 - percent / 100
        steps.append(Step(f"{percent:g} % off: {count:.4g} {'day' if count == 1 else 'days'} at {late.percent:g} % each"
                          + (f", at most {late.most:g} %" if percent < late.percent * count else ""), points))
        if points > (most := maximum * late.cap / 100):
            points = most
            steps.append(Step(f"late work gets at most {late.cap:g} % of {maximum:g}", points))
    return _Option(attempt, days, round(points * 100), tuple(steps))


def _spend(options: Mapping[str, Sequence[_Option]], budget: int) -> dict[str, _Option]:
    """Of each assignment the option that makes the sum of points largest, with at most `budget` grace days in all;
    fewer days where that is the same."""
    best: dict[int, tuple[int, tuple[tuple[str, _Option], ...]]] = {0: (0, ())}
    for name, given in options.items():
        if not given:
            continue
        after: dict[int, tuple[int, tuple[tuple[str, _Option], ...]]] = {}
        for spent, (total, chosen) in best.items():
            for option in given:
                days, sum_ = spent + option.days, total + option.hundredths
                if days <= budget and (days not in after or sum_ > after[days][0]):
                    after[days] = (sum_, (*chosen, (name, option)))
        best = after
    _, chosen = best[max(best, key=lambda days: (best[days][0], -days))]
    return dict(chosen)


def _span(seconds: float) -> str:
    """`1 day 2 h 3 min 4 s`, without what is nought."""
    whole = math.ceil(seconds)
    parts = ((whole // DAY, "day" if whole // DAY == 1 else "days"), (whole // 3600 % 24, "h"),
             (whole // 60 % 60, "min"), (whole % 60, "s"))
    return " ".join(f"{count} {unit}" for count, unit in parts if count) or "0 s"
