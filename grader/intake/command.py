"""`kernelmark intake`: what it takes, and what it says."""

from __future__ import annotations

import contextlib
import shlex
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table
from rich.text import Text

from grader.console import console, say, usage
from grader.intake import kinds
from grader.intake.found import WORK, IntakeError, is_archive
from grader.intake.manifest import FILE
from grader.intake.people import names
from grader.model import catalogue
from grader.model.course import CourseError, read_course
from grader.model.submission import file_in, in_any_language, printable

if TYPE_CHECKING:
    from grader.intake.main import Options
    from grader.intake.manifest import HandIn, Kind, Left, Manifest, Member
    from grader.model.roster import Student


def intake(
    source: Annotated[Path, typer.Argument(help="A download, as a zip or unpacked; folders, archives or git clones.")],
    into: Annotated[Path | None, typer.Option(help="The folder to make, with a folder for each submission.")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what would be taken, and write nothing.")] = False,
    roster: Annotated[Path | None, typer.Option(
        help="roster.csv: id, name, email, section, late_days. Says who is missing and who is unknown.")] = None,
    groups: Annotated[Path | None, typer.Option(
        help="A CSV file of group and id, where the source names one member of a group alone.")] = None,
    deadline: Annotated[str | None, typer.Option(
        help="A time with a zone, 2026-03-01T23:59+01:00. What came later is marked late; of a git clone the last "
             "commit by then is taken.")] = None,
    pattern: Annotated[str | None, typer.Option(
        help="A regular expression for paths below SOURCE, with groups such as (?P<id>…), name, email, section, file, "
             "time, late.")] = None,
    course: Annotated[Path, typer.Option(help="Whose files are looked for.")] = catalogue.COURSE,
    force: Annotated[bool, typer.Option("--force", help="Replace a folder that an intake wrote earlier.")] = False,
) -> None:
    """Make of a download a folder that can be graded, and say whose each file is, what is left, and why.

    A download from Canvas, Gradescope or Moodle, folders, archives or git clones are recognised. An archive that cannot
    be read costs nobody but its owner anything. intake.json in the new folder keeps what was said.
    """
    from grader.intake import main
    from grader.intake.people import read_groups
    from grader.model.roster import RosterError, read_roster

    try:
        known = catalogue.files()
        chosen = read_course(course, frozenset(known)).select(known, ())
        options = main.Options(
            {name: known[name] for name in chosen}, read_roster(roster) if roster else None,
            read_groups(groups) if groups else None, pattern,
            kinds.instant(deadline, "--deadline") if deadline else None)
        if into is None and not dry_run:
            raise IntakeError("--into: the folder to make expected, or --dry-run")
        if into is not None and not dry_run:
            main.may_be_written(into, force=force)
            if (inner := _inside(source, into)) is not None:
                raise IntakeError(f"--into {into}: lies {inner}; a folder beside it expected")
        parent = None if dry_run or into is None else into.absolute().parent
        if parent is not None:
            parent.mkdir(parents=True, exist_ok=True)
        with main.taken_in(source, options, parent) as (found, made):
            if dry_run:
                console.print(_table(found, options.known))
            elif into is not None:
                main.place(made, into, force=force)
    except (IntakeError, RosterError, CourseError) as error:
        usage(printable(str(error)))
    except OSError as error:
        # What is being made has a name that nobody gave.
        where = into if WORK in str(error.filename or WORK) else error.filename
        usage(printable(f"{where or 'temporary folder'}: {error.strerror}; what can be read and written expected"))
    for line in _said(found, options, main.twice(found)):
        say(line)
    if into is not None and not dry_run:
        say(f"{into}: {_many(len(found.submissions), 'submission')}; its {FILE} says what was left and why. "
            f"Next: kernelmark grade {shlex.quote(str(into))}")


def fitting(source: Path, known: Mapping[str, str]) -> str | None:
    """Why a source has to be taken in before it is graded, with the command; None where it can be graded as it is."""
    try:
        if source.is_file() and is_archive(source.name):
            into, kind = source.with_name(source.name.partition(".")[0] or "class"), "an archive"
        elif source.is_dir() and not any(
                (source / file_in(source, file)).exists() for file in known.values()):
            from grader.intake.main import opened

            found = kinds.recognise(opened(source, source)[0])
            if found not in ("canvas", "gradescope", "moodle", "archives"):
                return None
            # `.` and `..` have no name.
            named = source if source.name not in ("", "..") else source.resolve()
            into, kind = named.with_name(f"{named.name}-class"), kinds.WORDS[found]
        else:
            return None
    except (IntakeError, OSError):
        return None
    return printable(f"{source}: is {kind}; a folder of students' folders expected: "
                     f"{shlex.join(['kernelmark', 'intake', str(source), '--into', str(into)])}")


def remembered(folder: Path, names: Collection[str]) -> list[str]:
    """What the intake that wrote a folder could not read of these students' folders, a line each; nothing where none
    did."""
    from grader.intake.manifest import ManifestError, read_manifest

    if not (folder / FILE).is_file():
        return []
    try:
        return [printable(f"{one.folder}: {problem}") for one in read_manifest(folder).submissions
                if one.folder in names for problem in one.problems]
    except ManifestError:
        # Planning refuses to go on.
        return []


def folders(folder: Path, names: Sequence[str]) -> list[str]:
    """The names with the id of a member, or what the source calls one, replaced by the folders that are theirs."""
    from grader.intake.manifest import ManifestError, read_manifest

    of: dict[str, list[str]] = {}
    if names and (folder / FILE).is_file():
        with contextlib.suppress(ManifestError):
            for one in read_manifest(folder).submissions:
                for key in {key for member in one.members for key in (member.id, member.source_id)}:
                    of.setdefault(key, []).append(one.folder)
                of[one.folder] = [one.folder]
    return [one for name in names for one in of.get(name, [name])]


def _inside(source: Path, into: Path) -> str | None:
    inner, outer = into.resolve(), source.resolve()
    if source.is_dir() and inner.is_relative_to(outer):
        return "in SOURCE"
    return "around SOURCE" if outer.is_relative_to(inner) else None


def _table(found: Manifest, known: Mapping[str, str]) -> Table:
    table = Table(box=None, pad_edge=False)
    for heading in ("who", "handed in", "taken", "left, and why"):
        table.add_column(heading, overflow="fold", no_wrap=heading == "handed in")
    nobody = _nobodys(found, known)
    for one in found.submissions:
        missing = [file for file in _untaken(one.taken, known) if file not in nobody]
        taken = [file if (name := _handed_in(one, origin, found.kind, known)) == file else f"{file} ← {name}"
                 for file, origin in one.taken.items()]
        table.add_row(Text(", ".join(map(_who, one.members))), Text(_when(one)), Text("\n".join(
            [*taken, *([f"missing: {', '.join(missing)}"] if missing else [])])), Text("\n".join(
                [*one.problems, *_why(one.left)])))
    return table


def _handed_in(one: HandIn, origin: str, kind: Kind, known: Mapping[str, str]) -> str:
    """The name of a file that was taken, without what the platform put before it."""
    if kind == "canvas":
        return kinds.uploaded(origin, [name for file in known.values() for name in in_any_language(file)])
    if kind == "git":
        # The commit.
        return origin.partition("/")[2] or origin
    return next((origin.removeprefix(f"{whole}/") for whole in one.origin if kind == "archives"), origin)


def _nobodys(found: Manifest, known: Mapping[str, str]) -> list[str]:
    """The course's files that are in no submission, where some others are: a download is mostly of a few kernels."""
    taken = {file for one in found.submissions for file in one.taken}
    return _untaken(taken, known) if taken else []


def _untaken(taken: Collection[str], known: Mapping[str, str]) -> list[str]:
    """The course's files that are not there in any language."""
    return [file for file in known.values() if not any(name in taken for name in in_any_language(file))]


def _said(found: Manifest, options: Options, twice: Sequence[str]) -> list[str]:
    """What a TA has to know of an intake, a line each."""
    people = sum(len(one.members) for one in found.submissions)
    late = sum(bool(one.late) for one in found.submissions)
    lines = [f"{found.source} is {kinds.WORDS[found.kind]}: {_many(len(found.submissions), 'submission')}"
             f"{f' of {people} people' if people != len(found.submissions) else ''}{f', {late} late' if late else ''}."]
    for one in found.submissions:
        if one.taken:
            meant = _why(left for left in one.left if left.meant)
            lines += [printable(f"{one.folder}: {problem}") for problem in (*one.problems, *meant)]
        else:
            why = "; ".join([*one.problems, *_why(one.left)])
            lines.append(printable(f"{one.folder}: nothing to grade: {why or 'no file'}"))
    if nobody := _nobodys(found, options.known):
        lines.append(f"Handed in by nobody: {', '.join(nobody)}")
    if found.left:
        lines.append(printable(f"In no submission: {'; '.join(_why(found.left))}"))
    if twice:
        lines.append(printable(f"In more than one submission: {', '.join(twice)}"))
    if options.deadline and not any(one.submitted_at for one in found.submissions):
        lines.append("--deadline: the source says of no submission when it was handed in, so that none is late by it")
    here = {member.id.casefold() for one in found.submissions for member in one.members}
    if idle := [name for name, ids in (options.groups or {}).items() if here.isdisjoint(map(str.casefold, ids))]:
        lines.append(printable(f"Groups without a submission: {', '.join(idle)}"))
    if options.roster is not None:
        either, several = _of_one_name(found)
        missing = [member for member in found.missing if member.id not in several]
        unknown = [_stranger(one, options.roster) for one in found.submissions if one.folder in found.unknown]
        lines.append(printable(f"Missing: {', '.join(map(_who, missing)) or 'nobody'}"))
        lines.append(printable(f"Not in the roster: {', '.join(unknown) or 'nobody'}"))
        lines += either
    return lines


def _stranger(one: HandIn, roster: Sequence[Student]) -> str:
    """A submission's folder, with the ids that the roster lacks where these are others."""
    known = {student.id.casefold() for student in roster}
    ids = [member.id for member in one.members if member.id.casefold() not in known]
    return one.folder if ids == [one.folder] else f"{one.folder} ({', '.join(ids)})"


def _of_one_name(found: Manifest) -> tuple[list[str], set[str]]:
    """A line for each submission whose owner's name several of the missing have; and the ids of these."""
    lines, ids = [], set[str]()
    for one in found.submissions:
        called = set[str]().union(*(names(member.name) for member in one.members))
        several = [member for member in found.missing if names(member.name) & called]
        if one.folder in found.unknown and len(several) > 1:
            ids |= {member.id for member in several}
            lines.append(printable(f"{one.folder}: {' or '.join(map(_who, several))}; the source's id expected in the "
                                   f"roster: {', '.join(member.source_id for member in one.members)}"))
    return lines, ids


def _who(member: Member) -> str:
    return printable(f"{member.id} ({member.name})" if member.name and member.name != member.id else member.id)


def _when(one: HandIn) -> str:
    return " ".join(filter(None, (one.submitted_at or ("" if one.late else "–"), "late" if one.late else "")))


def _why(left: Iterable[Left]) -> list[str]:
    """What was left, those of one reason together."""
    reasons: dict[str, list[str]] = {}
    for one in left:
        reasons.setdefault(one.why, []).append(one.name)
    return [f"{', '.join(names)}: {why}" for why, names in reasons.items()]


def _many(count: int, what: str) -> str:
    return f"{count} {what}{'' if count == 1 else 's'}"
