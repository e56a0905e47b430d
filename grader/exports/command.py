"""`kernelmark export`: a command for each platform."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer

from grader.console import INFRASTRUCTURE_ERROR, errors, say, usage
from grader.model import catalogue
from grader.model.files import replace
from grader.model.submission import printable

if TYPE_CHECKING:
    from grader.exports.graded import Class

class Visibility(StrEnum):
    """What Gradescope knows of it."""

    VISIBLE = "visible"
    AFTER_DUE_DATE = "after_due_date"
    AFTER_PUBLISHED = "after_published"
    HIDDEN = "hidden"


app = typer.Typer(help="Write grades and reports as Canvas, Moodle, Gradescope and others read them.",
                  no_args_is_help=True)

Results = Annotated[Path, typer.Argument(help="The folder of results that kernelmark grade wrote.")]
Intake = Annotated[Path | None, typer.Option(help="The folder that kernelmark intake wrote: whose each result is.")]
Roster = Annotated[Path | None, typer.Option(help="roster.csv: id, name, email, section, late_days.")]
Out = Annotated[Path, typer.Option(help="The file to write.")]
Sheet = Annotated[Path, typer.Option(help="The sheet that you downloaded; it stays as it is.")]
Students = Annotated[list[str] | None, typer.Option("--student", help="Of this one alone; may be given again.")]
Course = Annotated[Path, typer.Option(help="The course.")]
Force = Annotated[bool, typer.Option("--force", help="Replace a file that is there.")]
Shown = Annotated[Visibility, typer.Option(help="When students see it.")]


@app.command()
def canvas(
    results: Results, sheet: Sheet, out: Out, column: Annotated[str, typer.Option(
        help="The assignment's title, with or without its number.")] = "",
    intake: Intake = None, roster: Roster = None, course: Course = catalogue.COURSE, force: Force = False,
) -> None:
    """Fill the assignment's column of the gradebook that Canvas exported, for those who have a grade."""
    from grader.exports import fill
    from grader.exports.graded import ExportError

    found = _class(results, intake, roster, course=course)
    try:
        filled = fill.canvas(sheet, column, found)
    except ExportError as error:
        _refused(error)
    _say(found.lines + filled.lines)
    _write(out, filled.sheet.text().encode(), f"{filled.count} grades, to be imported in Canvas's gradebook", force)


@app.command()
def moodle(
    results: Results, sheet: Sheet, out: Out, column: Annotated[str, typer.Option(
        help="The heading of the grades, in your Moodle's language.")] = "Grade",
    intake: Intake = None, roster: Roster = None, course: Course = catalogue.COURSE, force: Force = False,
) -> None:
    """Fill the grades of the grading worksheet that Moodle gave out, for those who have one."""
    from grader.exports import fill
    from grader.exports.graded import ExportError

    found = _class(results, intake, roster, course=course)
    try:
        filled = fill.moodle(sheet, column, found)
    except ExportError as error:
        _refused(error)
    _say(found.lines + filled.lines)
    _write(out, filled.sheet.text().encode(), f"{filled.count} grades, to be uploaded as the grading worksheet", force)


@app.command("moodle-feedback")
def moodle_feedback(
    results: Results, intake: Annotated[Path, typer.Option(
        help="The folder that kernelmark intake wrote from Moodle's download.")], out: Out, force: Force = False,
) -> None:
    """Zip each student's report for Moodle's upload of feedback files."""
    from grader.exports.bundles import moodle_feedback as zipped
    from grader.exports.graded import ExportError

    found = _class(results, intake, None)
    try:
        content, lines = zipped(results, found)
    except ExportError as error:
        _refused(error)
    _say(found.lines + lines)
    _write(out, content, f"{len(found.graded) - len(lines)} reports, to be uploaded as multiple feedback files", force)


@app.command()
def gradescope(
    results: Results, out: Out, student: Students = None, visibility: Shown = Visibility.VISIBLE, intake: Intake = None,
    force: Force = False,
) -> None:
    """Write results.json of one student, as an autograder of Gradescope does. Exit status 3 after a failure of ours."""
    from grader.exports.graded import ExportError
    from grader.exports.platforms import gradescope as converted

    found = _class(results, intake, None, student or ())
    (one,) = found.graded if len(found.graded) == 1 else usage(
        f"--student: {len(found.graded)} results in {results}; one of them expected")
    try:
        content = converted(one, visibility)
    except ExportError as error:
        errors.print(f"kernelmark: {printable(str(error))}", markup=False)
        raise typer.Exit(INFRASTRUCTURE_ERROR) from None
    _write(out, _json(content), f"the results of {one.folder}", force)


@app.command("gradescope-zip")
def gradescope_zip(
    out: Out, course: Course = catalogue.COURSE, visibility: Shown = Visibility.VISIBLE, force: Force = False,
) -> None:
    """Build an autograder for Gradescope: grader, course, hidden cases. It judges answers on a CPU, not speed."""
    from grader.author.student_kit import KitError
    from grader.exports.bundles import gradescope_autograder
    from grader.model.course import CourseError

    try:
        content = gradescope_autograder(course, visibility)
    except (KitError, CourseError, catalogue.CatalogueError) as error:
        _refused(error)
    except OSError as error:
        usage(f"{error.filename}: {error.strerror}; the course's repository expected")
    _write(out, content, "an autograder. Gradescope has no GPU: it judges answers and compiles for the course's, and "
           "leaves speed unmeasured. Choose a container of 4 CPUs and 6 GB", force)


@app.command()
def classroom50(
    results: Results, intake: Annotated[Path, typer.Option(
        help="The folder that kernelmark intake wrote from git clones: it has the times of submission.")],
    out: Annotated[Path, typer.Option(help="The folder for a file of each student's.")],
    classroom: Annotated[str, typer.Option(help="The classroom's name.")] = "",
    assignment: Annotated[str, typer.Option(help="The assignment's name.")] = "kernels",
    student: Students = None, roster: Roster = None, force: Force = False,
) -> None:
    """Write a result for each student as Classroom 50 reads it; points are rounded to whole ones."""
    from grader.exports.graded import ExportError
    from grader.exports.platforms import classroom50 as converted
    from grader.model.text import some

    found = _class(results, intake, roster, student or ())
    written = []
    refused: dict[str, list[str]] = {}
    for one in found.graded:
        try:
            written.append((one.folder, _json(converted(one, found.kind, classroom, assignment))))
        except ExportError as error:
            refused.setdefault(error.why, []).append(error.folder)
    # A download without times refuses all of a class for one reason.
    _say([*found.lines, *(f"{some(folders)}: {why}" for why, folders in refused.items())])
    if not written:
        usage(f"{intake}: no result can be written, as told above; times of submission expected")
    for folder, content in written:
        _write(out / f"{folder}.json", content, "", force)
    say(f"{out}: {len(written)} results for Classroom 50")


@app.command()
def junit(results: Results, out: Out, student: Students = None, force: Force = False) -> None:
    """Write every check as JUnit XML, a suite a student. It is for dashboards: no grade is ever read from it."""
    from grader.exports.platforms import junit as converted

    found = _class(results, None, None, student or ())
    _say(found.lines)
    _write(out, converted(found.graded), f"the checks of {len(found.graded)} students", force)


@app.command("csv")
def table(
    results: Results, out: Out, intake: Intake = None, roster: Roster = None, course: Course = catalogue.COURSE,
    excel: Annotated[bool, typer.Option("--excel", help="Say that it is UTF-8, which Excel asks for.")] = False,
    force: Force = False,
) -> None:
    """Write a row for each person: who, when, late or not, points and verdict of each assignment."""
    from grader.exports.table import table as drawn
    from grader.model.sheet import BOM

    found = _class(results, intake, roster, course=course)
    _say(found.lines)
    _write(out, ((BOM if excel else "") + drawn(found)).encode(), f"{sum(len(one.members) for one in found.graded)} "
           f"people with a result, {len(found.missing)} without", force)


@app.command()
def jplag(
    submissions: Annotated[Path, typer.Argument(help="A folder of students' folders, as intake writes it.")],
    out: Annotated[Path, typer.Option(help="The folder to make.")], course: Course = catalogue.COURSE,
) -> None:
    """Lay submissions out for JPlag, Dolos or MOSS: a folder each, and the stubs as base code."""
    from grader.exports.bundles import jplag as laid_out
    from grader.model.course import CourseError, read_course
    from grader.model.submission import SubmissionError

    if out.exists():
        usage(f"{out}: is there already; a new folder expected")
    try:
        known = catalogue.files()
        names = read_course(course, frozenset(known)).select(known, ())
        count, lines = laid_out(submissions, {name: known[name] for name in names}, out)
    except (CourseError, SubmissionError) as error:
        _refused(error)
    except OSError as error:
        usage(printable(f"{error.filename}: {error.strerror}; a folder that can be written expected"))
    _say(lines)
    say(f"{out}: {count} submissions and the stubs. "
        f"JPlag: java -jar jplag.jar -l python3 -bc {out}/base {out}/submissions")


def _class(
    results: Path, intake: Path | None, roster: Path | None, students: Sequence[str] = (), course: Path | None = None,
) -> Class:
    """The class; with a `course` its grades by that policy, where attempts are on record."""
    from grader.exports.graded import ExportError, read_class
    from grader.intake.manifest import ManifestError, read_manifest
    from grader.model.course import CourseError, read_course
    from grader.model.roster import RosterError, read_roster
    from grader.records.policy import as_in_roster
    from grader.records.store import FOLDER, StoreError
    from grader.records.verbs import grades, stands_in, strangers

    try:
        rules = read_course(course, frozenset(catalogue.files())) if course else None
        manifest, people = read_manifest(intake) if intake else None, read_roster(roster) if roster else None
        if course is None or rules is None or not (results / FOLDER).is_dir():
            return read_class(results, manifest, people, students)
        stands = as_in_roster(stands_in(results), people or (), manifest)
        marks = grades(stands, rules, people or ())
        found = read_class(results, manifest, people, students, marks,
                           {one.attempt.slug: one.attempt.members for one in stands})
        found.lines += strangers(course, rules, marks)
        return found
    except (CourseError, ExportError, ManifestError, RosterError, StoreError) as error:
        _refused(error)


def _json(content: object) -> bytes:
    return (json.dumps(content, ensure_ascii=False, indent=1) + "\n").encode()


def _say(lines: Iterable[str]) -> None:
    for line in lines:
        errors.print(f"kernelmark: {printable(line)}", markup=False)


def _write(out: Path, content: bytes, what: str, force: bool) -> None:
    """Writes a file, and says what it holds."""
    if out.exists() and not force:
        usage(f"--out {out}: is there already; another name, or --force to replace it, expected")
    try:
        replace(out, content)
    except OSError as error:
        usage(printable(f"--out {out}: {error.strerror}; a file that can be written expected"))
    if what:
        say(f"{out}: {what}")


def _refused(error: Exception) -> NoReturn:
    usage(printable(str(error)))
