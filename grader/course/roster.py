"""The students of the course, one in each row: in the form of `roster.csv`, or in a platform's own form."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from grader.course.sheet import Sheet, read_sheet
from grader.errors import UserError
from grader.results.text import folded

COLUMNS = ("id", "name", "email", "section", "late_days")
CLASSROOM50 = ("username", "first_name", "last_name", "email", "section", "github_id")
CANVAS_IDS = ("SIS Login ID", "SIS User ID", "ID")
FORMS = (f"the headings {', '.join(COLUMNS)}, or give the file as Canvas exports its gradebook, Moodle its "
         "participants, or Classroom 50 or GitHub Classroom its roster")


# Moodle's headings of groups and of ID numbers, in its languages. A column of e-mail addresses is recognised by "@".
GROUPS = frozenset(map(folded, (
    "group", "groups", "Gruppe", "Gruppen", "groupe", "groupes", "grupo", "grupos", "gruppo", "gruppi", "groep",
    "groepen", "grupa", "grupy", "skupina", "skupiny", "grupper", "grupp", "ryhmät", "grup", "gruplar", "группы",
    "グループ", "组", "小组", "群组", "群組")))
NUMBERS = frozenset(map(folded, (
    "ID number", "username", "ID-Nummer", "Matrikelnummer", "numéro d'identification", "número de ID",
    "número de identificación", "número de identificação", "codice identificativo", "numero ID", "numer ID",
    "identifikační číslo", "tunnistenumero", "ID numarası", "индивидуальный номер", "IDナンバー", "学号", "學號")))


Names = Literal["real", "pseudonyms"]
"""The form in which pages show students."""



@dataclass(frozen=True)
class Student:
    """A student. `id` is unique even if case is ignored. `late_days` are the student's grace days; None: the course's
    number. `others` are the student's other ids on the platform that the roster comes from."""

    id: str
    name: str = ""
    email: str = ""
    section: str = ""
    late_days: int | None = None
    others: tuple[str, ...] = ()


def read_roster(path: Path) -> list[Student]:
    """Return the students in `path`, in its order. Raises UserError, one line."""
    students: list[Student] = []
    lines: dict[str, int] = {}
    for number, what, student in _students(path, read_sheet(path)):
        if not student.id:
            raise UserError(f"{path}, row {number}: no {what}; give each student one")
        if earlier := lines.get(student.id.casefold()):
            raise UserError(f"{path}, row {number}: {student.id!r} is in row {earlier}, too; list each {what} once")
        lines[student.id.casefold()] = number
        students.append(student)
    if not students:
        raise UserError(f"{path}: no student; add a row for each")
    return students


def _students(path: Path, sheet: Sheet) -> Iterator[tuple[int, str, Student]]:
    """Yield each row's number, the name of its id's column, and its student."""
    headings = [heading.strip().casefold() for heading in sheet.header]
    if {"student", "id"} <= set(headings):
        return _canvas(path, sheet)
    if {"identifier", "github_username"} <= set(headings):
        return _classroom(path, sheet, headings)
    if "roster_identifier" in headings:
        raise UserError(f"{path}, row 1: has grades of GitHub Classroom; give its roster, classroom_roster.csv")
    own_format = "id" in headings or set(headings) <= set(CLASSROOM50)
    if not own_format and (mail := _mails(sheet)) is not None:
        return _moodle(path, sheet, mail)
    return _own(path, sheet, headings)


def _own(path: Path, sheet: Sheet, headings: Sequence[str]) -> Iterator[tuple[int, str, Student]]:
    known = CLASSROOM50 if "username" in headings else COLUMNS
    key = known[0]
    for number, heading in enumerate(headings):
        if heading not in known or heading in headings[:number]:
            raise UserError(f"{path}, row 1: {heading!r}; use each once of {FORMS}")
    if key not in headings:
        raise UserError(f"{path}, row 1: no {key!r}; use {FORMS}")
    for number, row in sheet.filled(path):
        value = dict(zip(headings, row, strict=True))
        name = value.get("name") or " ".join(filter(None, (value.get("first_name"), value.get("last_name"))))
        yield number, key, Student(value[key], name, value.get("email", ""), value.get("section", ""),
                                   _days(value.get("late_days", ""), f"{path}, row {number}"))


def _classroom(path: Path, sheet: Sheet, headings: Sequence[str]) -> Iterator[tuple[int, str, Student]]:
    """Read a roster in GitHub Classroom's form. Its identifier is the course's own id; clones are named after user
    names."""
    for number, row in sheet.filled(path):
        value = dict(zip(headings, row, strict=True))
        key = value["identifier"]
        yield number, "identifier", Student(key, value.get("name", ""), key if "@" in key else "", others=tuple(
            filter(None, (value["github_username"], value.get("github_id")))))


def _canvas(path: Path, sheet: Sheet) -> Iterator[tuple[int, str, Student]]:
    """Read a gradebook as Canvas exports it. The id is the login, which people know, or else Canvas's number."""
    columns = {name: at for name in ("Student", "Section", *CANVAS_IDS) if (at := sheet.column(name)) is not None}
    for number, row in sheet.filled(path):
        value: Mapping[str, str] = {name: row[at] for name, at in columns.items()}
        # Rows above the students have no number. Canvas also lists a student of its own, for trials.
        if not value["ID"] or value["Student"] in ("Student, Test", "Test Student"):
            continue
        first, *others = (value[name] for name in CANVAS_IDS if value.get(name))
        yield number, "ID", Student(first, value["Student"], first if "@" in first else "", value.get("Section", ""),
                                    others=tuple(others))


def _moodle(path: Path, sheet: Sheet, mail: int) -> Iterator[tuple[int, str, Student]]:
    """Read a list of participants, or a grading worksheet, as Moodle exports it in any language: names come before the
    e-mail address. The id is the ID number if every row has one, or else the address."""
    headings = [folded(heading) for heading in sheet.header]
    rows = list(sheet.filled(path))
    groups = next((at for at, heading in enumerate(headings) if heading in GROUPS), None)
    ident = next((at for at, heading in enumerate(headings) if heading in NUMBERS), None)
    # A worksheet has cells such as "Participant 123456" in its first column; Moodle's download has the same number.
    participant = 0 if all(re.fullmatch(r"\D{4,}\d+", row[0]) for _, row in rows) else None
    if ident is None:
        ident = next((at for at in range(mail) if at != participant
                      and all(re.fullmatch(r"[A-Za-z]*\d[\w-]*", row[at]) for _, row in rows)), None)
    name = [at for at in range(mail) if at not in (groups, ident, participant)][:2]
    numbered = ident is not None and all(row[ident] for _, row in rows)
    for number, row in rows:
        key = row[ident] if numbered and ident is not None else row[mail]
        others = [] if participant is None else re.findall(r"\d+$", row[participant])
        yield number, sheet.header[ident if numbered and ident is not None else mail], Student(
            key, " ".join(filter(None, (row[at] for at in name))), row[mail],
            "" if groups is None else row[groups], others=tuple(others))


def _mails(sheet: Sheet) -> int | None:
    """Return the column of e-mail addresses: each of its values is one, and at least every second row has a value."""
    for at in range(len(sheet.header)):
        given = [row[at].strip() for row in sheet.rows[1:] if at < len(row) and row[at].strip()]
        many = given and 2 * len(given) >= len(sheet.rows) - 1
        if many and all(re.fullmatch(r"[^@\s]+@[^@\s]+", text) for text in given):
            return at
    return None


def _days(text: str, where: str) -> int | None:
    if not text:
        return None
    if not (text.isascii() and text.isdigit() and len(text) <= 3):
        raise UserError(f"{where}: late_days: {text!r}; give a whole number from 0 to 999, or nothing")
    return int(text)
