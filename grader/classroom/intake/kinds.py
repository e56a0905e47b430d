"""The kinds of sources: how to recognise each one, and how to read the names of its files, also by a pattern that the
user gives."""

from __future__ import annotations

import datetime
import itertools
import os
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import Any

from grader.classroom.intake import git
from grader.classroom.intake.manifest import (
    Kind,
    Member,
    OmittedFile,
    RawPart,
    RawSource,
    RawSubmission,
    entries,
    is_archive,
)
from grader.course.notebooks import NOTEBOOK
from grader.course.workspace import meant_assignment
from grader.errors import UserError, advised

METADATA = "submission_metadata.yml"
WORDS: dict[Kind, str] = {
    "folders": "a folder of students' folders", "archives": "a folder of students' archives",
    "canvas": "a download from Canvas", "gradescope": "an export from Gradescope",
    "moodle": "a download from Moodle", "git": "git clones", "pattern": "files named by --pattern",
}

_ANONYMOUS = re.compile(
    r"(?P<late>LATE_)?(?P<name>anon)_(?!LATE_)(?P<user>[0-9A-Za-z]+)_(?P<upload>\d+)_(?P<file>.+)", re.S)
_CANVAS = re.compile(r"(?P<name>.*?)(?P<late>_LATE)?_(?P<user>\d+)_(?P<upload>\d+)_(?P<file>.+)", re.S)
# Text and links that were typed in are not uploads, so they may lack an upload's number.
_TYPED = re.compile(r"(?P<name>.*?)(?P<late>_LATE)?_(?P<user>\d+)(?:_\d+)?_(?:text|link)\.html", re.S)
_AGAIN = re.compile(r"-\d+(?=\.[^.]+$)")
_MOODLE = re.compile(
    r"(?P<name>.+?)_(?P<participant>\d+)_assignsubmission_(?P<what>file|onlinetext)_?(?P<rest>.*)", re.S)
_INSTANT = re.compile(r"(\d{4}-\d\d-\d\d)[ T](\d\d:\d\d:\d\d)(?:\.\d+)? ?(Z|UTC|[+-]\d\d:?\d\d)")


def recognise(folder: Path) -> Kind | None:
    """Return the kind of source that a folder is; None if it is none of the known kinds."""
    names = entries(folder)
    folders = [entry for entry in names if entry.is_dir()]
    files = [entry.name for entry in names if not entry.is_dir()]
    if METADATA in files:
        return "gradescope"
    # A majority of names decides, so that a README among them does no harm.
    if sum(bool(_MOODLE.fullmatch(entry.name)) for entry in names) * 2 > len(names):
        return "moodle"
    if sum(bool(_of_canvas(name)) for name in files) * 2 > len(names):
        return "canvas"
    if folders and sum(git.is_clone(Path(entry.path)) for entry in folders) * 2 > len(folders):
        return "git"
    if folders:
        return "folders"
    return "archives" if any(map(is_archive, files)) else None


def read(kind: Kind, folder: Path, files: Collection[str], *, work: Path,
         deadline: datetime.datetime | None = None) -> RawSource:
    """Return the submissions in a folder of this kind. `files` are the file names that the course expects; `work` is an
    empty folder for temporary files. Raises UserError."""
    if kind == "git":
        return git.read(folder, work, deadline)
    if kind == "canvas":
        return _canvas(folder, files)
    return {"folders": _folders, "archives": _folders, "moodle": _moodle, "gradescope": _gradescope}[kind](folder)


def instant(text: str, where: str) -> datetime.datetime:
    """Parse a time with a zone. Raises UserError; its message begins with `where`."""
    try:
        if (time := datetime.datetime.fromisoformat(text)).tzinfo is not None:
            return time
    except ValueError:
        pass
    raise UserError(f"{where}: {text!r} is no time with a zone; give one such as 2026-03-01T23:59+01:00")


def _folders(folder: Path) -> RawSource:
    submissions: list[RawSubmission] = []
    left: list[OmittedFile] = []
    for entry in entries(folder):
        path = Path(entry.path)
        if not path.is_dir() and not is_archive(entry.name):
            left.append(OmittedFile(name=entry.name, why="in no student's folder"))
            continue
        name = entry.name if path.is_dir() else re.sub(r"\.(tar\.)?\w+$", "", entry.name)
        part = RawPart(path, "" if path.is_dir() else entry.name, entry.name)
        submissions.append(RawSubmission(name, [Member(id=name, source_id=name)], [part], origin=[entry.name]))
    return RawSource(submissions, left)


def _of_canvas(name: str) -> re.Match[str] | None:
    return _ANONYMOUS.fullmatch(name) or _CANVAS.fullmatch(name) or _TYPED.fullmatch(name)


def uploaded_name(name: str, files: Collection[str]) -> str:
    """Return the name of a student's file without what Canvas added to it."""
    whole, *inner = name.partition("/")
    match = _of_canvas(whole)
    group = match.groupdict() if match else {}
    return _without_number(group["file"], files) + "".join(inner) if group.get("file") else name


def _without_number(file: str, files: Collection[str]) -> str:
    """Remove the number that Canvas adds to a file that is handed in again: `silu-1.py`. Only done if the result is one
    of `files`, since `part-1.zip` may be the student's own name."""
    name = _AGAIN.sub("", file)
    return name if name in files else file


def _canvas(folder: Path, files: Collection[str]) -> RawSource:
    submissions: dict[str, RawSubmission] = {}
    left: list[OmittedFile] = []
    uploads: dict[tuple[str, str], tuple[int, RawPart]] = {}
    for entry in entries(folder):
        match = _of_canvas(entry.name)
        if match is None or entry.is_dir():
            left.append(OmittedFile(name=entry.name, why="not a name that Canvas gives to files"))
            continue
        group = match.groupdict()
        user = group["user"]
        submission = submissions.setdefault(user, RawSubmission(
            f"{group['name']}_{user}", [Member(id=user, name=group["name"], source_id=user)], late=False))
        submission.origin.append(entry.name)
        submission.late = submission.late or bool(group["late"])
        if "file" not in group or re.fullmatch(r"(text|link)\.html", group["file"]):
            submission.left.append(OmittedFile(name=entry.name, why="text or a link that was typed in; hand in a file"))
            continue
        name = _without_number(group["file"], files)
        new = int(group["upload"]), RawPart(Path(entry.path), name, entry.name)
        old = uploads.get((user, name), new)
        uploads[user, name] = max(old, new, key=lambda upload: upload[0])
        if old is not new:
            earlier = min(old, new, key=lambda upload: upload[0])
            submission.left.append(OmittedFile(name=earlier[1].shown, why=f"an earlier upload of {name}"))
    for (user, _), (_, part) in uploads.items():
        submissions[user].parts.append(part)
    return RawSource(list(submissions.values()), left)


def _moodle(folder: Path) -> RawSource:
    submissions: dict[str, RawSubmission] = {}
    left: list[OmittedFile] = []
    for entry in entries(folder):
        match = _MOODLE.fullmatch(entry.name)
        if match is None:
            left.append(OmittedFile(name=entry.name, why="not a name that Moodle gives to submissions"))
            continue
        name, participant, content, rest = match.groups()
        submission = submissions.setdefault(participant, RawSubmission(
            f"{name}_{participant}", [Member(id=participant, name=name, source_id=participant)]))
        submission.origin.append(entry.name)
        path = Path(entry.path)
        if content == "onlinetext":
            submission.left.append(OmittedFile(name=entry.name, why="text that was typed in; hand in a file"))
        else:
            submission.parts.append(RawPart(path, "" if path.is_dir() else rest or entry.name, entry.name))
    return RawSource(list(submissions.values()), left)


def _gradescope(folder: Path) -> RawSource:
    submissions: list[RawSubmission] = []
    left: list[OmittedFile] = []
    metadata = _metadata(folder / METADATA)
    for entry in entries(folder):
        about = metadata.pop(entry.name, None)
        if entry.name == METADATA:
            continue
        if not entry.is_dir() or (about is None and not entry.name.startswith("submission_")):
            left.append(OmittedFile(name=entry.name, why=f"no submission that {METADATA} lists"))
            continue
        number = entry.name.removeprefix("submission_")
        members = [Member(id=person.get("sid") or person.get("email") or person["name"], name=person.get("name", ""),
                          email=person.get("email", ""), source_id=person.get("sid", ""))
                   for person in _submitters(about)]
        time = _INSTANT.fullmatch(_text((about or {}).get("created_at")))
        at = None
        if time:
            zone = "+00:00" if time[3] in ("Z", "UTC") else time[3]
            at = datetime.datetime.fromisoformat(f"{time[1]}T{time[2]}{zone}").isoformat()
        problems = [] if about is not None else [f"{entry.name} is not listed in {METADATA}: its owner is unknown"]
        # Named after its members: the number of a submission changes when they hand in again.
        who = "+".join(sorted(member.id for member in members))
        submissions.append(RawSubmission(
            who or entry.name, members or [Member(id=number, source_id=number)],
            [RawPart(Path(entry.path), "", entry.name)], at, origin=[entry.name], problems=problems))
    left += [OmittedFile(name=name, why=f"listed in {METADATA}, but there is no such folder") for name in metadata]
    return RawSource(submissions, left)


def _metadata(path: Path) -> dict[str, Any]:
    """Return Gradescope's metadata of each submission, by its folder. Keys lose the colons of Ruby symbols."""
    # Late: no other source needs it.
    import yaml

    with advised("make the file readable", path.name):
        text = path.read_bytes()
    try:
        # The base loader reads every value as text: 0123 stays a student's number, and no tag creates an object.
        data = yaml.load(text, Loader=getattr(yaml, "CBaseLoader", yaml.BaseLoader))
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        message = str(error).partition("\n")[0]
        raise UserError(f"{path.name}: not YAML ({message}); export it from Gradescope again") from None
    if not isinstance(data, dict):
        raise UserError(f"{path.name}: no table of submissions; export it from Gradescope again")
    return {_text(name).strip(":"): _plain(about) for name, about in data.items()}


def _plain(about: object) -> dict[str, Any]:
    return {_text(key).strip(":"): value for key, value in about.items()} if isinstance(about, dict) else {}


def _submitters(about: dict[str, Any] | None) -> Iterator[dict[str, str]]:
    given = (about or {}).get("submitters")
    for submitter in given if isinstance(given, list) else []:
        person = {key: _text(value) for key, value in _plain(submitter).items()}
        if any(person.get(key) for key in ("sid", "email", "name")):
            yield person


def _text(value: object) -> str:
    """Return a text value; "" for anything else, and for Ruby's nil."""
    return value if isinstance(value, str) and value not in ("~", "null") else ""


GROUPS = frozenset({"id", "name", "email", "section", "file", "time", "late"})

# A date that begins with its year, together with a time behind it, counts as one number.
_DATE = re.compile(r"(?<!\d)((?:19|20)\d\d)([-_.]?)(\d\d)\2(\d\d)"
                   r"(?:[-_ T]?(\d\d)[-_.:h]?(\d\d)(?:[-_.:]?(\d\d))?)?(?!\d)")


@dataclass(frozen=True)
class _File:
    """A file that matches the pattern, with its time and its lateness by the pattern's groups."""

    part: RawPart
    time: datetime.datetime | None
    late: bool | None


def by_pattern(folder: Path, pattern: str, known: Mapping[str, str]) -> RawSource:
    """Return submissions of the files whose paths below `folder` match a regular expression. Its groups are the
    student's `id` or `name`, `email`, `section`, `file` (the file's original name), `time` (ISO 8601 with a zone), and
    `late`, which matches if the file was late. `known` maps the course's assignments to the names of their files.
    Raises UserError."""
    expression = _compiled(pattern)
    submissions: dict[str, RawSubmission] = {}
    matched: dict[tuple[str, str], list[_File]] = {}
    left: list[OmittedFile] = []

    def unread(error: OSError) -> None:
        name = os.path.relpath(error.filename, folder)
        left.append(OmittedFile(name=name, why=f"cannot be read: {error.strerror}; make the folder readable"))

    for path in sorted(Path(at, name) for at, _, files in os.walk(folder, onerror=unread) for name in files):
        shown = str(path.relative_to(folder))
        match = expression.fullmatch(shown)
        group: Mapping[str, str | None] = match.groupdict() if match else {}
        key = group.get("id") or group.get("name")
        if not key:
            left.append(OmittedFile(name=shown, why="does not match --pattern"))
            continue
        member = Member(id=key, name=group.get("name") or "", email=group.get("email") or "",
                        section=group.get("section") or "", source_id=key)
        submissions.setdefault(key, RawSubmission(key, [member])).origin.append(shown)
        name, time = (group.get("file") or path.name).rpartition("/")[2], group.get("time")
        # `SiLU.py` may be a later version of `silu.py`.
        meant = meant_assignment(name, known)
        slot = f"{meant}{PurePath(name).suffix.casefold()}" if meant else name
        matched.setdefault((key, slot), []).append(_File(
            RawPart(path, name, shown), instant(time, f"--pattern: {shown}") if time else None,
            bool(group.get("late")) if "late" in group else None))
    for (key, _), several in matched.items():
        for file in _newest(several, submissions[key], known):
            _take(file, submissions[key])
    return RawSource(list(submissions.values()), left)


def _take(file: _File, submission: RawSubmission) -> None:
    """Add a file to a submission. The submission's time is that of its latest file."""
    submission.parts.append(file.part)
    if file.late is not None:
        submission.late = bool(submission.late) or file.late
    before = submission.submitted_at
    if file.time is not None and (before is None or datetime.datetime.fromisoformat(before) < file.time):
        submission.submitted_at = file.time.isoformat()


def _newest(files: Sequence[_File], submission: RawSubmission, known: Mapping[str, str]) -> list[_File]:
    """Return the files to take among a student's files of one name, or for one assignment: the newest; if several names
    have no order, the newest of each name. The others are left out of the submission. Raises UserError."""
    names = {file.part.name: [namesake for namesake in files if namesake.part.name == file.part.name] for file in files}
    newest: _File | None = files[0]
    for file in files[1:]:
        newest = newest and _newer(newest, file)
    if newest is None and len(names) > 1:
        return [file for several in names.values() for file in _newest(several, submission, known)]
    if newest is None:
        name = files[0].part.name
        if meant_assignment(name, known) or is_archive(name) or name.casefold().endswith(NOTEBOOK):
            first, second = next((first, second) for first, second in itertools.combinations(files, 2)
                                 if _newer(first, second) is None)
            raise UserError(f"--pattern: {first.part.shown} and {second.part.shown} are of one student, and no time "
                              "or number shows which is newer; remove one, or give times with (?P<time>…)")
    why = f"an earlier {newest.part.name}" if newest else f"one of {len(files)} of this name, which have no order"
    submission.left += [OmittedFile(name=file.part.shown, why=why) for file in files if file is not newest]
    return [newest] if newest else []


def _compiled(pattern: str) -> re.Pattern[str]:
    try:
        expression = re.compile(pattern)
    except re.error as error:
        raise UserError(f"--pattern: {error}; give a regular expression") from None
    groups = set(expression.groupindex)
    if groups - GROUPS or not groups & {"id", "name"}:
        raise UserError(f"--pattern: has the groups {', '.join(sorted(groups)) or 'none'}; give (?P<id>…) or "
                          f"(?P<name>…), and beside it only {', '.join(sorted(GROUPS - {'id', 'name'}))}")
    return expression


def _newer(first: _File, second: _File) -> _File | None:
    """Return the newer of two files: by their times, or else by the number in their paths; None if neither decides."""
    if first.time and second.time and first.time != second.time:
        return first if first.time > second.time else second
    later = _numbered_later(first.part.shown, second.part.shown)
    return None if later is None else second if later else first


def _numbered_later(first: str, second: str) -> bool | None:
    """Return whether `second` has the greater number where the two paths first differ. None if they differ there in
    anything but a number, or if later numbers have the opposite order."""
    parts = [re.split(r"(\d+)", _DATE.sub(lambda date: "".join(date.group(1, 3, 4)) + "".join(
        part or "00" for part in date.group(5, 6, 7)), text)) for text in (first, second)]
    differing = [(a, b) for a, b in zip(*parts, strict=False) if a != b]
    if not differing or not all(text.isdecimal() for text in differing[0]):
        return None
    orders = {int(b) > int(a) for a, b in differing if a.isdecimal() and b.isdecimal() and int(a) != int(b)}
    return orders.pop() if len(orders) == 1 else None
