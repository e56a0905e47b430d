"""What a TA does with attempts from the command line: rescore, diff, apply, explain-grade. None runs anyone's code."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated

import typer

from grader.console import INFRASTRUCTURE_ERROR, TAS, errors, names_in, say
from grader.console import usage as _usage
from grader.intake.manifest import ManifestError, read_manifest
from grader.model import catalogue
from grader.model.course import Course, CourseError, read_course
from grader.model.roster import RosterError, Student, read_roster
from grader.model.text import clean
from grader.records import compare
from grader.records.attempt import Attempt
from grader.records.draw import beside, refresh, under_another_course_file
from grader.records.lock import LockedError, locked
from grader.records.policy import Grade, as_in_roster, class_grades
from grader.records.standing import Standing, newest_books, pending, standing, to_undo
from grader.records.store import FOLDER, Store, StoreError

Out = Annotated[Path, typer.Option(help="The folder of results.")]
CourseFile = Annotated[Path, typer.Option("--course", help="Points, thresholds, policy for late work.")]
WHO = "a folder of results, or an id of the roster or of intake.json"


def add_to(app: typer.Typer) -> None:
    """Adds these commands to the command line's."""
    for name, command in (("rescore", rescore), ("diff", diff), ("apply", apply), ("explain-grade", explain_grade)):
        app.command(name, rich_help_panel=TAS)(command)


def rescore(out: Out = Path("results"), course: CourseFile = catalogue.COURSE) -> None:
    """Give the points and thresholds of now for the checks and times on record. Runs no submission's code.

    The new attempts stand beside the old: `kernelmark diff` shows what would change, `kernelmark apply` changes it.
    """
    # Late: numpy is slow to import.
    from grader.records.rescore import rescore as rescored

    rules = _course(course)
    with _held(out) as store:
        say(f"{rescored(store, rules):,} attempts scored anew")
        for line in beside(store, rules):
            say(line)


def diff(
    out: Out = Path("results"),
    student: Annotated[list[str] | None, typer.Option("--student", help="Of this one alone, by folder or id.")] = None,
) -> None:
    """Show who would move if the newest attempts stood: by how much, in which checks, and why."""
    with _told(), Store.existing(out) as store:
        _known(store, out, student)
        found = [move for move in compare.moves(store) if _named(move.before, student)]
        failed = [one for one in compare.failures(store) if _named(one, student)]
        for line in compare.lines(found, failed):
            say(clean(line, 1000))


def apply(
    out: Out = Path("results"),
    student: Annotated[list[str] | None, typer.Option("--student", help="Of this one alone, by folder or id.")] = None,
    only: Annotated[str, typer.Option(help="Assignments, e.g. silu,gemm. Default: all.")] = "",
    undo: Annotated[bool, typer.Option("--undo", help="Take back what was applied last.")] = False,
) -> None:
    """Let the newest attempts stand, as `kernelmark diff` shows them."""
    names = names_in(only)
    with _held(out) as store:
        _known(store, out, student)
        there = {one.assignment for one in store.attempts()}
        if strange := next((name for name in names if name not in there), None):
            _usage(f"--only {strange!r}: no such assignment in {out}; one of {', '.join(sorted(there))} expected")
        if undo:
            batch = to_undo(store.decisions())
            if batch is None:
                _usage(f"{out}: nothing was applied that is not undone; kernelmark apply first expected")
            count = sum(decision.batch == batch for decision in store.decisions())
            store.decide(undoes=batch)
            said = "1 grade is taken back" if count == 1 else f"{count:,} grades are taken back"
        else:
            wanted = [after for _, after in pending(store.attempts(), store.decisions())
                      if _named(after, student) and (not names or after.assignment in names)]
            store.decide(wanted)
            have = "1 newer attempt stands" if len(wanted) == 1 else f"{len(wanted):,} newer attempts stand"
            said = f"{have} now" + "; kernelmark apply --undo takes that back" * bool(wanted)
        trouble = refresh(store, out)
        # Pages are slow to import.
        from grader.report.load import load_results
        from grader.report.pages import write_class

        loaded = load_results(out)
        write_class(loaded.entries, out, failures=loaded.failures, others=under_another_course_file(store))
    say(said)
    for line in trouble:
        errors.print(f"kernelmark: {line}", markup=False)
    if trouble:
        raise typer.Exit(INFRASTRUCTURE_ERROR)


def explain_grade(
    student: Annotated[str, typer.Argument(help="Whose, by folder or id; without it a line for each student.")] = "",
    out: Out = Path("results"),
    course: CourseFile = catalogue.COURSE,
    roster: Annotated[Path | None, typer.Option(help="roster.csv, with late_days.")] = None,
    intake: Annotated[Path | None, typer.Option(
        help="The folder that kernelmark intake wrote, whose names lead to a roster that came later.")] = None,
) -> None:
    """Print every step from raw points to a student's grade, by the course file's policy for late work."""
    rules = _course(course)
    with _told():
        people = read_roster(roster) if roster else []
        before = stands_in(out)
        stands = as_in_roster(before, people, read_manifest(intake) if intake else None)
    found = grades(stands, rules, people)
    folders = {member.casefold(): one.attempt.slug for one in stands for member in one.attempt.members}
    if student:
        # A group has a folder, and each of its members a grade; and an id is as good as that of the roster.
        mates = {member.casefold() for then, now in zip(before, stands, strict=True)
                 if _named(then.attempt, [student]) or _named(now.attempt, [student]) for member in now.attempt.members}
        found = ([grade for grade in found if grade.student.casefold() == student.casefold()]
                 or [grade for grade in found if grade.student.casefold() in mates])
        if not found:
            _usage(f"{student!r}: no such student in {out}; {WHO}, or --roster, expected")
    else:
        for line in strangers(course, rules, found):
            errors.print(f"kernelmark: {line}", markup=False)
    for grade in found:
        folder = folders.get(grade.student.casefold(), grade.student)
        for line in _explained(grade, folder) if student else [_total(grade, folder)]:
            say(clean(line, 1000))


def stands_in(out: Path) -> list[Standing]:
    """What stands of the attempts below `out`, in the order of recording. Raises StoreError."""
    with Store.existing(out) as store:
        return list(standing(store.attempts(), store.decisions()).values())


def grades(stands: Sequence[Standing], course: Course, roster: Sequence[Student] = ()) -> list[Grade]:
    """Everyone's grades by the course's policy, from what stands."""
    books = newest_books(one.attempt for one in stands if one.attempt.judged)
    points = {name: course.points_of(name) for name in (*(course.assignments or ()), *books)}
    known = {name: of.correctness + of.performance for name, of in points.items()}
    return class_grades(stands, roster, course.late, known, books)


def strangers(course: Path, rules: Course, found: Sequence[Grade]) -> list[str]:
    """A line for each person whom the course's policy names and who has no grade, and for points beyond the most there
    are: an id or a number may be mistyped."""
    lines = [f"{course}: [late] names {one!r}, who has no grade here; an id as explain-grade shows them expected"
             for one in rules.late.strangers(grade.student for grade in found)]
    for given in rules.late.overrides:
        of = rules.points_of(given.assignment)
        if given.points > (most := of.correctness + of.performance):
            lines.append(f"{course}: [late] gives {given.student!r} {given.points:g} points in {given.assignment}, "
                         f"which has {most:g}")
    return lines


def _explained(grade: Grade, folder: str) -> Iterator[str]:
    for line in grade.lines:
        yield f"{line.assignment}"
        for step in line.steps:
            yield f"    {'–' if step.points is None else format(step.points, '.6g'):>7}  {step.text}"
        if line.other_course:
            yield "             graded under another course file than the newest grades of the class"
    yield _total(grade, folder)


def _total(grade: Grade, folder: str) -> str:
    of = f", {grade.grace_days} of {grade.late_days} grace days used" if grade.late_days else ""
    blank = [line.assignment for line in grade.lines if line.open]
    other = [line.assignment for line in grade.lines if line.other_course]
    who = grade.student if folder == grade.student else f"{grade.student} ({folder})"
    return (f"{who}: {grade.points:g} of {grade.maximum:g}{of}"
            + (f"; not judged yet: {', '.join(blank)}" if blank else "")
            + (f"; under another course file: {', '.join(other)}" if other else ""))


def _named(attempt: Attempt, names: list[str] | None) -> bool:
    """Whether it is of one of these: a folder, or an id of a member. No names: it is."""
    asked = {name.casefold() for name in names or ()}
    return not asked or not asked.isdisjoint(
        name.casefold() for name in (attempt.slug, attempt.student, *attempt.members))


def _known(store: Store, out: Path, names: list[str] | None) -> None:
    """Ends the command where one of the names is nobody's: a mistyped one would find nothing to do."""
    attempts = store.attempts() if names else []
    for name in names or ():
        if not any(_named(one, [name]) for one in attempts):
            _usage(f"--student {name!r}: no such student in {out}; {WHO} expected")


def _course(path: Path) -> Course:
    try:
        return read_course(path, frozenset(catalogue.files()))
    except CourseError as error:
        _usage(str(error))


@contextlib.contextmanager
def _held(out: Path) -> Iterator[Store]:
    """The attempts in `out`, to which no other process adds meanwhile."""
    with _told(), Store.existing(out) as store, locked(out / FOLDER):
        yield store


@contextlib.contextmanager
def _told() -> Iterator[None]:
    try:
        yield
    except (StoreError, LockedError, ManifestError, RosterError) as error:
        _usage(str(error))
    except OSError as error:
        _usage(f"{error.filename}: {error.strerror}; a folder of results that can be written expected")
