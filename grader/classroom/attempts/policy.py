"""Grades: a pure function of selected attempts, marks, roster and course. It uses no clock and no file.

Grace days are spent where they save most points, over all of a student's assignments. The choice is the best of all
that are allowed, so an extension, which allows more, never costs a student points. Points that a person gave beside the
automatic ones are added after that. An override replaces all of these, but its steps still list them.
"""

from __future__ import annotations

import datetime
import functools
import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from grader.classroom.attempts.attempt import Attempt
from grader.classroom.attempts.selected import SelectedAttempt, by_assignment, latest, timed
from grader.classroom.intake.manifest import Manifest, Member
from grader.classroom.intake.people import Register
from grader.course.late import IN_TIME, ExcusedAssignment, Lateness, LatePolicy, Override
from grader.course.roster import Student
from grader.results.mark import Mark, counting, open_requests
from grader.results.text import plural

# Added before taking the floor: rounds to the nearest hundredth, half a hundredth up, despite binary fractions.
HALF_UP = 0.5 + 1e-6


@dataclass(frozen=True)
class Step:
    """A step of the calculation, in words, and the points after it; None while there are no points."""

    text: str
    points: float | None


@dataclass(frozen=True)
class GradeLine:
    """A student's grade in an assignment. `points` is None if nothing was handed in, or it was not judged, or is
    excused. `max_score` is 0 if the assignment is excused, or if nobody has a grade in it yet. `open`: handed in, but
    not judged yet. `other_course`: graded under another course file than the newest grades of the class, so not
    comparable with these. `removed`: the course no longer has the assignment, so it gives no points. `attempt` is the
    attempt that counts, if any. `late`: handed in after the student's deadline; None if there is no deadline or no
    file, or if that is not known. `marks` are people's marks for the student."""

    assignment: str
    points: float | None
    max_score: float
    steps: tuple[Step, ...]
    grace_days: int = 0
    open: bool = False
    other_course: bool = False
    removed: bool = False
    attempt: Attempt | None = None
    late: bool | None = None
    marks: tuple[Mark, ...] = ()


@dataclass(frozen=True)
class Grade:
    """A student's grades in all assignments. `late_days` is the number of grace days that the student may spend."""

    student: str
    lines: tuple[GradeLine, ...]
    late_days: int

    def of(self, names: Collection[str]) -> Grade:
        """Return the grade reduced to these assignments."""
        return replace(self, lines=tuple(line for line in self.lines if line.assignment in names))

    @property
    def is_final(self) -> bool:
        """Return whether the points are final: there are some, and none are open."""
        return any(line.points is not None for line in self.lines) and not any(line.open for line in self.lines)

    @property
    def points(self) -> float:
        return round(sum(line.points or 0 for line in self.lines), 2)

    @property
    def max_score(self) -> float:
        return sum(line.max_score for line in self.lines)

    @property
    def late(self) -> bool | None:
        """Return whether a file that counts was late; None if the policy does not know."""
        known = [line.late for line in self.lines if line.late is not None]
        return any(known) if known else None

    @property
    def grace_days(self) -> int:
        return sum(line.grace_days for line in self.lines)


@dataclass(frozen=True)
class _Option:
    """A hand-in that may count, and the grace days spent on it. Points are whole hundredths, so that sums are exact."""

    attempt: Attempt
    days: int
    hundredths: int
    steps: tuple[Step, ...]


def as_in_roster(
    selected: Sequence[SelectedAttempt], roster: Sequence[Student], manifest: Manifest | None
) -> list[SelectedAttempt]:
    """Replace the ids of members in attempts by the roster's ids, since the roster may be newer than the attempts."""
    now = ids_in_roster(roster, manifest)
    return [hand_in._replace(attempt=hand_in.attempt.model_copy(update={"members": tuple(dict.fromkeys(
        now(hand_in.attempt.slug, id_) for id_ in hand_in.attempt.members))})) for hand_in in selected]


def marks_in_roster(marks: Iterable[Mark], roster: Sequence[Student], manifest: Manifest | None) -> list[Mark]:
    """Replace the ids of students in marks by the roster's ids, as `as_in_roster` does in attempts."""
    now = ids_in_roster(roster, manifest)
    return [mark.model_copy(update={"student": now(mark.slug, mark.student)}) if mark.student else mark
            for mark in marks]


def ids_in_roster(roster: Sequence[Student], manifest: Manifest | None) -> Callable[[str, str], str]:
    """Return a function from a folder ("" for any) and an id to the same person's id in the roster. It also recognises
    people by the names and emails in the manifest."""
    register = Register(roster, {})
    people: dict[tuple[str, str], Member] = {}
    for entry in manifest.submissions if manifest else ():
        for folder in ("", entry.folder):
            people |= {(folder, member.source_id.casefold()): member for member in entry.members}
            people |= {(folder, member.id.casefold()): member for member in entry.members}

    @functools.cache
    def now(folder: str, id_: str) -> str:
        member = people.get((folder, id_.casefold())) or Member(id=id_, source_id=id_)
        return (register.look_up(member) or member).id

    return now


def class_grades(
    selected: Iterable[SelectedAttempt], roster: Sequence[Student], late: LatePolicy, assignments: Mapping[str, float],
    books: Mapping[str, tuple[str, str]], marks: Sequence[Mark] = (),
) -> list[Grade]:
    """Return the grades of everyone in the roster, then of others who handed in. A group's work, and the `marks` on it,
    count for each member.

    `assignments` has the course's assignments, with the most points that each can give. `books` has the hashes of tests
    and rules of their newest grades. Work in any other assignment does not count.
    """
    work: dict[str, dict[str, list[SelectedAttempt]]] = {}
    members: dict[str, dict[str, None]] = {}
    names = {student.id.casefold(): student.id for student in roster}
    for hand_in in selected:
        members.setdefault(hand_in.attempt.slug, {}).update(dict.fromkeys(hand_in.attempt.members))
        for member in hand_in.attempt.members:
            key = names.setdefault(member.casefold(), member)
            work.setdefault(key, {}).setdefault(hand_in.attempt.assignment, []).append(hand_in)
    given: dict[str, list[Mark]] = {}
    for mark in counting(marks):
        for member in [mark.student] if mark.student else members.get(mark.slug, ()):
            given.setdefault(member.casefold(), []).append(mark)
    # The maximum is the same for all: an assignment counts once anybody has a grade in it, even from a person alone.
    begun = {*books, *(override.assignment for override in late.overrides if override.student.casefold() in names)}
    begun |= {mark.assignment for key, student in names.items() for mark in given.get(key, ())
              if mark.points and mark.assignment not in work.get(student, {})}
    most = {name: points if name in begun else 0 for name, points in assignments.items()}
    days = {student.id: student.late_days for student in roster}
    return [grade(student, work.get(student, {}), days.get(student), late, most, books, given.get(key, ()))
            for key, student in names.items()]


def counting_hand_ins(selected: Sequence[SelectedAttempt], late: LatePolicy) -> dict[tuple[str, str], SelectedAttempt]:
    """Return the hand-in that counts in each folder and assignment, judged or not. A group's members have one report:
    where different hand-ins count for them, it shows that of the first member."""
    groups = by_assignment(selected)
    shown = {key: _latest(hand_ins, late) for key, hand_ins in groups.items()}
    if late.count == "best":
        by_id = {hand_in.attempt.id: hand_in for hand_in in selected}
        for class_grade in reversed(class_grades(selected, (), late, {name: 0 for _, name in groups}, {})):
            shown |= {(line.attempt.slug, line.assignment): by_id[line.attempt.id]
                      for line in class_grade.lines if line.attempt is not None}
    return shown


def _latest(hand_ins: Sequence[SelectedAttempt], late: LatePolicy) -> SelectedAttempt:
    return latest(hand_ins, chosen=late.count == "chosen")


def grade(
    student: str, work: Mapping[str, Sequence[SelectedAttempt]], late_days: int | None, late: LatePolicy,
    assignments: Mapping[str, float], books: Mapping[str, tuple[str, str]], marks: Sequence[Mark] = (),
) -> Grade:
    """Return a student's grade. `work` are the selected attempts by assignment, `late_days` are the roster's grace
    days, and `marks` are the marks that count for the student. `assignments` has the most points that each can give, 0
    where nobody has a grade yet."""
    budget = late.grace_days if late_days is None else late_days
    decided = {(given.student.casefold(), given.assignment): given for given in (*late.excused, *late.overrides)}
    final = {name: decided[student.casefold(), name] for name in assignments if (student.casefold(), name) in decided}
    options = {name: _options(student, name, work[name], late, 0 if name in final else budget)
               for name in assignments if name in work}
    # No grace days are spent on an assignment that a person decided.
    chosen = _spend({name: given for name, given in options.items() if name not in final}, budget)
    chosen |= _spend({name: given for name, given in options.items() if name in final}, 0)
    lines = []
    for name, most in assignments.items():
        if (option := chosen.get(name)) is not None:
            attempt = option.attempt
            line = GradeLine(name, option.hundredths / 100, attempt.max_score, option.steps, option.days,
                             other_course=attempt.book != books.get(name, attempt.book), attempt=attempt,
                             late=_late(attempt, late.deadline(student, name)))
        elif name in work:
            of = max(hand_in.attempt.max_score for hand_in in work[name])
            line = GradeLine(name, None, of, (Step("handed in, and not judged yet", None),), open=True,
                             late=_late(_latest(work[name], late).attempt, late.deadline(student, name)))
        else:
            text = "nothing handed in, or not graded yet" if work else "nothing handed in"
            line = GradeLine(name, None, most, (Step(text, None),))
        line = _marked(line, [mark for mark in marks if mark.assignment == name])
        lines.append(_decided(line, final[name]) if name in final else line)
    lines += [_removed(name, _latest(work[name], late).attempt) for name in work if name not in assignments]
    return Grade(student, tuple(lines), budget)


def _marked(line: GradeLine, marks: Sequence[Mark]) -> GradeLine:
    """Return the line with the points that people gave. If nothing was handed in, these are its points."""
    points, steps = line.points, list(line.steps)
    waiting = open_requests(marks)
    for mark in marks:
        if mark.points and not line.open:
            points = round((points or 0) + mark.points, 2)
        steps.append(Step(mark.said + "; not answered yet" * (mark in waiting), points))
    if points is not None and points < 0:
        points = 0
        steps.append(Step("not less than 0", points))
    return replace(line, points=points, steps=tuple(steps), marks=tuple(marks))


def _decided(line: GradeLine, given: ExcusedAssignment) -> GradeLine:
    """Return the line as a person decided it. Its steps still list the points that the decision replaces."""
    hidden = "" if line.points is None else f", in place of {line.points:.6g}"
    if isinstance(given, Override):
        last = Step(f"given by {given.by}{hidden}: {given.reason}", given.points)
        return GradeLine(line.assignment, given.points, line.max_score, (*line.steps, last), late=line.late,
                         marks=line.marks)
    last = Step(f"excused by {given.by}{hidden}: {given.reason}", None)
    return GradeLine(line.assignment, None, 0, (*line.steps, last), marks=line.marks)


def _removed(name: str, attempt: Attempt) -> GradeLine:
    earned = f"{attempt.score:g} of {attempt.max_score:g} points" if attempt.judged else "work"
    return GradeLine(name, None, 0, (Step(f"no assignment of the course any more: {earned} not counted", None),),
                     removed=True)


def _options(student: str, name: str, work: Sequence[SelectedAttempt], late: LatePolicy, budget: int) -> list[_Option]:
    """Return the best option for each number of grace days; among equal ones, that of the latest hand-in."""
    eligible = timed(work) if late.count == "best" else [_latest(work, late)]
    judged = [hand_in for hand_in in eligible if hand_in.attempt.judged]
    deadline = late.deadline(student, name)
    # Empty hand-ins are not counted, since they could not give points.
    many = sum(not hand_in.attempt.empty for hand_in in work)
    best_by_days: dict[int, _Option] = {}
    for hand_in in sorted(judged, key=lambda hand_in: hand_in.first):
        word = "best" if late.count == "best" else "chosen" if late.count == "chosen" and hand_in.chosen else "last"
        which = f", the {word} of {many} hand-ins" * (many > 1)
        instant = hand_in.attempt.instant
        after = IN_TIME if deadline is None or instant is None else late.lateness(instant, deadline)
        for days in range(min(budget, math.ceil(after.in_days)) + 1):
            option = _counted(hand_in.attempt, which, deadline, after, days, late)
            if days not in best_by_days or option.hundredths >= best_by_days[days].hundredths:
                best_by_days[days] = option
    return list(best_by_days.values())


def _late(attempt: Attempt, deadline: datetime.datetime | None) -> bool | None:
    if deadline is None or attempt.empty:
        return None
    return attempt.late if attempt.instant is None else attempt.instant > deadline


def _counted(
    attempt: Attempt, which: str, deadline: datetime.datetime | None, after: Lateness, days: int, late: LatePolicy
) -> _Option:
    points, max_score = attempt.score, attempt.max_score
    steps = [Step(f"{points:g} of {max_score:g} points, {attempt.verdict.replace('_', ' ')}{which}"
                  f" ({attempt.submitted_at or 'time of submission unknown'})", points)]
    if deadline is not None and attempt.submitted_at is None:
        steps.append(Step("no time of submission is known, so it counts as in time" + (
            "; its source marks it late, and does not say by how much" if attempt.late else ""), points))
    if deadline is not None and after.in_days:
        steps.append(Step(f"{_span(after)} after {late.words(deadline)}", points))
    left = after.less(days)
    if days:
        steps.append(Step(f"{plural(days, 'grace day')}: {_span(left)} late", points))
    if left.in_days:
        count = math.ceil(left.in_days) if late.by == "day" else left.in_days
        percent = min(late.most, late.percent * count)
        points *= 1 - percent / 100
        steps.append(Step(f"{percent:g} % off: {count:.4g} {'day' if count == 1 else 'days'} at {late.percent:g} % each"
                          + (f", at most {late.most:g} %" if percent < late.percent * count else ""), points))
        if points > (most := max_score * late.cap / 100):
            points = most
            steps.append(Step(f"late work gets at most {late.cap:g} % of {max_score:g}", points))
    return _Option(attempt, days, math.floor(points * 100 + HALF_UP), tuple(steps))


def _spend(options: Mapping[str, Sequence[_Option]], budget: int) -> dict[str, _Option]:
    """Choose one option for each assignment, so that the sum of points is largest for at most `budget` grace days in
    all. If sums are equal, take the choice with the fewest days."""
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


def _span(late: Lateness) -> str:
    """Return a duration such as `1 day 2 h 3 min 4 s`, without parts that are zero."""
    whole = math.ceil(late.seconds)
    parts = ((late.days, "day" if late.days == 1 else "days"), (whole // 3600, "h"), (whole // 60 % 60, "min"),
             (whole % 60, "s"))
    return " ".join(f"{count} {unit}" for count, unit in parts if count) or "0 s"
