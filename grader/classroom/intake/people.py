"""A register: it finds the members of submissions in the roster and in groups."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from grader.classroom.intake.manifest import Member, RawSubmission
from grader.course.roster import Student
from grader.course.sheet import read_sheet
from grader.errors import UserError
from grader.results.text import compose

# The most words of a name whose rotations are tried.
MOST_WORDS = 16


def read_groups(path: Path) -> dict[str, list[str]]:
    """Return the members' ids of each group, from a CSV file with the columns `group` and `id`. Raises UserError."""
    sheet = read_sheet(path)
    group, member = sheet.column("group"), sheet.column("id")
    if group is None or member is None:
        raise UserError(f"{path}, row 1: has the headings {', '.join(sheet.header)!r}; name the columns group and id")
    groups: dict[str, list[str]] = {}
    for number, row in enumerate(sheet.rows[1:], start=2):
        if not any(row):
            continue
        if len(row) <= max(group, member) or not (row[group].strip() and row[member].strip()):
            raise UserError(f"{path}, row {number}: no group or no id; give both")
        groups.setdefault(compose(row[group].strip()), []).append(compose(row[member].strip()))
    return groups


class Register:
    """The roster, with search by id, by email, and by name as Canvas writes it. `groups` maps each group to its
    members' ids as the roster has them; `strangers` are members' ids that the roster lacks."""

    def __init__(self, students: Sequence[Student], groups: Mapping[str, Sequence[str]]) -> None:
        self._students = students
        self._ids = {student.id.casefold(): student for student in students}
        self._others = _single((id_.casefold(), student) for student in students for id_ in student.others)
        self._mails = _single((student.email.casefold(), student) for student in students if student.email)
        self._names = _single((name, student) for student in students for name in names(student.name))
        self._seen: set[str] = set()
        entries = {member: self._of(Member(id=member)) for members in groups.values() for member in members}
        self.groups = {name: [student.id if (student := entries[member]) else member for member in members]
                       for name, members in groups.items()}
        self.strangers = [member for member, student in entries.items() if student is None]
        self._group_of = {member.casefold(): name for name, members in self.groups.items() for member in members}

    def enter(self, submission: RawSubmission) -> bool:
        """Replace a submission's members by their roster entries, and return whether the roster has all of them. If a
        member belongs to a group, the whole group becomes the members."""
        matched = [(member, self._of(member)) for member in submission.members]
        called = compose(submission.folder)
        group = next((name for member, student in matched for name in (
            *(name for name in (member.id, member.name, called) if name in self.groups),
            self._group_of.get((student.id if student else member.id).casefold())) if name), None)
        if group is not None:
            here = {(student.id if student else member.id).casefold(): (member, student) for member, student in matched}
            matched = [here.get(member_id.casefold(), (Member(id=member_id), self._ids.get(member_id.casefold())))
                       for member_id in self.groups[group]]
        submission.members = [_as_in_roster(member, student) for member, student in matched]
        self._seen.update(student.id for _, student in matched if student)
        return all(student for _, student in matched)

    def look_up(self, member: Member) -> Member | None:
        """Return a person as in the roster, and stop counting that person as missing. None if the roster lacks the
        person."""
        if (student := self._of(member)) is None:
            return None
        self._seen.add(student.id)
        return _as_in_roster(member, student)

    def missing(self) -> list[Member]:
        """Return the students of the roster who were neither entered nor looked up."""
        return [_as_in_roster(Member(id=student.id), student)
                for student in self._students if student.id not in self._seen]

    def _of(self, member: Member) -> Student | None:
        for ids in (self._ids, self._others):
            for key in (member.id, member.source_id):
                if key.casefold() in ids:
                    return ids[key.casefold()]
        for key in (member.email, member.id):
            if (student := self._mails.get(key.casefold())) is not None:
                return student
        known = {student.id: student for name in names(member.name or member.id)
                 if (student := self._names.get(name)) is not None}
        if len(known) == 1:
            return next(iter(known.values()))
        # A clone's name is assignment-user, `kernels-adab`. The longest id counts: `kernels-john-smith` is not smith's.
        users = {key: student for key, student in self._others.items() if not key.isdecimal()} | self._ids
        ends = [key for key in users if member.id.casefold().endswith((f"-{key}", f"_{key}"))]
        return users[max(ends, key=len)] if ends else None


def names(name: str) -> set[str]:
    """Return all rotations of a name's words, joined in lower case without other signs. `Jane Doe`,
    `Doe, Jane` and Canvas's `doejane` share a rotation."""
    words = re.findall(r"\w+", compose(name).casefold())[:MOST_WORDS]
    return {"".join(words[at:] + words[:at]) for at in range(len(words))}


def _single(pairs: Iterable[tuple[str, Student]]) -> dict[str, Student]:
    """Return the keys that belong to exactly one student."""
    owners: dict[str, Student] = {}
    several: set[str] = set()
    for key, student in pairs:
        if owners.setdefault(key, student) is not student:
            several.add(key)
    return {key: student for key, student in owners.items() if key not in several}


def _as_in_roster(member: Member, student: Student | None) -> Member:
    if student is None:
        return member
    return Member(id=student.id, name=student.name or member.name, email=student.email or member.email,
                  section=student.section or member.section, source_id=member.source_id)
