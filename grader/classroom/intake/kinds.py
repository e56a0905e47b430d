"""The kinds of sources: how to recognise each one, and how to read the names of its files."""

from __future__ import annotations

import datetime
import re
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

from grader.classroom.intake import git
from grader.classroom.intake.manifest import Kind, Left, Member
from grader.classroom.intake.source import IntakeError, RawPart, RawSource, RawSubmission, entries, is_archive

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
    empty folder for temporary files. Raises IntakeError."""
    if kind == "git":
        return git.read(folder, work, deadline)
    if kind == "canvas":
        return _canvas(folder, files)
    return {"folders": _folders, "archives": _folders, "moodle": _moodle, "gradescope": _gradescope}[kind](folder)


def instant(text: str, where: str) -> datetime.datetime:
    """Parse a time with a zone. Raises IntakeError; its message begins with `where`."""
    try:
        if (time := datetime.datetime.fromisoformat(text)).tzinfo is not None:
            return time
    except ValueError:
        pass
    raise IntakeError(f"{where}: {text!r} is no time with a zone; give one such as 2026-03-01T23:59+01:00")


def _folders(folder: Path) -> RawSource:
    submissions: list[RawSubmission] = []
    left: list[Left] = []
    for entry in entries(folder):
        path = Path(entry.path)
        if not path.is_dir() and not is_archive(entry.name):
            left.append(Left(name=entry.name, why="in no student's folder"))
            continue
        name = entry.name if path.is_dir() else re.sub(r"\.(tar\.)?\w+$", "", entry.name)
        part = RawPart(path, "" if path.is_dir() else entry.name, entry.name)
        submissions.append(RawSubmission(name, [Member(id=name, source_id=name)], [part], origin=[entry.name]))
    return RawSource(submissions, left)


def _of_canvas(name: str) -> re.Match[str] | None:
    return _ANONYMOUS.fullmatch(name) or _CANVAS.fullmatch(name) or _TYPED.fullmatch(name)


def uploaded(name: str, files: Collection[str]) -> str:
    """Return the name of a student's file without what Canvas added to it."""
    whole, *inner = name.partition("/")
    match = _of_canvas(whole)
    group = match.groupdict() if match else {}
    return _unnumbered(group["file"], files) + "".join(inner) if group.get("file") else name


def _unnumbered(file: str, files: Collection[str]) -> str:
    """Remove the number that Canvas adds to a file that is handed in again: `silu-1.py`. Only done if the result is one
    of `files`, since `part-1.zip` may be the student's own name."""
    name = _AGAIN.sub("", file)
    return name if name in files else file


def _canvas(folder: Path, files: Collection[str]) -> RawSource:
    submissions: dict[str, RawSubmission] = {}
    left: list[Left] = []
    uploads: dict[tuple[str, str], tuple[int, RawPart]] = {}
    for entry in entries(folder):
        match = _of_canvas(entry.name)
        if match is None or entry.is_dir():
            left.append(Left(name=entry.name, why="not a name that Canvas gives to files"))
            continue
        group = match.groupdict()
        user = group["user"]
        submission = submissions.setdefault(user, RawSubmission(
            f"{group['name']}_{user}", [Member(id=user, name=group["name"], source_id=user)], late=False))
        submission.origin.append(entry.name)
        submission.late = submission.late or bool(group["late"])
        if "file" not in group or re.fullmatch(r"(text|link)\.html", group["file"]):
            submission.left.append(Left(name=entry.name, why="text or a link that was typed in; hand in a file"))
            continue
        name = _unnumbered(group["file"], files)
        new = int(group["upload"]), RawPart(Path(entry.path), name, entry.name)
        old = uploads.get((user, name), new)
        uploads[user, name] = max(old, new, key=lambda upload: upload[0])
        if old is not new:
            earlier = min(old, new, key=lambda upload: upload[0])
            submission.left.append(Left(name=earlier[1].shown, why=f"an earlier upload of {name}"))
    for (user, _), (_, part) in uploads.items():
        submissions[user].parts.append(part)
    return RawSource(list(submissions.values()), left)


def _moodle(folder: Path) -> RawSource:
    submissions: dict[str, RawSubmission] = {}
    left: list[Left] = []
    for entry in entries(folder):
        match = _MOODLE.fullmatch(entry.name)
        if match is None:
            left.append(Left(name=entry.name, why="not a name that Moodle gives to submissions"))
            continue
        name, participant, content, rest = match.groups()
        submission = submissions.setdefault(participant, RawSubmission(
            f"{name}_{participant}", [Member(id=participant, name=name, source_id=participant)]))
        submission.origin.append(entry.name)
        path = Path(entry.path)
        if content == "onlinetext":
            submission.left.append(Left(name=entry.name, why="text that was typed in; hand in a file"))
        else:
            submission.parts.append(RawPart(path, "" if path.is_dir() else rest or entry.name, entry.name))
    return RawSource(list(submissions.values()), left)


def _gradescope(folder: Path) -> RawSource:
    submissions: list[RawSubmission] = []
    left: list[Left] = []
    metadata = _metadata(folder / METADATA)
    for entry in entries(folder):
        about = metadata.pop(entry.name, None)
        if entry.name == METADATA:
            continue
        if not entry.is_dir() or (about is None and not entry.name.startswith("submission_")):
            left.append(Left(name=entry.name, why=f"no submission that {METADATA} lists"))
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
    left += [Left(name=name, why=f"listed in {METADATA}, but there is no such folder") for name in metadata]
    return RawSource(submissions, left)


def _metadata(path: Path) -> dict[str, Any]:
    """Return Gradescope's metadata of each submission, by its folder. Keys lose the colons of Ruby symbols."""
    # Late: no other source needs it.
    import yaml

    try:
        # The base loader reads every value as text: 0123 stays a student's number, and no tag creates an object.
        data = yaml.load(path.read_bytes(), Loader=getattr(yaml, "CBaseLoader", yaml.BaseLoader))
    except OSError as error:
        raise IntakeError(f"{path.name}: {error.strerror}; make the file readable") from None
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        message = str(error).partition("\n")[0]
        raise IntakeError(f"{path.name}: not YAML ({message}); export it from Gradescope again") from None
    if not isinstance(data, dict):
        raise IntakeError(f"{path.name}: no table of submissions; export it from Gradescope again")
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
