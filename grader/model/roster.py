"""`roster.csv`, the students of the course, one in each row. Classroom 50's roster is read as well."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from grader.model.sheet import SheetError, read_sheet

COLUMNS = ("id", "name", "email", "section", "late_days")
CLASSROOM50 = ("username", "first_name", "last_name", "email", "section", "github_id")


class RosterError(Exception):
    """A roster cannot be used; one line that says what is wrong, where, and what to do."""


@dataclass(frozen=True)
class Student:
    """A student. `id` is unique even ignoring case. `late_days` are the student's grace days; None: as many as the
    course gives."""

    id: str
    name: str = ""
    email: str = ""
    section: str = ""
    late_days: int | None = None


def read_roster(path: Path) -> list[Student]:
    """The students in `path`, in its order. Raises RosterError, one line."""
    try:
        sheet = read_sheet(path)
    except SheetError as error:
        raise RosterError(str(error)) from None
    headings = [heading.strip().casefold() for heading in sheet.header]
    known = CLASSROOM50 if "username" in headings else COLUMNS
    key = known[0]
    for number, heading in enumerate(headings):
        if heading not in known or heading in headings[:number]:
            raise RosterError(f"{path}, row 1: {heading!r}; use the headings {', '.join(known)}, each once")
    if key not in headings:
        raise RosterError(f"{path}, row 1: no {key!r}; use the headings {', '.join(known)}")
    students: list[Student] = []
    lines: dict[str, int] = {}
    for number, row in enumerate(sheet.rows[1:], start=2):
        if not any(value.strip() for value in row):
            continue
        where = f"{path}, row {number}"
        if len(row) != len(headings):
            raise RosterError(f"{where}: {len(row)} values; give {len(headings)}, one for each heading")
        value = dict(zip(headings, (text.strip() for text in row), strict=True))
        if not value[key]:
            raise RosterError(f"{where}: no {key}; give each student one")
        if earlier := lines.get(value[key].casefold()):
            raise RosterError(f"{where}: {value[key]!r} is in row {earlier}, too; list each {key} once")
        lines[value[key].casefold()] = number
        name = value.get("name") or " ".join(
            text for text in (value.get("first_name"), value.get("last_name")) if text)
        students.append(Student(value[key], name, value.get("email", ""), value.get("section", ""),
                                _days(value.get("late_days", ""), where)))
    if not students:
        raise RosterError(f"{path}: no student; add a row for each")
    return students


def _days(text: str, where: str) -> int | None:
    if not text:
        return None
    if not (text.isascii() and text.isdigit() and len(text) <= 3):
        raise RosterError(f"{where}: late_days: {text!r}; give a whole number from 0 to 999, or nothing")
    return int(text)
