"""Fills one column of a sheet that was downloaded from a platform, for the rows that are meant, and nothing else."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from grader.exports.graded import Class, ExportError
from grader.intake.manifest import Member
from grader.intake.people import names
from grader.model.sheet import Sheet, SheetError, read_sheet
from grader.model.text import some
from grader.report.text import points

_NUMBER = re.compile(r"-?\d+(?:[.,]\d+)?")
CANVAS_IDS = ("SIS User ID", "SIS Login ID", "Integration ID")


@dataclass
class Filled:
    """A sheet with grades, and what a TA has to know of it."""

    sheet: Sheet
    count: int = 0
    lines: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Key:
    """How rows are found: a column's texts, and what a member is called there."""

    column: int
    of: Sequence[str]
    names: bool = False


def canvas(path: Path, column: str, found: Class) -> Filled:
    """The rows and the column of Canvas's gradebook that have a grade here; rows that name no student stay before them.

    No other column goes back, and no row without a grade: an import takes a blank for a change. Raises ExportError.
    """
    sheet = _read(path)
    student, ident = sheet.column("Student"), sheet.column("ID")
    if student is None or ident is None:
        raise ExportError(f"{path}: no columns Student and ID; the gradebook as Canvas exported it expected")
    assignments = [heading for heading in sheet.header if re.search(r" \(\d+\)$", heading)]
    target = _column(path, sheet, column, assignments)
    title = sheet.header[target]
    logins = [at for name in CANVAS_IDS if (at := sheet.column(name)) is not None]

    def keys(member: Member) -> Iterator[Key]:
        # An anonymous number is no user's.
        if found.kind == "canvas" and member.source_id and member.name != "anon":
            yield Key(ident, [member.source_id])
        yield from (Key(at, [member.id, member.email]) for at in logins)
        if found.kind is None:
            yield Key(ident, [member.id])
        yield Key(student, [member.name, member.id], names=True)

    people = [number for number, row in enumerate(sheet.rows) if number and _cell(row, ident).strip()]
    filled = _filled(path, sheet, target, student, people, found, keys)
    # Before anybody: "Manual Posting" and the points possible, which Canvas reads, as they are.
    head = list(range(1, min(people, default=len(sheet.rows))))
    for number in head:
        if _cell(sheet.rows[number], student).strip() == "Points Possible":
            _compare(filled, found, _cell(sheet.rows[number], target), title)
    kept = [at for at, heading in enumerate(sheet.header)
            if at == target or heading.strip() in ("Student", "ID", *CANVAS_IDS, "Section")]
    rows = [0, *head, *sorted(filled.rows)]
    sheet.rows = [[_cell(sheet.rows[number], at) for at in kept] for number in rows]
    return Filled(sheet, len(filled.rows), filled.lines)


def moodle(path: Path, column: str, found: Class) -> Filled:
    """Moodle's grading worksheet with grades in their column; all else is as it was. Raises ExportError.

    Headings are of any language: the first column names the participant by number, and `column` the grade.
    """
    sheet = _read(path)
    target = _column(path, sheet, column or "Grade", sheet.header)
    if len(sheet.rows) > 1 and not all(re.fullmatch(r"\D*\d+", _cell(row, 0)) for row in sheet.rows[1:] if any(row)):
        raise ExportError(f"{path}: the first column names no participants; Moodle's grading worksheet expected")
    mails = [at for at in range(1, len(sheet.header)) if any("@" in _cell(row, at) for row in sheet.rows[1:])]
    number, name = sheet.column("ID number"), sheet.column("Full name")

    def keys(member: Member) -> Iterator[Key]:
        if found.kind == "moodle" and member.source_id:
            yield Key(0, [member.source_id])
        if number is not None:
            yield Key(number, [member.id])
        yield from (Key(at, [member.email, member.id]) for at in mails)
        if name is not None:
            yield Key(name, [member.name, member.id], names=True)

    numbers = Sheet([[re.sub(r"^\D+", "", _cell(row, 0)), *row[1:]] for row in sheet.rows])
    people = [at for at, row in enumerate(sheet.rows) if at and any(row)]
    # In English alone: elsewhere Moodle refuses the upload of such a row.
    locked = sheet.column("Grade can be changed")
    filled = _filled(path, sheet, target, name or 0, people, found, keys, look=numbers, locked=locked)
    most = sheet.column("Maximum grade")
    for at in {_cell(sheet.rows[row], most) for row in filled.rows} if most is not None else ():
        _compare(filled, found, at, sheet.header[target])
    return Filled(sheet, len(filled.rows), filled.lines)


@dataclass
class _Done:
    rows: set[int]
    lines: list[str]


def _filled(
    path: Path, sheet: Sheet, target: int, who: int, people: Sequence[int], found: Class,
    keys: Callable[[Member], Iterator[Key]], look: Sheet | None = None, locked: int | None = None,
) -> _Done:
    """Writes each total into the one row that is its member's; column `who` says whose a row is, and `locked` whether
    its grade can be changed. Raises ExportError where there are totals and nobody's row was found."""
    table = look or sheet
    # Spreadsheets that part columns by semicolons mostly have a comma in their numbers.
    cells = [cell for row in sheet.rows[1:] for cell in row if _NUMBER.fullmatch(cell)]
    comma = sheet.delimiter == ";" and not any("." in cell for cell in cells)
    done = _Done(set(), [])
    changed = part = 0
    told: set[int] = set()
    for one in found.judged():
        member = one.member
        rows = next((rows for key in keys(member) if (rows := _rows(table, people, key))), set())
        if len(rows) != 1:
            done.lines.append(f"{one.folder}: {member.id}: " + (
                f"{len(rows)} rows of the sheet may be meant; left out" if rows else "in no row of the sheet"))
            continue
        (row,) = rows
        told.add(row)
        if row in done.rows:
            done.lines.append(f"{one.folder}: {member.id}: row {row + 1} has a grade of another submission; left out")
            continue
        old = _cell(sheet.rows[row], target).strip()
        if old in ("EX", "N/A"):
            done.lines.append(f"{one.folder}: {member.id}: is {'excused' if old == 'EX' else 'not assigned'} ({old}); "
                              "left out")
            continue
        if locked is not None and _cell(sheet.rows[row], locked).strip().casefold() == "no":
            done.lines.append(f"{one.folder}: {member.id}: the sheet says that its grade cannot be changed; left out")
            continue
        new = points(one.points)
        changed += bool(_NUMBER.fullmatch(old)) and float(old.replace(",", ".")) != float(new)
        sheet.rows[row] += [""] * (target + 1 - len(sheet.rows[row]))
        sheet.rows[row][target] = new.replace(".", ",") if comma else new
        done.rows.add(row)
        part += one.part
        if one.most < one.course:
            done.lines.append(f"{one.folder}: {member.id}: {new} of {points(one.most)} points, and the rest excused: "
                              "nothing is scaled")
    if not told and done.lines:
        raise ExportError(f"{path}: none of {len(done.lines)} grades has a row there; --intake, which knows what the "
                          f"platform calls a student, --roster or another sheet expected ({done.lines[0]})")
    if blank := [_cell(sheet.rows[row], who).strip() for row in people if row not in told]:
        done.lines.append(f"no grade here for {len(blank)} {'row' if len(blank) == 1 else 'rows'} of the sheet: "
                          f"{some(blank)}")
    if part:
        done.lines.append(f"{part} of these are of fewer points than the course has: speed, for one, needs a GPU")
    if changed:
        done.lines.append(f"{changed} of these had another grade in the sheet")
    return done


def _rows(sheet: Sheet, people: Iterable[int], key: Key) -> set[int]:
    """The rows that a member may be."""
    if key.names:
        wanted = set[str]().union(*(names(text) for text in key.of))
        return {row for row in people if names(_cell(sheet.rows[row], key.column)) & wanted}
    texts = {text.casefold() for text in key.of if text}
    return {row for row in people if _cell(sheet.rows[row], key.column).strip().casefold() in texts}


def _read(path: Path) -> Sheet:
    try:
        return read_sheet(path)
    except SheetError as error:
        raise ExportError(str(error)) from None


def _column(path: Path, sheet: Sheet, asked: str, offered: Sequence[str]) -> int:
    """The column of this heading, with or without the number that Canvas puts behind a title."""
    if asked:
        for fits in (lambda heading: heading == asked, lambda heading: re.sub(r" \(\d+\)$", "", heading) == asked):
            at = [at for at, heading in enumerate(sheet.header) if heading in offered and fits(heading)]
            if len(at) == 1:
                return at[0]
    elif len(offered) == 1:
        return sheet.header.index(offered[0])
    raise ExportError(f"--column {asked!r}: one of {', '.join(map(repr, offered)) or 'no columns'} in {path} expected")


def _compare(done: _Done, found: Class, cell: str, title: str) -> None:
    """Points are never scaled: where a platform has another maximum, a person has to decide."""
    ours = max((one.result.max_score for one in found.graded), default=0)
    theirs = cell.strip().replace(",", ".")
    if _NUMBER.fullmatch(theirs) and float(theirs) != ours:
        done.lines.append(f"{title} has {theirs} points there, and {points(ours)} here: nothing is scaled")


def _cell(row: Sequence[str], at: int) -> str:
    return row[at] if at < len(row) else ""
