"""Whose a submission is: members found in the roster, and groups."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from grader.intake.found import Found, IntakeError
from grader.intake.manifest import Member
from grader.model.roster import Student
from grader.model.sheet import SheetError, read_sheet

# Of a name: nobody has more, and each of them begins the name once.
MOST_WORDS = 16


def read_groups(path: Path) -> dict[str, list[str]]:
    """Groups and the ids of their members, from a CSV file with a row a member: `group`, `id`. Raises IntakeError."""
    try:
        sheet = read_sheet(path)
    except SheetError as error:
        raise IntakeError(str(error)) from None
    group, member = sheet.column("group"), sheet.column("id")
    if group is None or member is None:
        raise IntakeError(f"{path}, row 1: {', '.join(sheet.header)!r}; headings group and id expected")
    found: dict[str, list[str]] = {}
    for number, row in enumerate(sheet.rows[1:], start=2):
        if not any(row):
            continue
        if len(row) <= max(group, member) or not (row[group].strip() and row[member].strip()):
            raise IntakeError(f"{path}, row {number}: a group and an id expected")
        found.setdefault(row[group].strip(), []).append(row[member].strip())
    return found


class Register:
    """The roster, asked for whoever a source names: by id, by mail, by what Canvas makes of a name."""

    def __init__(self, students: Sequence[Student], groups: Mapping[str, Sequence[str]]) -> None:
        self._students = students
        self._groups = groups
        self._ids = {one.id.casefold(): one for one in students}
        self._mails = _single((one.email.casefold(), one) for one in students if one.email)
        self._names = _single((name, one) for one in students for name in names(one.name))
        self._group_of = {member.casefold(): name for name, members in groups.items() for member in members}
        self._seen: set[str] = set()

    def enter(self, found: Found) -> bool:
        """Makes the members of a submission those of the roster, all of a group's where one of them is in a group.
        False where one is unknown, or there is no roster."""
        matched = [(member, self._of(member)) for member in found.members]
        group = next((name for member, student in matched
                      for name in (self._named_group(member, found), self._group_of.get(
                          (student.id if student else member.id).casefold())) if name), None)
        if group is not None:
            here = {(student.id if student else member.id).casefold(): (member, student) for member, student in matched}
            matched = [here.get(one.casefold(), (Member(id=one), self._ids.get(one.casefold())))
                       for one in self._groups[group]]
        found.members = [_as_in_roster(member, student) for member, student in matched]
        self._seen.update(student.id for _, student in matched if student)
        return all(student for _, student in matched)

    def missing(self) -> list[Member]:
        """Those who were never entered."""
        return [_as_in_roster(Member(id=one.id), one) for one in self._students if one.id not in self._seen]

    def _of(self, member: Member) -> Student | None:
        for key in (member.id, member.source_id):
            if key.casefold() in self._ids:
                return self._ids[key.casefold()]
        for key in (member.email, member.id):
            if (student := self._mails.get(key.casefold())) is not None:
                return student
        known = {student.id: student for name in names(member.name or member.id)
                 if (student := self._names.get(name)) is not None}
        if len(known) == 1:
            return next(iter(known.values()))
        # A clone is called after assignment and user: `kernels-adab`. `kernels-john-smith` is not smith's.
        ends = [key for key in self._ids if member.id.casefold().endswith((f"-{key}", f"_{key}"))]
        return self._ids[max(ends, key=len)] if ends else None

    def _named_group(self, member: Member, found: Found) -> str | None:
        return next((name for name in (member.id, member.name, found.folder) if name in self._groups), None)


def names(name: str) -> set[str]:
    """A name as letters and digits alone, in small ones, its words in each order that begins elsewhere: `Jane Doe`,
    `Doe, Jane` and Canvas's `doejane` have one in common."""
    words = re.findall(r"\w+", unicodedata.normalize("NFC", name).casefold())[:MOST_WORDS]
    return {"".join(words[at:] + words[:at]) for at in range(len(words))}


def _single(pairs: Iterable[tuple[str, Student]]) -> dict[str, Student]:
    """Keys that belong to one student alone."""
    found: dict[str, Student] = {}
    several: set[str] = set()
    for key, student in pairs:
        if found.setdefault(key, student) is not student:
            several.add(key)
    return {key: student for key, student in found.items() if key not in several}


def _as_in_roster(member: Member, student: Student | None) -> Member:
    if student is None:
        return member
    return Member(id=student.id, name=student.name or member.name, email=student.email or member.email,
                  section=student.section or member.section, source_id=member.source_id)
