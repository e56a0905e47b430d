"""The commands for attempts: rescore, diff, apply, explain-grade. None of them runs students' code."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated

import typer

from grader.classroom.attempts import compare
from grader.classroom.attempts.attempt import Attempt
from grader.classroom.attempts.lock import locked
from grader.classroom.attempts.policy import Grade, as_in_roster, class_grades, marks_in_roster
from grader.classroom.attempts.selected import SelectedAttempt, newest_books, pending, select_attempts, to_undo
from grader.classroom.attempts.store import FOLDER, Store
from grader.classroom.attempts.student_files import (
    complete_results,
    notices,
    outdated_lines,
    refresh,
    removed_lines,
    write_class_page,
)
from grader.classroom.intake.manifest import read_manifest
from grader.console import (
    AGAIN,
    COURSE,
    INFRASTRUCTURE_ERROR,
    TAS,
    complain,
    course_option,
    names_in,
    reporting,
    say,
)
from grader.console import usage as _usage
from grader.course import catalogue
from grader.course.course import Course, read_course
from grader.course.roster import Student, read_roster
from grader.pages.load import load_entry
from grader.pages.people import People
from grader.results.mark import Mark, counting
from grader.results.result import Repair
from grader.results.text import clean, compose, some

Out = Annotated[Path, typer.Option(help="The folder of results.")]
CourseFile = Annotated[Path, course_option("The course file: points, thresholds, late policy.")]
Students = Annotated[list[str] | None, typer.Option(
    "--student", help="Only this student, by folder or id; may be given again.")]
INDENT = " " * 13
WHO = "name a folder of results, or an id in the roster or in intake.json"


def add_to(app: typer.Typer) -> None:
    """Add these commands to the command line."""
    for name, command in (("rescore", rescore), ("diff", diff), ("apply", apply), ("explain-grade", explain_grade)):
        app.command(name, rich_help_panel=TAS, epilog=AGAIN)(command)


def rescore(out: Out = Path("results"), course: CourseFile = COURSE) -> None:
    """Compute the points of recorded checks and times again, with the course's present points and thresholds.

    Runs no submission's code. If `hints.level` is "edit" by now, reports show students the changes that mend
    their kernels. The new attempts are recorded beside the old: `kernelmark diff` shows what would change,
    `kernelmark apply` changes it.
    """
    # Late: numpy is slow to import.
    from grader.classroom.attempts.recording import rescore as rescore_attempts

    rules = course_of(course)
    with hold_store(out) as store:
        say(f"{rescore_attempts(store, rules):,} attempts scored again")
        for line in notices(store, rules):
            say(line)


def diff(out: Out = Path("results"), student: Students = None, course: CourseFile = COURSE) -> None:
    """Show whose grade would change if the newest attempts counted: by how much, in which checks, and why."""
    late = course_of(course).late
    with reporting(out), Store.existing(out) as store:
        _require_known(store, out, student)
        moves = [move for move in compare.moves(store, late) if _is_among(move.before, student)]
        lost = [attempt for attempt in compare.failures(store) if _is_among(attempt, student)]
        for line in compare.lines(moves, lost):
            say(clean(line, 1000))


def apply(
    out: Out = Path("results"), student: Students = None,
    only: Annotated[str, typer.Option(help="Assignments, e.g. silu,gemm. Default: all.")] = "",
    undo: Annotated[bool, typer.Option("--undo", help="Undo the last apply.")] = False,
    course: CourseFile = COURSE,
) -> None:
    """Make the newest attempts count, as `kernelmark diff` shows them."""
    names, rules = names_in(only), course_of(course)
    with hold_store(out) as store:
        _require_known(store, out, student)
        graded = {attempt.assignment for attempt in store.attempts()}
        if strange := next((name for name in names if name not in graded), None):
            _usage(f"--only {strange!r}: no such assignment in {out}; choose from {', '.join(sorted(graded))}")
        if undo:
            batch = to_undo(store.decisions())
            if batch is None:
                _usage(f"{out}: nothing to undo; run kernelmark apply first")
            count = sum(decision.batch == batch for decision in store.decisions())
            store.decide(undoes=batch)
            outcome = "1 grade is taken back" if count == 1 else f"{count:,} grades are taken back"
        else:
            wanted = [after for _, after in pending(store.attempts(), store.decisions())
                      if _is_among(after, student) and (not names or after.assignment in names)]
            store.decide(wanted)
            have = "1 newer attempt counts" if len(wanted) == 1 else f"{len(wanted):,} newer attempts count"
            outcome = f"{have} now" + "; kernelmark apply --undo takes that back" * bool(wanted)
        trouble = drawn_again(store, out, rules)
    conclude([outcome], trouble)


def drawn_again(store: Store, out: Path, course: Course) -> list[str]:
    """Write the students' files that are out of date, and the class page. Return a line for each failure."""
    trouble = refresh(store, out, course.late)
    write_class_page(store, out, course.late)
    return trouble


def conclude(outcome: Sequence[str], trouble: Sequence[str]) -> None:
    """Print the outcome. If there was trouble, end the command with the exit status of a failure."""
    for line in outcome:
        say(clean(line, 1000))
    for line in trouble:
        complain(line)
    if trouble:
        raise typer.Exit(INFRASTRUCTURE_ERROR)


def explain_grade(
    student: Annotated[str, typer.Argument(help="A folder or id. Default: a line for each student.")] = "",
    out: Out = Path("results"),
    course: CourseFile = COURSE,
    roster: Annotated[Path | None, typer.Option(help="roster.csv, with late_days.")] = None,
    intake: Annotated[Path | None, typer.Option(
        help="The folder that kernelmark intake wrote, to match its names with a newer roster.")] = None,
) -> None:
    """Print every step from raw points to a student's grade, by the course file's late policy.

    Also prints the change that makes every case of a failed kernel right, if one was found.
    """
    rules = course_of(course)
    student = compose(student)
    with reporting(out), Store.existing(out) as store:
        people = read_roster(roster) if roster else []
        manifest = read_manifest(intake) if intake else None
        before = list(select_attempts(store.attempts(), store.decisions()).values())
        selected, marks = as_in_roster(before, people, manifest), marks_in_roster(store.marks(), people, manifest)
        chosen = grades(selected, rules, people, marks)
        lines, changes = nobodys(marks, chosen), dict[int, Repair]()
        folders = {member.casefold(): hand_in.attempt.slug
                   for hand_in in selected for member in hand_in.attempt.members}
        if student:
            # A group has one folder, and each of its members has a grade. An id may be the source's or the roster's.
            mates = {member.casefold() for then, now in zip(before, selected, strict=True) if _is_among(
                then.attempt, [student]) or _is_among(now.attempt, [student]) for member in now.attempt.members}
            chosen = ([grade for grade in chosen if grade.student.casefold() == student.casefold()]
                      or [grade for grade in chosen if grade.student.casefold() in mates])
            if not chosen:
                _usage(f"{student!r}: no such student in {out}; {WHO}, or pass --roster")
            changes = _repairs(store, chosen)
            lines += _outdated_lines(store, out, rules, [folders.get(grade.student.casefold(), "") for grade in chosen])
        else:
            gone = dict.fromkeys(line.assignment for grade in chosen for line in grade.lines if line.removed)
            lines = [*removed_lines([*gone]), *strangers(course, rules, chosen), *lines]
            if not people:
                # Attempts are in the order in which they were graded.
                chosen = sorted(chosen, key=lambda grade: grade.student.casefold())
    for line in lines:
        complain(clean(line, 1000))
    for grade in chosen:
        folder = folders.get(grade.student.casefold(), grade.student)
        for line in _explained(grade, folder, changes) if student else [_total(grade, folder)]:
            say(clean(line, 1000))


def _outdated_lines(store: Store, out: Path, course: Course, folders: Iterable[str]) -> list[str]:
    """Return a line about the files in these folders that are older than the attempts. Raises UserError."""
    results = {folder: result for slug in dict.fromkeys(folders) for folder, result in complete_results(
        store, out, course.late, slug).items()}
    written = {}
    for folder in results:
        # A file that cannot be read counts as out of date.
        with contextlib.suppress(OSError, ValueError):
            written[folder] = load_entry(out / folder, People()).result
    return outdated_lines(results, written)


def _repairs(store: Store, given: Iterable[Grade]) -> dict[int, Repair]:
    """Return the repairs of the attempts that count in these grades, by attempt's id. Raises UserError."""
    counted = [line.attempt for grade in given for line in grade.lines if line.attempt is not None]
    return {attempt.id: repair for attempt in counted if (record := store.result(attempt)) is not None
            and (repair := record.assignments[attempt.assignment].repair) is not None}


def grades(
    selected: Sequence[SelectedAttempt], course: Course, roster: Sequence[Student] = (), marks: Sequence[Mark] = (),
) -> list[Grade]:
    """Return everyone's grades by the course's policy, from selected attempts and marks. A course that lists no
    assignments has all of them."""
    books = newest_books(hand_in.attempt for hand_in in selected if hand_in.attempt.judged)
    names = course.assignments or dict.fromkeys(hand_in.attempt.assignment for hand_in in selected)
    known = {name: course.points_of(name).max_score for name in names}
    return class_grades(selected, roster, course.late, known, books, marks)


def strangers(course: Path, rules: Course, marks: Sequence[Grade]) -> list[str]:
    """Return lines about people whom the course's policy names but who have no grade: these are likely typing
    errors."""
    return [f"{course}: [late] names {student!r}, who has no grade here; use an id that explain-grade shows"
            for student in rules.late.strangers(grade.student for grade in marks)]


def nobodys(marks: Iterable[Mark], given: Sequence[Grade]) -> list[str]:
    """Return a line about people with marks and without a grade: their ids are from a roster that this command did not
    get."""
    here = {"", *(grade.student.casefold() for grade in given)}
    lost = [*dict.fromkeys(mark.student for mark in counting(marks) if mark.student.casefold() not in here)]
    return [f"marks of {some(lost)} belong to nobody here; pass --roster"] if lost else []


def _explained(grade: Grade, folder: str, changes: Mapping[int, Repair]) -> Iterator[str]:
    for line in grade.lines:
        yield f"{line.assignment}"
        for step in line.steps:
            yield f"    {'–' if step.points is None else format(step.points, '.6g'):>7}  {step.text}"
        if line.other_course:
            yield f"{INDENT}graded under another course file than the newest grades of the class"
        if line.attempt and (repair := changes.get(line.attempt.id)) is not None:
            yield f"{INDENT}found by trying: one change makes every case right, which need not be what was meant"
            yield from (f"{INDENT}{changed}" for changed in repair.diff.splitlines())
    yield _total(grade, folder)


def _total(grade: Grade, folder: str) -> str:
    of = f", {grade.grace_days} of {grade.late_days} grace days used" if grade.late_days else ""
    blank = [line.assignment for line in grade.lines if line.open]
    stale = [line.assignment for line in grade.lines if line.other_course]
    who = grade.student if folder == grade.student else f"{grade.student} ({folder})"
    return (f"{who}: {grade.points:g} of {grade.max_score:g}{of}"
            + (f"; not judged yet: {', '.join(blank)}" if blank else "")
            + (f"; under another course file: {', '.join(stale)}" if stale else ""))


def _is_among(attempt: Attempt, names: list[str] | None) -> bool:
    """Return whether an attempt's folder, or the id of one of its members, is among `names`. True if `names` is
    None."""
    wanted = {compose(name).casefold() for name in names or ()}
    return not wanted or not wanted.isdisjoint(
        name.casefold() for name in (attempt.slug, attempt.student, *attempt.members))


def _require_known(store: Store, out: Path, names: list[str] | None) -> None:
    """End the command with an error if one of these names fits no attempt."""
    attempts = store.attempts() if names else []
    for name in names or ():
        if not any(_is_among(attempt, [name]) for attempt in attempts):
            _usage(f"--student {name!r}: no such student in {out}; {WHO}")


def course_of(path: Path) -> Course:
    return read_course(path, frozenset(catalogue.files()))


@contextlib.contextmanager
def hold_store(out: Path) -> Iterator[Store]:
    """Hold the attempts in `out` for the block, locked against other processes."""
    with reporting(out), Store.existing(out) as store, locked(out / FOLDER):
        yield store
