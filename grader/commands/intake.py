"""The command `kernelmark intake`, and the lines that it prints."""

from __future__ import annotations

import shlex
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table
from rich.text import Text

from grader import home
from grader.classroom.intake import kinds
from grader.classroom.intake.manifest import (
    FILE,
    WORK,
    Kind,
    Manifest,
    ManifestEntry,
    Member,
    OmittedFile,
    is_archive,
    read_manifest,
)
from grader.classroom.intake.people import Register, names, read_groups
from grader.console import COURSE, console, course_option, failed, say, usage
from grader.course import catalogue
from grader.course.course import read_course
from grader.course.forms import in_any_language, written_files
from grader.course.roster import Student, read_roster
from grader.course.submission import file_in, printable
from grader.errors import UserError
from grader.results.hidden import RECORDS
from grader.results.text import compose, plural

# The most lines of one kind. If there are more submissions, one line sums them up.
MOST_LINES = 3
# The most reasons that are printed for one submission; intake.json has all of them.
MOST_REASONS = 6
NAME_LENGTH, REASON_LENGTH = 120, 800

if TYPE_CHECKING:
    from grader.classroom.intake.main import IntakeOptions


def intake(
    source: Annotated[Path, typer.Argument(help="A download, as a zip or unpacked; folders, archives or git clones.")],
    into: Annotated[Path | None, typer.Option(help="The folder to make, with a folder for each submission.")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what would be taken, and write nothing.")] = False,
    roster: Annotated[Path | None, typer.Option(
        help="roster.csv: id, name, email, section, late_days; or as Canvas, Moodle or Classroom 50 gives it. Reports "
             "who is missing and who is unknown.")] = None,
    groups: Annotated[Path | None, typer.Option(
        help="A CSV file with the columns group and id, if SOURCE names only one member of each group.")] = None,
    deadline: Annotated[str | None, typer.Option(
        help="A time with a zone, 2026-03-01T23:59+01:00. Later submissions are marked late; from a git clone, the "
             "last commit before the deadline is taken.")] = None,
    pattern: Annotated[str | None, typer.Option(
        help="A regular expression for paths below SOURCE, with groups such as (?P<id>…), name, email, section, file, "
             "time, late.")] = None,
    course: Annotated[Path, course_option("The course file, whose assignments are looked for.")] = COURSE,
    force: Annotated[bool, typer.Option("--force", help="Replace a folder that an intake wrote earlier.")] = False,
) -> None:
    """Turn a download into a folder that can be graded; report whose each file is, and what is left out and why.

    Recognises downloads from Canvas, Gradescope and Moodle, folders, archives and git clones. An archive that cannot be
    read affects only its owner. intake.json in the new folder keeps the whole report.
    """
    # Late: it needs fcntl, which systems other than Linux may lack.
    from grader.classroom.intake import main

    try:
        known = catalogue.files()
        chosen = read_course(course, frozenset(known)).select(known, ())
        options = main.IntakeOptions(
            {name: known[name] for name in chosen}, read_roster(roster) if roster else None,
            read_groups(groups) if groups else None, pattern,
            kinds.instant(deadline, "--deadline") if deadline else None, str(course.resolve()))
        if (source / RECORDS).is_dir():
            raise UserError(f"{source}: is a folder of results; name a download, or a folder of submissions")
        if into is None and not dry_run:
            raise UserError("--into: not given; name the folder to make, or pass --dry-run")
        if into is not None and not dry_run:
            main.may_be_written(into, force=force)
            if (inner := _inside(source, into)) is not None:
                raise UserError(f"--into {into}: lies {inner}; choose a folder beside it")
        parent = None if dry_run or into is None else into.absolute().parent
        if parent is not None:
            parent.mkdir(parents=True, exist_ok=True)
        with main.taken_in(source, options, parent) as (manifest, path):
            if dry_run:
                console.print(_table(manifest, options.known))
            elif into is not None:
                main.place(path, into, force=force)
    except OSError as error:
        # The folder under construction has a name that the user did not choose.
        where = into or "temporary folder" if WORK in str(error.filename or WORK) else error.filename
        usage(failed(error, where))
    for line in _report(manifest, options, main.twice(manifest)):
        say(line)
    if into is not None and not dry_run:
        say(f"{into}: {plural(len(manifest.submissions), 'submission')}; its {FILE} says what was left out and why. "
            f"Next: kernelmark grade {shlex.quote(str(into))}")


def fitting(source: Path, known: Mapping[str, str]) -> str | None:
    """Return the reason why a source needs an intake before it is graded, with the command for it; None if it can be
    graded as it is."""
    try:
        if source.is_file() and is_archive(source.name):
            into, kind = source.with_name(source.name.partition(".")[0] or "class"), "an archive"
        elif source.is_dir() and not any(
                (source / file_in(source, file)).exists() for file in known.values()):
            # Late, see intake.
            from grader.classroom.intake.main import opened

            recognised = kinds.recognise(opened(source, source)[0])
            if recognised not in ("canvas", "gradescope", "moodle", "archives"):
                return None
            # `.` and `..` have no name.
            folder = source if source.name not in ("", "..") else source.resolve()
            into, kind = folder.with_name(f"{folder.name}-class"), kinds.WORDS[recognised]
        else:
            return None
    except (UserError, OSError):
        return None
    return printable(f"{source}: is {kind}; take it in first: "
                     f"{shlex.join(['kernelmark', 'intake', str(source), '--into', str(into)])}")


def earlier_problems(folder: Path, names: Collection[str]) -> list[str]:
    """Return a line for each problem that an intake reported about these students' folders; empty if no intake wrote
    the folder."""
    if not (folder / FILE).is_file():
        return []
    return [printable(f"{entry.folder}: {problem}") for entry in read_manifest(folder).submissions
            if entry.folder in names for problem in _few(entry.problems)]


def foreign(folder: Path, course: Path) -> str | None:
    """Return the reason why a folder that an intake wrote does not fit this course, which the user did not name; None
    if it fits.

    If the intake's course file is not on this machine, the course that was found may be a copy of it, and fits.
    """
    if not (folder / FILE).is_file():
        return None
    taken_for = Path(read_manifest(folder).course)
    differs = taken_for.is_absolute() and taken_for != course.resolve()
    if not differs or not (taken_for.is_file() or home.here().shipped):
        return None
    return printable(f"{folder}: taken in for the course {taken_for}, and this is {course}; run this in the folder "
                     f"{taken_for.parent}, or pass --course")


def folders(folder: Path, names: Sequence[str]) -> list[str]:
    """Replace each name that is a member's id, in the roster or in the source, by the member's folders."""
    of: dict[str, list[str]] = {}
    if names and (folder / FILE).is_file():
        for entry in read_manifest(folder).submissions:
            for key in {key for member in entry.members for key in (member.id, member.source_id)}:
                of.setdefault(key, []).append(entry.folder)
            of[entry.folder] = [entry.folder]
    return [member_folder for name in names for member_folder in of.get(compose(name), [name])]


def _inside(source: Path, into: Path) -> str | None:
    inner, outer = into.resolve(), source.resolve()
    if source.is_dir() and inner.is_relative_to(outer):
        return "in SOURCE"
    return "around SOURCE" if outer.is_relative_to(inner) else None


def _table(manifest: Manifest, known: Mapping[str, str]) -> Table:
    table = Table(box=None, pad_edge=False)
    for heading in ("who", "handed in", "taken", "left out, and why"):
        table.add_column(heading, overflow="fold", no_wrap=heading == "handed in")
    nobody = _nobodys(manifest, known)
    for entry in manifest.submissions:
        missing = [file for file in _untaken(entry.taken, known) if file not in nobody]
        taken = [file if (name := _handed_in(entry, origin, manifest.kind, known)) == file else f"{file} ← {name}"
                 for file, origin in entry.taken.items()]
        when = filter(None, (entry.submitted_at or ("" if entry.late else "–"), "late" if entry.late else ""))
        table.add_row(Text(", ".join(map(_who, entry.members))), Text(" ".join(when)), Text("\n".join(
            [*taken, *([f"missing: {', '.join(missing)}"] if missing else [])])), Text("\n".join(
                [*_few(entry.problems), *_reasons(entry.left)])))
    return table


def _handed_in(entry: ManifestEntry, origin: str, kind: Kind, known: Mapping[str, str]) -> str:
    """Return the name of a taken file as its student knows it, without what the platform added."""
    if kind == "canvas":
        return kinds.uploaded_name(origin, written_files(known.values()))
    if kind == "git":
        # The first part of the path is the commit.
        return origin.partition("/")[2] or origin
    return next((origin.removeprefix(f"{whole}/") for whole in entry.origin if kind == "archives"), origin)


def _nobodys(manifest: Manifest, known: Mapping[str, str]) -> list[str]:
    """Return the course's files that no submission has; none if no submission has any file. Many downloads are of one
    assignment alone, which lacks the files of all others."""
    taken = {file for entry in manifest.submissions for file in entry.taken}
    return _untaken(taken, known) if taken else []


def _untaken(taken: Collection[str], known: Mapping[str, str]) -> list[str]:
    """Return the course's files that are missing in every language."""
    return [file for file in known.values() if not any(name in taken for name in in_any_language(file))]


def _report(manifest: Manifest, options: IntakeOptions, twice: Sequence[str]) -> list[str]:
    """Return the report of an intake for the TA, as lines."""
    people = sum(len(entry.members) for entry in manifest.submissions)
    late = sum(bool(entry.late) for entry in manifest.submissions)
    count = len(manifest.submissions)
    lines = [f"{manifest.source} is {kinds.WORDS[manifest.kind]}: {plural(count, 'submission')}"
             f"{f' of {people} people' if people != count else ''}{f', {late} late' if late else ''}."]
    for entry in manifest.submissions:
        if entry.taken:
            lines += [printable(f"{entry.folder}: {problem}") for problem in _few(entry.problems)]
        else:
            why = "; ".join([*_few(entry.problems), *_reasons(entry.left)])
            lines.append(printable(f"{entry.folder}: nothing to grade: {why or 'no file'}"))
    lines += _of_notebooks(manifest)
    lines += _may_be_meant(manifest)
    if nobody := _nobodys(manifest, options.known):
        lines.append(f"Handed in by nobody: {', '.join(nobody)}")
    if manifest.left:
        lines.append(printable(f"In no submission: {'; '.join(_reasons(manifest.left))}"))
    if twice:
        lines.append(printable(f"In more than one submission: {', '.join(twice)}"))
    if options.deadline and not any(entry.submitted_at for entry in manifest.submissions):
        lines.append("--deadline: the source has no submission times, so no submission is marked late")
    here = {member.id.casefold() for entry in manifest.submissions for member in entry.members}
    register = Register(options.roster or (), options.groups or {})
    if idle := [name for name, ids in register.groups.items() if here.isdisjoint(map(str.casefold, ids))]:
        lines.append(printable(f"Groups without a submission: {', '.join(idle)}"))
    if options.roster is not None:
        either, several = _of_one_name(manifest)
        missing = [member for member in manifest.missing if member.id not in several]
        unknown = [_stranger(entry, options.roster) for entry in manifest.submissions
                   if entry.folder in manifest.unknown]
        lines.append(printable(f"Missing: {', '.join(map(_who, missing)) or 'nobody'}"))
        lines.append(printable(f"Not in the roster: {', '.join(unknown) or 'nobody'}"))
        if lost := [member for member in register.strangers if member.casefold() not in here]:
            lines.append(printable(f"Not in the roster, of groups without a submission: {', '.join(lost)}"))
        lines += either
    return lines


def _of_notebooks(manifest: Manifest) -> list[str]:
    """Return a line for each submission with files from a notebook; one line for all if there are many."""
    entries = [entry for entry in manifest.submissions if entry.notes]
    if len(entries) > MOST_LINES:
        names = _some_names(entry.folder for entry in entries)
        return [printable(f"From notebooks: {names}; {FILE} and each report say which cells")]
    return [printable(f"{entry.folder}: {' '.join(entry.notes)}") for entry in entries]


def _may_be_meant(manifest: Manifest) -> list[str]:
    """Return a line for each submission with left-out files that may be meant for missing ones, with the reason; one
    line for all if there are many."""
    meant = {entry.folder: [left for left in entry.left if left.meant] for entry in manifest.submissions if entry.taken}
    files = {folder: left for folder, left in meant.items() if left}
    if len(files) > MOST_LINES:
        said = (f"{folder} ({_some_names(item.name for item in left)})" for folder, left in files.items())
        return [printable(f"Perhaps meant for missing files, and left out: {_some_names(said)}; {FILE} says why")]
    return [printable(f"{folder}: {why}") for folder, left in files.items() for why in _reasons(left)]


def _some_names(names: Iterable[str]) -> str:
    """Return the names as `ann, bo, cy and 39 more`."""
    listed = [*names]
    few = listed if len(listed) <= MOST_LINES + 1 else listed[:MOST_LINES]
    more = f" and {len(listed) - len(few):,} more" if few is not listed else ""
    return ", ".join(_cut(name, NAME_LENGTH) for name in few) + more


def _stranger(entry: ManifestEntry, roster: Sequence[Student]) -> str:
    """Return a submission's folder, and its ids that the roster lacks unless the folder's name is the only one."""
    known = {student.id.casefold() for student in roster}
    ids = [member.id for member in entry.members if member.id.casefold() not in known]
    return entry.folder if ids == [entry.folder] else f"{entry.folder} ({', '.join(ids)})"


def _of_one_name(manifest: Manifest) -> tuple[list[str], set[str]]:
    """Return a line for each submission whose unknown owner has the same name as several missing students, and the ids
    of these students."""
    lines, ids = [], set[str]()
    for entry in manifest.submissions:
        called = set[str]().union(*(names(member.name) for member in entry.members))
        several = [member for member in manifest.missing if names(member.name) & called]
        if entry.folder in manifest.unknown and len(several) > 1:
            ids |= {member.id for member in several}
            ids_there = ", ".join(member.source_id for member in entry.members)
            lines.append(printable(f"{entry.folder}: {' or '.join(map(_who, several))}; give the right one the "
                                   f"source's id in the roster: {ids_there}"))
    return lines, ids


def _who(member: Member) -> str:
    return printable(f"{member.id} ({member.name})" if member.name and member.name != member.id else member.id)


def _reasons(left: Iterable[OmittedFile]) -> list[str]:
    """Return the left-out files, grouped by reason. Only the first of many names and reasons are returned."""
    reasons: dict[str, list[str]] = {}
    for item in left:
        reasons.setdefault(item.why, []).append(item.name)
    return _few([f"{_some_names(names)}: {why}" for why, names in reasons.items()])


def _few(lines: Sequence[str]) -> list[str]:
    more = [f"and {len(lines) - MOST_REASONS:,} more, in {FILE}"] if len(lines) > MOST_REASONS else []
    return [*(_cut(line, REASON_LENGTH) for line in lines[:MOST_REASONS]), *more]


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[:most // 2]}…{text[-most // 2:]}"
