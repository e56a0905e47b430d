"""The commands `kernelmark export`, one for each platform."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from grader import languages
from grader.classroom.attempts.policy import as_in_roster, marks_in_roster
from grader.classroom.attempts.selected import select_attempts
from grader.classroom.attempts.store import FOLDER, Store
from grader.classroom.attempts.student_files import complete_results
from grader.classroom.exports import fill, platforms
from grader.classroom.exports.graded import Class, ClassRecord, ExportError, Selection, read_class
from grader.classroom.exports.table import table as class_table
from grader.classroom.intake.manifest import read_manifest
from grader.commands.attempts import grades, nobodys, strangers
from grader.console import COURSE, INFRASTRUCTURE_ERROR, complain, course_option, failed, names_in, say, usage
from grader.course import catalogue
from grader.course.course import read_course
from grader.course.roster import read_roster
from grader.course.sheet import BOM
from grader.course.submission import printable
from grader.errors import advised
from grader.results.files import replace
from grader.results.text import some


class Visibility(StrEnum):
    """Gradescope's words for when students see a result."""

    VISIBLE = "visible"
    AFTER_DUE_DATE = "after_due_date"
    AFTER_PUBLISHED = "after_published"
    HIDDEN = "hidden"


# The advice if a kit cannot be written.
KIT = "choose a writable folder, and run this in the course's repository"
app = typer.Typer(help="Write grades and reports as Canvas, Moodle, Gradescope and others read them.",
                  no_args_is_help=True)

Results = Annotated[Path, typer.Argument(help="The folder of results that kernelmark grade wrote.")]
Intake = Annotated[Path | None, typer.Option(
    help="The folder that kernelmark intake wrote, which names the owners of results.")]
Roster = Annotated[Path | None, typer.Option(
    help="roster.csv: id, name, email, section, late_days; or as Canvas, Moodle or Classroom 50 gives it.")]
Out = Annotated[Path, typer.Option(help="The file to write.")]
Sheet = Annotated[Path, typer.Option(help="The sheet that you downloaded, which is not changed.")]
Students = Annotated[list[str] | None, typer.Option("--student", help="Only this student; may be given again.")]
Course = Annotated[Path, course_option("The course file: which assignments count, and the late policy.")]
Only = Annotated[str, typer.Option(help="Only these assignments, e.g. silu,gemm. Default: the course's.")]
Force = Annotated[bool, typer.Option("--force", help="Replace an existing file.")]
Shown = Annotated[Visibility, typer.Option(help="When students see the result.")]


@app.command()
def canvas(
    results: Results, sheet: Sheet, out: Out, column: Annotated[str, typer.Option(
        help="The assignment's title, with or without its number.")] = "",
    only: Only = "", intake: Intake = None, roster: Roster = None, course: Course = COURSE,
    force: Force = False,
) -> None:
    """Fill the assignment's column of the gradebook that Canvas exported, for those who have a grade."""
    class_ = _class(results, course, intake, roster, only=only)
    filled = fill.canvas(sheet, column, class_)
    _say(class_.lines + filled.lines)
    _write(out, filled.sheet.text().encode(), f"{filled.count} grades, to be imported in Canvas's gradebook", force)
    _end(class_)


@app.command()
def moodle(
    results: Results, sheet: Sheet, out: Out, column: Annotated[str, typer.Option(
        help="The heading of the grades, in your Moodle's language.")] = "Grade",
    feedback: Annotated[str, typer.Option(
        help="The heading of the column for comments given by hand. Default: Feedback comments, if it is there.")] = "",
    only: Only = "", intake: Intake = None, roster: Roster = None, course: Course = COURSE,
    force: Force = False,
) -> None:
    """Fill the grades of Moodle's grading worksheet, for those who have a grade."""
    class_ = _class(results, course, intake, roster, only=only)
    filled = fill.moodle(sheet, column, class_, feedback)
    _say(class_.lines + filled.lines)
    _write(out, filled.sheet.text().encode(), f"{filled.count} grades, to be uploaded as the grading worksheet", force)
    _end(class_)


@app.command("moodle-feedback")
def moodle_feedback(
    results: Results, intake: Annotated[Path, typer.Option(
        help="The folder that kernelmark intake wrote from Moodle's download.")], out: Out,
    course: Course = COURSE, force: Force = False,
) -> None:
    """Zip each student's report for Moodle's upload of feedback files."""
    # Late: the kit imports torch.
    from grader.classroom.exports.bundles import moodle_feedback as zip_feedback

    class_ = _class(results, course, intake)
    content, lines = zip_feedback(results, class_)
    _say(class_.lines + lines)
    _write(out, content, f"{len(class_.graded) - len(lines)} reports, to be uploaded as multiple feedback files", force)
    _end(class_)


@app.command()
def gradescope(
    results: Results, out: Out, student: Annotated[list[str] | None, typer.Option(
        help="The student, by folder or id, where there are several.")] = None,
    visibility: Shown = Visibility.VISIBLE, only: Only = "", intake: Intake = None, roster: Roster = None,
    course: Course = COURSE, force: Force = False,
) -> None:
    """Write one student's results.json, as an autograder of Gradescope does. Exit status 3 if the grader failed."""
    class_ = _class(results, course, intake, roster, student or (), only)
    (submission,) = class_.graded if len(class_.graded) == 1 else usage(
        f"--student: {len(class_.graded)} results in {results}; name one student")
    try:
        content = platforms.gradescope(submission, visibility)
    except platforms.NotGradedError as error:
        complain(printable(str(error)))
        raise typer.Exit(INFRASTRUCTURE_ERROR) from None
    _say(class_.lines)
    _write(out, _json(content), f"the results of {submission.folder}", force)


@app.command()
def autograder(
    out: Out, course: Course = COURSE, visibility: Shown = Visibility.VISIBLE, force: Force = False,
) -> None:
    """Build an autograder for Gradescope: grader, course, hidden cases. It judges answers on a CPU, not speed."""
    # Late, see moodle_feedback.
    from grader.classroom.exports.bundles import autograder as zip_autograder

    with advised(KIT):
        content = zip_autograder(course, visibility)
    _write(out, content, "an autograder. Gradescope has no GPU: answers are judged, kernels are compiled for the "
           "course's GPU, and speed is not measured. Choose a container of 4 CPUs and 6 GB", force)


@app.command()
def action(
    out: Annotated[Path, typer.Option(help="The folder of the students' repository, new or not.")],
    kit: Annotated[Path, typer.Option(help="The folder in it for the kit. Default: its root.")] = Path(),
    files: Annotated[Path | None, typer.Option(
        help="The folder in it of the files to check. Default: the kit's student_template.")] = None,
    course: Course = COURSE, force: Annotated[bool, typer.Option(
        "--force", help="Replace the kit and the workflow that are there, stubs included.")] = False,
) -> None:
    """Make a repository for students whose pushes GitHub Actions checks: the kit, and a workflow that shows the report.

    It has the public cases and no GPU, and its students can change it: read grades from your own grading.
    """
    # Late, see moodle_feedback.
    from grader.classroom.exports.bundles import WORKFLOW_PATH
    from grader.classroom.exports.bundles import action as write_action

    files = kit / "student_template" if files is None else files
    for name, path in (("kit", kit), ("files", files)):
        if path.is_absolute() or ".." in path.parts or not re.fullmatch(r"[\w./-]+", str(path), re.ASCII):
            usage(f"--{name} {path}: give a path from the repository's root of letters, digits and ._-/, such as "
                  "kernels")
    with advised(KIT):
        write_action(out, course, kit, files, force=force)
    say(f"{out}: the kit, and {WORKFLOW_PATH}, which checks {files} at each push. Commit and push all of it; students "
        "read the report under Actions")


@app.command()
def classroom50(
    results: Results, intake: Annotated[Path, typer.Option(
        help="The folder that kernelmark intake wrote from git clones, which have times and tags.")],
    out: Annotated[Path, typer.Option(help="The folder to write to, a file for each repository.")],
    classroom: Annotated[str, typer.Option(help="The classroom's short name, with which repositories' names begin.")],
    assignment: Annotated[str, typer.Option(help="The assignment's short name, which comes next in their names.")],
    organisation: Annotated[str, typer.Option(help="Where the repositories are, as https://github.com/NAME.")],
    tag: Annotated[str, typer.Option(help="The tag submit/… of the one --student. Default: the clone's.")] = "",
    group: Annotated[bool, typer.Option(
        "--group", help="The assignment is one for groups. Default: if a submission has several members.")] = False,
    student: Students = None, only: Only = "", roster: Roster = None, course: Course = COURSE,
    force: Force = False,
) -> None:
    """Write a result for each repository in the format of Classroom 50, with whole points by the late policy."""
    if not organisation.startswith(("https://", "http://")):
        usage(f"--organisation {organisation!r}: not an address; give it as https://github.com/NAME")
    if tag and not tag.startswith(platforms.TAG):
        usage(f"--tag {tag!r}: no tag of a submission; give one that begins with {platforms.TAG}")
    class_ = _class(results, course, intake, roster, student or (), only)
    if tag and len(class_.graded) != 1:
        usage(f"--tag: {len(class_.graded)} results in {results}; name the --student whose it is")
    group |= any(len(submission.members) > 1 for submission in class_.graded)
    where = platforms.Repositories(classroom, assignment, group, organisation, tag)
    written = []
    refused: dict[str, list[str]] = {}
    for submission in class_.graded:
        try:
            written.append((submission.folder, _json(platforms.classroom50(submission, where))))
        except ExportError as error:
            refused.setdefault(error.why, []).append(error.folder)
    # Grouped: a download without times refuses a whole class for one reason.
    _say([*class_.lines, *(f"{some(folders)}: {why}" for why, folders in refused.items())])
    if not written:
        usage(f"{intake}: no result can be written, for the reasons above")
    for folder, result in written:
        _write(out / f"{folder}.json", result, "", force)
    say(f"{out}: {len(written)} results for Classroom 50")
    _end(class_)


@app.command()
def junit(
    results: Results, out: Out, student: Students = None, only: Only = "", course: Course = COURSE,
    force: Force = False,
) -> None:
    """Write every check as JUnit XML, a suite for each student. For dashboards only: grades are never read from it."""
    class_ = _class(results, course, students=student or (), only=only)
    _say(class_.lines)
    _write(out, platforms.junit(class_.graded), f"the checks of {len(class_.graded)} students", force)
    _end(class_)


@app.command("csv")
def table(
    results: Results, out: Out, only: Only = "", intake: Intake = None, roster: Roster = None,
    course: Course = COURSE,
    excel: Annotated[bool, typer.Option("--excel", help="Begin with a byte order mark, which Excel needs.")] = False,
    force: Force = False,
) -> None:
    """Write a row for each person: name, time, late or not, grade, points and verdict of each assignment."""
    class_ = _class(results, course, intake, roster, only=only)
    _say(class_.lines)
    people = sum(len(submission.members) for submission in class_.graded)
    without = len(class_.missing) + sum(map(len, class_.broken.values()))
    _write(out, ((BOM if excel else "") + class_table(class_)).encode(),
           f"{people} people with a result, {without} without", force)
    _end(class_)


@app.command()
def jplag(
    submissions: Annotated[Path, typer.Argument(help="A folder of students' folders, as intake writes it.")],
    out: Annotated[Path, typer.Option(help="The folder to make.")], course: Course = COURSE,
) -> None:
    """Arrange submissions for JPlag, Dolos or MOSS: a folder for each, and the stubs as base code."""
    # Late, see moodle_feedback.
    from grader.classroom.exports.bundles import jplag as write_jplag

    if out.exists():
        usage(f"{out}: already exists; choose a new folder")
    with advised("choose a writable folder"):
        known = catalogue.files()
        names = read_course(course, frozenset(known)).select(known, ())
        count, lines = write_jplag(submissions, {name: known[name] for name in names}, out)
    _say(lines)
    say(f"{out}: {count} submissions and the stubs. JPlag:")
    for suffix in sorted({path.suffix for path in out.glob("submissions/*/*")} & set(languages.suffixes())):
        language = languages.by_suffix(suffix).jplag
        say(f"java -jar jplag.jar -l {language} -p {suffix} -r {out}/{language} -bc {out}/base {out}/submissions")


def _class(
    results: Path, course: Path, intake: Path | None = None, roster: Path | None = None, students: Sequence[str] = (),
    only: str = "",
) -> Class:
    """Return the class. If attempts are recorded, its results are theirs, and its grades follow the policy of the
    `course`."""
    rules = read_course(course, frozenset(catalogue.files()))
    wanted = Selection(students, rules.assignments, names_in(only))
    manifest, people = read_manifest(intake) if intake else None, read_roster(roster) if roster else None
    if not (results / FOLDER).is_dir():
        return read_class(results, manifest, people, wanted=wanted)
    with Store.existing(results) as store:
        counting = select_attempts(store.attempts(), store.decisions()).values()
        judged = complete_results(store, results, rules.late)
        given = marks_in_roster(store.marks(), people or (), manifest)
    selected = as_in_roster([*counting], people or (), manifest)
    marks = grades(selected, rules, people or (), given)
    class_ = read_class(results, manifest, people, ClassRecord(
        judged, {hand_in.attempt.slug: hand_in.attempt.members for hand_in in selected},
        {grade.student.casefold(): grade for grade in marks}), wanted)
    class_.lines += [*strangers(course, rules, marks), *nobodys(given, marks)]
    return class_


def _end(class_: Class) -> None:
    """End a command whose file is written with the status of a failure, if a result could not be read."""
    if class_.damaged:
        raise typer.Exit(INFRASTRUCTURE_ERROR)


def _json(content: object) -> bytes:
    return (json.dumps(content, ensure_ascii=False, indent=1) + "\n").encode()


def _say(lines: Iterable[str]) -> None:
    for line in lines:
        complain(printable(line))


def _write(out: Path, content: bytes, description: str, force: bool) -> None:
    """Write a file, and print what it holds."""
    if str(out) == "-":
        usage("--out -: is not for standard output; name a file")
    if out.is_file() and not force:
        usage(f"--out {out}: already exists; choose another name or pass --force")
    try:
        # The user names the path: a link stands for the file that it leads to.
        replace(Path(os.path.realpath(out)), content)
    except OSError as error:
        usage(f"--out {failed(error, out)}")
    if description:
        say(f"{out}: {description}")
