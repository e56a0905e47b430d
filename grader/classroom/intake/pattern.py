"""Submissions by a regular expression for the paths of their files. If a student has several files of one name, the
newest one is taken."""

from __future__ import annotations

import datetime
import itertools
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath

from grader.classroom.intake.kinds import instant
from grader.classroom.intake.manifest import Left, Member
from grader.classroom.intake.source import IntakeError, RawPart, RawSource, RawSubmission, is_archive
from grader.course.notebooks import NOTEBOOK
from grader.course.workspace import meant

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
    Raises IntakeError."""
    expression = _compiled(pattern)
    submissions: dict[str, RawSubmission] = {}
    matched: dict[tuple[str, str], list[_File]] = {}
    left: list[Left] = []

    def unread(error: OSError) -> None:
        name = os.path.relpath(error.filename, folder)
        left.append(Left(name=name, why=f"cannot be read: {error.strerror}; make the folder readable"))

    for path in sorted(Path(at, name) for at, _, files in os.walk(folder, onerror=unread) for name in files):
        shown = str(path.relative_to(folder))
        match = expression.fullmatch(shown)
        group: Mapping[str, str | None] = match.groupdict() if match else {}
        key = group.get("id") or group.get("name")
        if not key:
            left.append(Left(name=shown, why="does not match --pattern"))
            continue
        member = Member(id=key, name=group.get("name") or "", email=group.get("email") or "",
                        section=group.get("section") or "", source_id=key)
        submissions.setdefault(key, RawSubmission(key, [member])).origin.append(shown)
        name, time = (group.get("file") or path.name).rpartition("/")[2], group.get("time")
        # `SiLU.py` may be a later version of `silu.py`.
        slot = f"{meant(name, known)}{PurePath(name).suffix.casefold()}" if meant(name, known) else name
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
    have no order, the newest of each name. The others are left out of the submission. Raises IntakeError."""
    names = {file.part.name: [namesake for namesake in files if namesake.part.name == file.part.name] for file in files}
    newest: _File | None = files[0]
    for file in files[1:]:
        newest = newest and _newer(newest, file)
    if newest is None and len(names) > 1:
        return [file for several in names.values() for file in _newest(several, submission, known)]
    if newest is None:
        name = files[0].part.name
        if meant(name, known) or is_archive(name) or name.casefold().endswith(NOTEBOOK):
            first, second = next((first, second) for first, second in itertools.combinations(files, 2)
                                 if _newer(first, second) is None)
            raise IntakeError(f"--pattern: {first.part.shown} and {second.part.shown} are of one student, and no time "
                              "or number shows which is newer; remove one, or give times with (?P<time>…)")
    why = f"an earlier {newest.part.name}" if newest else f"one of {len(files)} of this name, which have no order"
    submission.left += [Left(name=file.part.shown, why=why) for file in files if file is not newest]
    return [newest] if newest else []


def _compiled(pattern: str) -> re.Pattern[str]:
    try:
        expression = re.compile(pattern)
    except re.error as error:
        raise IntakeError(f"--pattern: {error}; give a regular expression") from None
    groups = set(expression.groupindex)
    if groups - GROUPS or not groups & {"id", "name"}:
        raise IntakeError(f"--pattern: has the groups {', '.join(sorted(groups)) or 'none'}; give (?P<id>…) or "
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
