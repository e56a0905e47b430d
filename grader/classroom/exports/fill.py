"""Grades in one column of a sheet that a platform gave, written in students' rows only."""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from grader.classroom.exports.graded import Class, ExportError, Total
from grader.classroom.intake.manifest import Member
from grader.classroom.intake.people import names
from grader.course.sheet import Sheet, read_sheet
from grader.pages.gradebook import cell
from grader.pages.text import points
from grader.results.text import compose, plural, some

_NUMBER = re.compile(r"-?\d+(?:[.,]\d+)?")
FEEDBACK_BYTES = 8_000
CANVAS_IDS = ("SIS User ID", "SIS Login ID", "Integration ID")


@dataclass
class FilledSheet:
    """A sheet with grades, the number of grades written, and lines that a TA has to know."""

    sheet: Sheet
    count: int = 0
    lines: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Key:
    """A way to find a member's row: a column, and the texts that it may hold for the member. `names`: compare them as
    names."""

    column: int
    of: Sequence[str]
    names: bool = False


def canvas(path: Path, column: str, class_: Class) -> FilledSheet:
    """Fill a column of Canvas's gradebook. Keeps the rows above the students, and the rows that now have a grade.

    Removes all other rows, and all columns but this one and the students' ids: Canvas's import takes a blank
    for a change. Raises ExportError.
    """
    sheet = read_sheet(path)
    student, ident = sheet.column("Student"), sheet.column("ID")
    if student is None or ident is None:
        raise ExportError(f"{path}: no columns Student and ID; give the gradebook as Canvas exported it")
    assignments = [heading for heading in sheet.header if re.search(r" \(\d+\)$", heading)]
    target = _column(path, sheet, column, assignments)
    title = sheet.header[target]
    logins = [at for name in CANVAS_IDS if (at := sheet.column(name)) is not None]

    def keys(member: Member) -> Iterator[Key]:
        # In an anonymous download this number is not a user's.
        if class_.kind == "canvas" and member.source_id and member.name != "anon":
            yield Key(ident, [member.source_id])
        yield from (Key(at, [member.id, member.email]) for at in logins)
        if class_.kind is None:
            yield Key(ident, [member.id])
        yield Key(student, [member.name, member.id], names=True)

    people = [number for number, row in enumerate(sheet.rows) if number and _cell(row, ident).strip()]
    filled = _fill_column(_Column(path, sheet, target, student, people), class_, keys)
    # The rows above the students, "Manual Posting" and the points possible, are for Canvas itself.
    head = list(range(1, min(people, default=len(sheet.rows))))
    for number in head:
        if _cell(sheet.rows[number], student).strip() == "Points Possible":
            _compare(filled, class_, _cell(sheet.rows[number], target), title)
    kept = [at for at, heading in enumerate(sheet.header)
            if at == target or heading.strip() in ("Student", "ID", *CANVAS_IDS, "Section")]
    rows = [0, *head, *sorted(filled.rows)]
    sheet.rows = [[_cell(sheet.rows[number], at) for at in kept] for number in rows]
    return FilledSheet(sheet, len(filled.rows), filled.lines)


def moodle(path: Path, column: str, class_: Class, feedback: str = "") -> FilledSheet:
    """Fill the column of grades in Moodle's grading worksheet, and the column of feedback for students to whom people
    gave points or words. Changes nothing else. Raises ExportError.

    Headings may be in any language: the first column has the participant's number, `column` is the heading of the
    grades, and `feedback` that of the feedback, which may be left out for a worksheet in English.
    """
    sheet = read_sheet(path)
    target = _column(path, sheet, column or "Grade", sheet.header)
    if len(sheet.rows) > 1 and not all(re.fullmatch(r"\D*\d+", _cell(row, 0)) for row in sheet.rows[1:] if any(row)):
        raise ExportError(f"{path}: the first column names no participants; give Moodle's grading worksheet")
    mails = [at for at in range(1, len(sheet.header)) if any("@" in _cell(row, at) for row in sheet.rows[1:])]
    number, name = sheet.column("ID number"), sheet.column("Full name")

    def keys(member: Member) -> Iterator[Key]:
        if class_.kind == "moodle" and member.source_id:
            yield Key(0, [member.source_id])
        if number is not None:
            yield Key(number, [member.id])
        yield from (Key(at, [member.email, member.id]) for at in mails)
        if name is not None:
            yield Key(name, [member.name, member.id], names=True)

    numbers = Sheet([[re.sub(r"^\D+", "", _cell(row, 0)), *row[1:]] for row in sheet.rows])
    people = [at for at, row in enumerate(sheet.rows) if at and any(row)]
    # This heading is recognised in English only. In other languages Moodle itself refuses a locked row.
    locked = sheet.column("Grade can be changed")
    filled = _fill_column(_Column(path, sheet, target, name or 0, people, numbers, locked), class_, keys)
    most = sheet.column("Maximum grade")
    for at in {_cell(sheet.rows[row], most) for row in filled.rows} if most is not None else ():
        _compare(filled, class_, at, sheet.header[target])
    said = _column(path, sheet, feedback, sheet.header, "--feedback") if feedback else sheet.column("Feedback comments")
    _feedback(filled, sheet, said)
    return FilledSheet(sheet, len(filled.rows), filled.lines)


def _feedback(filled: _FilledColumn, sheet: Sheet, column: int | None) -> None:
    """Write people's points and words into blank cells. Moodle reads these cells as HTML."""
    left = []
    for row, total in filled.rows.items():
        text = cell("<br>".join(html.escape(total.feedback, quote=False).splitlines()), FEEDBACK_BYTES)
        if not text or (column is not None and _cell(sheet.rows[row], column).strip() == text):
            continue
        if column is None or _cell(sheet.rows[row], column).strip():
            left.append(total.folder)
            continue
        sheet.rows[row] += [""] * (column + 1 - len(sheet.rows[row]))
        sheet.rows[row][column] = text
    if left:
        filled.lines.append(f"{some(left)}: comments are left out, since " + (
            "no column is called Feedback comments; pass --feedback with its heading" if column is None else
            "the sheet has other feedback there; empty those cells to fill them"))


@dataclass(frozen=True)
class _Column:
    """The target of the grades: a column of a sheet, in the rows of `people`. Column `owner` names the owner of a row,
    and column `locked` says whether its grade may be changed. A member's row is found in `look_up`, by default the
    sheet itself."""

    path: Path
    sheet: Sheet
    column: int
    owner: int
    people: Sequence[int]
    look_up: Sheet | None = None
    locked: int | None = None


@dataclass
class _FilledColumn:
    """The result of filling a column: the total written in each row, and lines that a TA has to know."""

    rows: dict[int, Total]
    lines: list[str]


def _fill_column(target: _Column, class_: Class, keys: Callable[[Member], Iterator[Key]]) -> _FilledColumn:
    """Write each total into its member's row, if exactly one row fits. Raises ExportError if no row fits any total."""
    sheet, people = target.sheet, target.people
    table = target.look_up or sheet
    # Spreadsheets that separate columns by semicolons mostly write numbers with a comma.
    cells = [cell for row in sheet.rows[1:] for cell in row if _NUMBER.fullmatch(cell)]
    comma = sheet.delimiter == ";" and not any("." in cell for cell in cells)
    done = _FilledColumn({}, [])
    changed = part = 0
    met: set[int] = set()
    for total in class_.judged():
        member = total.member
        rows = next((rows for key in keys(member) if (rows := _rows(table, people, key))), set())
        if len(rows) != 1:
            done.lines.append(f"{total.folder}: {member.id}: " + (
                f"{len(rows)} rows of the sheet may be meant; left out" if rows else "in no row of the sheet"))
            continue
        (row,) = rows
        met.add(row)
        old = _cell(sheet.rows[row], target.column).strip()
        if (reason := _why_kept(target, row, old, filled=row in done.rows)):
            done.lines.append(f"{total.folder}: {member.id}: {reason}; left out")
            continue
        new = points(total.points)
        changed += bool(_NUMBER.fullmatch(old)) and float(old.replace(",", ".")) != float(new)
        sheet.rows[row] += [""] * (target.column + 1 - len(sheet.rows[row]))
        sheet.rows[row][target.column] = new.replace(".", ",") if comma else new
        done.rows[row] = total
        part += total.part
        if total.excused:
            done.lines.append(f"{total.folder}: {member.id}: {new} of {points(total.max_score)} points, and the rest "
                              "excused: points are not scaled")
    if not met and done.lines:
        raise ExportError(f"{target.path}: none of {len(done.lines)} grades has a row there ({done.lines[0]}); give "
                          "--intake, which knows the platform's ids, --roster, or another sheet")
    if blank := [_cell(sheet.rows[row], target.owner).strip() for row in people if row not in met]:
        done.lines.append(f"no grade here for {plural(len(blank), 'row')} of the sheet: "
                          f"{some(blank)}")
    if part:
        done.lines.append(f"in {part} of these not all points were measured: speed needs a GPU")
    if changed:
        done.lines.append(f"{changed} of these had another grade in the sheet")
    return done


def _why_kept(target: _Column, row: int, old: str, *, filled: bool) -> str:
    """Return the reason why a row keeps its present grade `old`; "" if it gets the new grade."""
    if filled:
        return f"row {row + 1} has a grade of another submission"
    if old in ("EX", "N/A"):
        return f"is {'excused' if old == 'EX' else 'not assigned'} ({old})"
    if target.locked is not None and _cell(target.sheet.rows[row], target.locked).strip().casefold() == "no":
        return "the sheet says that its grade cannot be changed"
    return ""


def _rows(sheet: Sheet, people: Iterable[int], key: Key) -> set[int]:
    """Return the rows that may be the member's."""
    if key.names:
        wanted = set[str]().union(*(names(text) for text in key.of))
        return {row for row in people if names(_cell(sheet.rows[row], key.column)) & wanted}
    texts = {text.casefold() for text in key.of if text}
    return {row for row in people if compose(_cell(sheet.rows[row], key.column).strip()).casefold() in texts}


def _column(path: Path, sheet: Sheet, heading: str, offered: Sequence[str], option: str = "--column") -> int:
    """Return the column with this heading, with or without the number that Canvas adds to a title. Raises
    ExportError."""
    if heading:
        for fits in (lambda column: column == heading, lambda column: re.sub(r" \(\d+\)$", "", column) == heading):
            at = [at for at, column in enumerate(sheet.header) if column in offered and fits(column)]
            if len(at) == 1:
                return at[0]
    elif len(offered) == 1:
        return sheet.header.index(offered[0])
    problem = f"{option} {heading!r}: not a column of {path}" if heading else f"{option}: not given for {path}"
    raise ExportError(f"{problem}; choose from {', '.join(map(repr, offered)) or 'another sheet: this has none'}")


def _compare(column: _FilledColumn, class_: Class, cell: str, title: str) -> None:
    """Add a line if the platform's maximum differs from the course's. Points are never scaled: a person has to
    decide."""
    most = max([submission.result.max_score for submission in class_.graded]
               + [total.max_score for total in class_.judged()], default=0)
    most_there = cell.strip().replace(",", ".")
    if _NUMBER.fullmatch(most_there) and float(most_there) != most:
        column.lines.append(f"{title} has {most_there} points there, and {points(most)} here: points are not scaled")


def _cell(row: Sequence[str], at: int) -> str:
    return row[at] if at < len(row) else ""
