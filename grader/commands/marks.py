"""The commands for marks that people give: mark, request, answer, requests. Marks are added, never changed."""

from __future__ import annotations

import getpass
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from grader.classroom.attempts.policy import as_in_roster, ids_in_roster
from grader.classroom.attempts.selected import SelectedAttempt, select_attempts
from grader.classroom.attempts.store import Store
from grader.classroom.intake.manifest import read_manifest
from grader.commands.attempts import WHO, CourseFile, Out, conclude, course_of, drawn_again, hold_store
from grader.console import COURSE, TAS, reporting, say, usage
from grader.course.course import Course
from grader.course.roster import read_roster
from grader.course.sheet import read_sheet
from grader.results.mark import Mark, counting, open_requests
from grader.results.text import clean, compose

COLUMNS = ("student", "assignment", "points", "comment", "by")
# Other headings for the same column.
OTHER_WORDS = {"who": "by"}
COMMENT_BYTES = 4_000

Student = Annotated[str, typer.Argument(
    help="A folder of results (for everybody in a group), an id, or FOLDER/ID.")]
Assignment = Annotated[str, typer.Argument(help="The assignment, e.g. silu.")]
Points = Annotated[float | None, typer.Option(help="Points beside the automatic ones; less than 0 takes some off.")]
By = Annotated[str, typer.Option(help="Who says so. Default: your name on this machine.")]
Roster = Annotated[Path | None, typer.Option(help="A roster, whose ids may be newer than those of the results.")]
Intake = Annotated[Path | None, typer.Option(help="The folder that kernelmark intake wrote, for its names.")]


def add_to(app: typer.Typer) -> None:
    """Add these commands to the command line."""
    for command in (mark, request, answer, requests):
        app.command(rich_help_panel=TAS)(command)


def mark(
    student: Student = "", assignment: Assignment = "", points: Points = None,
    comment: Annotated[str, typer.Option(help="A comment, which the student reads.")] = "", by: By = "",
    csv: Annotated[Path | None, typer.Option(help=f"Many at once: a table with columns {', '.join(COLUMNS)}.")] = None,
    out: Out = Path("results"), course: CourseFile = COURSE, roster: Roster = None, intake: Intake = None,
) -> None:
    """Give points and a comment beside the automatic ones: to one student, or to many by a table.

    They count after late work is considered, stay when the work is graded or scored again, and are in the student's
    report. A newer mark takes the place of the earlier one of the same student and assignment; 0 points without a
    comment take it back.
    """
    if csv is not None and (student or assignment or points is not None or comment):
        usage(f"--csv {csv}: has students, points and comments; pass it alone")
    if csv is None and not (student and assignment):
        usage("mark: no student and assignment; give both, as in: kernelmark mark ada silu --points 5, or --csv")
    if csv is None and points is None and not comment:
        usage("mark: neither --points nor --comment; give one of them; --points 0 takes an earlier mark back")
    with hold_store(out) as store:
        markable = _markable(store, out, rules := course_of(course), roster, intake)
        typed = Row(compose(student), assignment, points, comment, by)
        rows = list(_rows(csv, by)) if csv is not None else [("", typed)]
        wanted = [markable.mark(where, row) for where, row in rows]
        now = {_slot(given): given for given in counting(store.marks()) if given.kind == "mark"}
        slots: set[tuple[str, str, str]] = set()
        for given, (where, _) in zip(wanted, rows, strict=True):
            if _slot(given) in slots:
                usage(f"{where}: this student and assignment have an earlier row, too; list each once")
            slots.add(_slot(given))
        fresh = [given for given in wanted if not _same(given, now.get(_slot(given)))]
        store.mark(fresh)
        trouble = drawn_again(store, out, rules)
    instead = [now[_slot(given)] for given in fresh if _slot(given) in now]
    if csv is None:
        what = given.said if (given := wanted[0]).points or given.comment else "taken back"
        lines = [f"{student}, {assignment}{markable.whom(given)}: {what if fresh else 'as it was'}"]
        lines += [f"in place of: {given.said}" for given in instead]
    else:
        lines = [f"{csv}: {len(fresh)} marks recorded, {len(instead)} of them in place of earlier ones; "
                 f"{len(wanted) - len(fresh)} as they were"]
    conclude(lines, trouble)


def request(
    student: Student, assignment: Assignment, text: Annotated[str, typer.Argument(help="What is asked, and why.")],
    by: By = "", out: Out = Path("results"), course: CourseFile = COURSE, roster: Roster = None,
    intake: Intake = None,
) -> None:
    """Record a request for regrading, a student's own or on a student's behalf. `kernelmark answer` answers it.

    A request by a member of a group is about the group's work, and so is its answer.
    """
    with hold_store(out) as store:
        markable = _markable(store, out, rules := course_of(course), roster, intake)
        request = markable.mark("", Row(compose(student), assignment, None, text, by))
        request = request.model_copy(update={"kind": "request", "student": "" if request.slug else request.student})
        if not request.comment:
            usage("request: nothing is asked; say what to check again, and why")
        (request,) = store.mark([request])
        trouble = drawn_again(store, out, rules)
    conclude([f"Request {request.id} is recorded. kernelmark answer {request.id} \"…\" --points … answers it"], trouble)


def answer(
    number: Annotated[int, typer.Argument(help="The request's number.")],
    text: Annotated[str, typer.Argument(help="The answer, which the student reads.")],
    points: Points = None, by: By = "", out: Out = Path("results"), course: CourseFile = COURSE,
) -> None:
    """Answer a request for regrading, with points or without. Another answer takes the place of the first."""
    rules = course_of(course)
    with hold_store(out) as store:
        marks = counting(store.marks())
        request = next((mark for mark in marks if mark.id == number and mark.kind == "request"), None)
        earlier = [mark for mark in marks if mark.of == number]
        if request is None:
            usage(f"{number}: no such request in {out}; kernelmark requests --all lists them")
        said = Mark(kind="answer", of=number, slug=request.slug, student=request.student, assignment=request.assignment,
                    points=_most("", points or 0, request.assignment, rules), comment=_text(text), by=_by(by))
        if not said.comment:
            usage("answer: no text; say what came of it")
        store.mark([said])
        trouble = drawn_again(store, out, rules)
    conclude([f"{request.slug or request.student}, {request.assignment}: {said.said}",
          *(f"in place of: {mark.said}" for mark in earlier)], trouble)


def requests(
    out: Out = Path("results"),
    all_: Annotated[bool, typer.Option("--all", help="Also list those that have an answer.")] = False,
) -> None:
    """List the requests for regrading that have no answer yet."""
    with reporting(out), Store.existing(out) as store:
        marks = counting(store.marks())
    waiting = open_requests(marks)
    shown = [mark for mark in marks if mark.kind != "mark"] if all_ else waiting
    for mark in shown:
        head = f"{mark.id}: {mark.slug or mark.student}, {mark.assignment}: " if mark.kind == "request" else "   "
        say(clean(f"{head}{mark.said}", 1000))
    say(f"{len(waiting)} without an answer" if waiting else "No request is without an answer")


@dataclass(frozen=True)
class Row:
    """A mark as it was typed."""

    student: str
    assignment: str
    points: float | None
    comment: str
    by: str


@dataclass(frozen=True)
class _MarkTargets:
    """The students, folders and assignments that marks may be about. `members` has each folder's members, and `alone`
    the only member of a folder of one person. `earlier` has, for a person and an assignment, the folder and the student
    of the present mark: somebody who handed in nothing may have a folder by now, and another id. `now` turns an id in a
    folder into the roster's id."""

    out: Path
    course: Course
    folders: Mapping[str, str]
    ids: Mapping[str, Sequence[SelectedAttempt]]
    roster: Mapping[str, str]
    assignments: Sequence[str]
    members: Mapping[str, Sequence[str]]
    alone: Mapping[str, str]
    earlier: Mapping[tuple[str, str], tuple[str, str]]
    now: Callable[[str, str], str]

    def mark(self, where: str, row: Row) -> Mark:
        """Return the mark that a row stands for. Ends the command if the row is not valid; `where` is the row's place
        in a table."""
        before = f"{where}: " if where else ""
        if row.assignment not in self.assignments:
            usage(f"{before}assignment {row.assignment!r}: not of this course; choose from "
                  f"{', '.join(self.assignments)}")
        slug, student = self._owner(before, row)
        member = (self.now(slug, student) if student else self.alone.get(slug, "")).casefold()
        slug, student = self.earlier.get((member, row.assignment), (slug, student))
        return Mark(slug=slug, student=student, assignment=row.assignment, comment=_text(row.comment), by=_by(row.by),
                    points=_most(before, row.points or 0, row.assignment, self.course))

    def whom(self, mark: Mark) -> str:
        """Return words that name the group, if the mark is for all of it, else "". Without them a user might expect a
        mark for one student: an id may also be a folder's name."""
        members = self.members.get(mark.slug, ())
        return f", for everybody in the group ({', '.join(members)})" if len(members) > 1 and not mark.student else ""

    def _owner(self, before: str, row: Row) -> tuple[str, str]:
        """Return the folder that a row is about, and the member whom it is for, "" for all members."""
        key = row.student.casefold()
        if key in self.folders:
            return self.folders[key], ""
        folder, _, member = key.rpartition("/")
        slug = self.folders.get(folder)
        if slug and any(hand_in.attempt.slug == slug for hand_in in self.ids.get(member, ())):
            return slug, "" if slug in self.alone else row.student.rpartition("/")[2]
        if hand_ins := self.ids.get(key):
            # A student may be in several folders: alone and in a group.
            attempts = [hand_in.attempt for hand_in in hand_ins]
            of = next((attempt for attempt in attempts if attempt.assignment == row.assignment), attempts[0])
            return of.slug, "" if len(of.members) == 1 else row.student
        return ("", self.roster[key]) if key in self.roster else usage(
            f"{before}student {row.student!r}: nobody in {self.out}; {WHO}, or pass --roster")


def _markable(store: Store, out: Path, course: Course, roster: Path | None, intake: Path | None) -> _MarkTargets:
    people, manifest = read_roster(roster) if roster else [], read_manifest(intake) if intake else None
    before = list(select_attempts(store.attempts(), store.decisions()).values())
    now, renamed = as_in_roster(before, people, manifest), ids_in_roster(people, manifest)
    ids: dict[str, list[SelectedAttempt]] = {}
    for then, hand_in in zip(before, now, strict=True):
        for member in dict.fromkeys(map(str.casefold, (*then.attempt.members, *hand_in.attempt.members))):
            ids.setdefault(member, []).append(hand_in)
    names = [*(course.assignments or ()), *(hand_in.attempt.assignment for hand_in in now)]
    members: dict[str, list[str]] = {}
    for attempt in (hand_in.attempt for hand_in in now):
        members[attempt.slug] = list(dict.fromkeys([*members.get(attempt.slug, ()), *attempt.members]))
    alone = {slug: owners[0] for slug, owners in members.items() if len(owners) == 1}
    owned = [(renamed(mark.slug, mark.student) if mark.student else alone.get(mark.slug, ""), mark)
             for mark in counting(store.marks()) if mark.kind == "mark"]
    earlier = {(who.casefold(), mark.assignment): (mark.slug, mark.student) for who, mark in owned if who}
    return _MarkTargets(out, course, {
        name.casefold(): hand_in.attempt.slug for hand_in in now
        for name in (hand_in.attempt.student, hand_in.attempt.slug)}, ids,
        {student.id.casefold(): student.id for student in people}, list(dict.fromkeys(names)), members, alone, earlier,
        renamed)


def _rows(path: Path, by: str) -> Iterator[tuple[str, Row]]:
    """Yield the rows of a table of marks, each with its place. `by` is the giver of a mark that names none."""
    sheet = read_sheet(path)
    rows = list(sheet.filled(path))
    headings = [OTHER_WORDS.get(heading, heading) for heading in (text.strip().casefold() for text in sheet.header)]
    wrong = [repr(heading[:40]) for at, heading in enumerate(headings)
             if heading not in COLUMNS or heading in headings[:at]]
    lacking = [f"no {needed!r}" for needed in COLUMNS[:2] if needed not in headings]
    if wrong or lacking:
        usage(f"{path}, row 1: {', '.join([*lacking, *wrong][:4])} in {', '.join(sheet.header)[:200]!r}; "
              f"use the headings {', '.join(COLUMNS)}, each once, of which {' and '.join(COLUMNS[:2])} are needed")
    for number, values in rows:
        where = f"{path}, row {number}"
        value = dict.fromkeys(COLUMNS, "") | dict(zip(headings, values, strict=True))
        points = value["points"].replace(",", ".").replace("\N{MINUS SIGN}", "-")
        if not re.fullmatch(r"([+-]?\d{1,9}(\.\d{1,9})?)?", points, re.ASCII):
            usage(f"{where}: points: {value['points']!r}; give a number such as 5 or -2.5, or nothing")
        # The row is not filled in yet.
        if points or value["comment"]:
            yield where, Row(value["student"], value["assignment"], float(points) if points else None,
                             value["comment"], value["by"] or by)


def _most(before: str, points: float, assignment: str, course: Course) -> float:
    if not abs(points) <= (most := course.points_of(assignment).max_score):
        usage(f"{before}{points:g} points: {assignment} has {most:g}; give at most as many")
    return points


def _text(text: str) -> str:
    return clean(text.strip(), COMMENT_BYTES)


def _by(name: str) -> str:
    if name.strip():
        return clean(name.strip(), 200)
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        usage("--by: this machine does not know your name; say who gives the points")


def _slot(mark: Mark) -> tuple[str, str, str]:
    return mark.slug, mark.student.casefold(), mark.assignment


def _same(mark: Mark, earlier: Mark | None) -> bool:
    if earlier is None:
        return not (mark.points or mark.comment)
    return (mark.points, mark.comment, mark.by) == (earlier.points, earlier.comment, earlier.by)
