"""The kinds of source there are: how each is recognised, and how its names are read."""

from __future__ import annotations

import datetime
import os
import re
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any

from grader.intake import git
from grader.intake.found import Found, IntakeError, Part, Source, entries, is_archive
from grader.intake.manifest import Kind, Left, Member

METADATA = "submission_metadata.yml"
WORDS: dict[Kind, str] = {
    "folders": "a folder of students' folders", "archives": "a folder of students' archives",
    "canvas": "a download from Canvas", "gradescope": "an export from Gradescope",
    "moodle": "a download from Moodle", "git": "git clones", "pattern": "files by --pattern",
}

_ANONYMOUS = re.compile(
    r"(?P<late>LATE_)?(?P<name>anon)_(?!LATE_)(?P<user>[0-9A-Za-z]+)_(?P<upload>\d+)_(?P<file>.+)", re.S)
_CANVAS = re.compile(r"(?P<name>.*?)(?P<late>_LATE)?_(?P<user>\d+)_(?P<upload>\d+)_(?P<file>.+)", re.S)
# A text or a link is no upload, and may have no number of one.
_TYPED = re.compile(r"(?P<name>.*?)(?P<late>_LATE)?_(?P<user>\d+)(?:_\d+)?_(?:text|link)\.html", re.S)
_AGAIN = re.compile(r"-\d+(?=\.[^.]+$)")
_MOODLE = re.compile(
    r"(?P<name>.+?)_(?P<participant>\d+)_assignsubmission_(?P<what>file|onlinetext)_?(?P<rest>.*)", re.S)
_INSTANT = re.compile(r"(\d{4}-\d\d-\d\d)[ T](\d\d:\d\d:\d\d)(?:\.\d+)? ?(Z|UTC|[+-]\d\d:?\d\d)")


def recognise(folder: Path) -> Kind | None:
    """What a folder holds, if it is any of the kinds."""
    names = entries(folder)
    folders = [entry for entry in names if entry.is_dir()]
    files = [entry.name for entry in names if not entry.is_dir()]
    if METADATA in files:
        return "gradescope"
    # By most of what there is: a README beside is no reason to know nothing.
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
         deadline: datetime.datetime | None = None) -> Source:
    """The submissions in a folder of a kind that was recognised. `files` are the names that the course expects, and
    `work` is an empty folder for what has to be made. Raises IntakeError."""
    if kind == "git":
        return git.read(folder, work, deadline)
    if kind == "canvas":
        return _canvas(folder, files)
    return {"folders": _folders, "archives": _folders, "moodle": _moodle, "gradescope": _gradescope}[kind](folder)


def by_pattern(folder: Path, pattern: str) -> Source:
    """Submissions of files whose paths below `folder` are matched by a regular expression with groups: `id` or `name`
    says whose, `email` and `section` more of them, `file` what it was called, `time` when (ISO 8601 with a zone),
    `late` that it was. Raises IntakeError."""
    allowed = {"id", "name", "email", "section", "file", "time", "late"}
    try:
        expression = re.compile(pattern)
    except re.error as error:
        raise IntakeError(f"--pattern: {error}; a regular expression expected") from None
    groups = set(expression.groupindex)
    if groups - allowed or not groups & {"id", "name"}:
        raise IntakeError(f"--pattern: groups {', '.join(sorted(groups)) or 'none'}; (?P<id>…) or (?P<name>…), and "
                          f"of others {', '.join(sorted(allowed - {'id', 'name'}))} expected")
    found: dict[str, Found] = {}
    left: list[Left] = []

    def unread(error: OSError) -> None:
        name = os.path.relpath(error.filename, folder)
        left.append(Left(name=name, why=f"cannot be read: {error.strerror}; a readable folder expected"))

    for path in sorted(Path(at, name) for at, _, files in os.walk(folder, onerror=unread) for name in files):
        shown = str(path.relative_to(folder))
        match = expression.fullmatch(shown)
        group: Mapping[str, str | None] = match.groupdict() if match else {}
        key = group.get("id") or group.get("name")
        if not key:
            left.append(Left(name=shown, why="is not matched by --pattern"))
            continue
        member = Member(id=key, name=group.get("name") or "", email=group.get("email") or "",
                        section=group.get("section") or "", source_id=key)
        one = found.setdefault(key, Found(key, [member], late=False if "late" in groups else None))
        one.parts.append(Part(path, (group.get("file") or path.name).rpartition("/")[2], shown))
        one.origin.append(shown)
        one.late = one.late or bool(group.get("late")) if "late" in groups else None
        if time := group.get("time"):
            # The last of its files completes a submission.
            one.submitted_at = max(one.submitted_at or "", instant(time, f"--pattern: {shown}").isoformat(), key=_key)
    return Source(list(found.values()), left)


def _key(time: str) -> float:
    return datetime.datetime.fromisoformat(time).timestamp() if time else float("-inf")


def instant(text: str, where: str) -> datetime.datetime:
    """The time that `text` says. Raises IntakeError, which says `where` it stands."""
    try:
        if (time := datetime.datetime.fromisoformat(text)).tzinfo is not None:
            return time
    except ValueError:
        pass
    raise IntakeError(f"{where}: {text!r}; a time with a zone such as 2026-03-01T23:59+01:00 expected")


def _folders(folder: Path) -> Source:
    found: list[Found] = []
    left: list[Left] = []
    for entry in entries(folder):
        path = Path(entry.path)
        if path.is_dir():
            found.append(Found(entry.name, [_person(entry.name)], [Part(path, "", entry.name)], origin=[entry.name]))
        elif is_archive(entry.name):
            name = re.sub(r"\.(tar\.)?\w+$", "", entry.name)
            found.append(Found(name, [_person(name)], [Part(path, entry.name, entry.name)], origin=[entry.name]))
        else:
            left.append(Left(name=entry.name, why="in no student's folder"))
    return Source(found, left)


def _person(name: str) -> Member:
    return Member(id=name, source_id=name)


def _of_canvas(name: str) -> re.Match[str] | None:
    return _ANONYMOUS.fullmatch(name) or _CANVAS.fullmatch(name) or _TYPED.fullmatch(name)


def uploaded(name: str, files: Collection[str]) -> str:
    """The name that a student's file had before Canvas put its own before and behind it."""
    whole, *inner = name.partition("/")
    match = _of_canvas(whole)
    group = match.groupdict() if match else {}
    return _unnumbered(group["file"], files) + "".join(inner) if group.get("file") else name


def _unnumbered(file: str, files: Collection[str]) -> str:
    """Canvas calls a `silu.py` that is handed in again `silu-1.py`; `part-1.zip` may be a student's own name."""
    name = _AGAIN.sub("", file)
    return name if name in files else file


def _canvas(folder: Path, files: Collection[str]) -> Source:
    found: dict[str, Found] = {}
    left: list[Left] = []
    uploads: dict[tuple[str, str], tuple[int, Part]] = {}
    for entry in entries(folder):
        match = _of_canvas(entry.name)
        if match is None or entry.is_dir():
            left.append(Left(name=entry.name, why="not named as Canvas names files"))
            continue
        group = match.groupdict()
        user = group["user"]
        one = found.setdefault(user, Found(
            f"{group['name']}_{user}", [Member(id=user, name=group["name"], source_id=user)], late=False))
        one.origin.append(entry.name)
        one.late = one.late or bool(group["late"])
        if "file" not in group or re.fullmatch(r"(text|link)\.html", group["file"]):
            one.left.append(Left(name=entry.name, why="text or a link that was typed in; a file expected"))
            continue
        name = _unnumbered(group["file"], files)
        new = int(group["upload"]), Part(Path(entry.path), name, entry.name)
        old = uploads.get((user, name), new)
        uploads[user, name] = max(old, new, key=lambda upload: upload[0])
        if old is not new:
            earlier = min(old, new, key=lambda upload: upload[0])
            one.left.append(Left(name=earlier[1].shown, why=f"an earlier upload of {name}"))
    for (user, _), (_, part) in uploads.items():
        found[user].parts.append(part)
    return Source(list(found.values()), left)


def _moodle(folder: Path) -> Source:
    found: dict[str, Found] = {}
    left: list[Left] = []
    for entry in entries(folder):
        match = _MOODLE.fullmatch(entry.name)
        if match is None:
            left.append(Left(name=entry.name, why="not named as Moodle names submissions"))
            continue
        name, participant, what, rest = match.groups()
        one = found.setdefault(participant, Found(
            f"{name}_{participant}", [Member(id=participant, name=name, source_id=participant)]))
        one.origin.append(entry.name)
        path = Path(entry.path)
        if what == "onlinetext":
            one.left.append(Left(name=entry.name, why="text that was typed in; a file expected"))
        else:
            one.parts.append(Part(path, "" if path.is_dir() else rest or entry.name, entry.name))
    return Source(list(found.values()), left)


def _gradescope(folder: Path) -> Source:
    found: list[Found] = []
    left: list[Left] = []
    metadata = _metadata(folder / METADATA)
    for entry in entries(folder):
        about = metadata.pop(entry.name, None)
        if entry.name == METADATA:
            continue
        if not entry.is_dir() or (about is None and not entry.name.startswith("submission_")):
            left.append(Left(name=entry.name, why=f"no submission of {METADATA}"))
            continue
        number = entry.name.removeprefix("submission_")
        members = [Member(id=one.get("sid") or one.get("email") or one["name"], name=one.get("name", ""),
                          email=one.get("email", ""), source_id=one.get("sid", ""))
                   for one in _submitters(about)]
        time = _INSTANT.fullmatch(_text((about or {}).get("created_at")))
        at = None
        if time:
            zone = "+00:00" if time[3] in ("Z", "UTC") else time[3]
            at = datetime.datetime.fromisoformat(f"{time[1]}T{time[2]}{zone}").isoformat()
        problems = [] if about is not None else [f"{entry.name} does not stand in {METADATA}: whose it is is not known"]
        # By people and not by its number, which is another when they hand in again: they would be somebody else.
        who = "+".join(sorted(member.id for member in members))
        found.append(Found(
            who or entry.name, members or [Member(id=number, source_id=number)],
            [Part(Path(entry.path), "", entry.name)], at, origin=[entry.name], problems=problems))
    left += [Left(name=name, why=f"stands in {METADATA} alone: there is no such folder") for name in metadata]
    return Source(found, left)


def _metadata(path: Path) -> dict[str, Any]:
    """What Gradescope says of each submission, by its folder; keys without the colons of Ruby's symbols."""
    import yaml

    try:
        # Text and nothing else: a student's number such as 0123 is no octal number, and no tag makes an object.
        data = yaml.load(path.read_bytes(), Loader=getattr(yaml, "CBaseLoader", yaml.BaseLoader))
    except OSError as error:
        raise IntakeError(f"{path.name}: {error.strerror}; a readable file expected") from None
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        said = str(error).partition("\n")[0]
        raise IntakeError(f"{path.name}: not YAML ({said}); the file as Gradescope wrote it expected") from None
    if not isinstance(data, dict):
        raise IntakeError(f"{path.name}: no table of submissions; the file as Gradescope wrote it expected")
    return {_text(name).strip(":"): _plain(about) for name, about in data.items()}


def _plain(about: object) -> dict[str, Any]:
    return {_text(key).strip(":"): value for key, value in about.items()} if isinstance(about, dict) else {}


def _submitters(about: dict[str, Any] | None) -> Iterator[dict[str, str]]:
    given = (about or {}).get("submitters")
    for one in given if isinstance(given, list) else []:
        person = {key: _text(value) for key, value in _plain(one).items()}
        if any(person.get(key) for key in ("sid", "email", "name")):
            yield person


def _text(value: object) -> str:
    """Text; "" for what Ruby calls nil."""
    return value if isinstance(value, str) and value not in ("~", "null") else ""
