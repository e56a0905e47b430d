"""The class as CSV, one row for each student. It is safe to open in a spreadsheet."""

from __future__ import annotations

import csv
import io
from collections.abc import Collection, Iterator, Mapping, Sequence

from grader.pages.line import Cell, Line
from grader.pages.load import Entry
from grader.pages.speed import measured
from grader.pages.text import points
from grader.results.mark import Mark
from grader.results.result import AssignmentResult
from grader.results.text import clean

# Spreadsheets read a text that begins with one of these signs as a formula; some are full-width signs.
FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\n", "＝", "＋", "－", "＠")
NAME_BYTES, COMMENT_BYTES = 400, 4_000
SPEED_COLUMNS = ("speedup", "speed_points")
STRUCTURE_COLUMNS = ("structure_points",)
MARK_COLUMNS = ("marks", "comment")


def gradebook(
    entries: Sequence[Entry], others: Collection[tuple[str, str]] = (), pseudonyms: Mapping[str, str] | None = None,
    absent: Sequence[Line] = (),
) -> str:
    """Return the rows as CSV text. Texts are quoted, so that no other delimiter splits them; numbers are not."""
    sheet = io.StringIO()
    csv.writer(sheet, lineterminator="\n", quoting=csv.QUOTE_NONNUMERIC).writerows(
        rows(entries, others, pseudonyms, absent))
    return sheet.getvalue()


def rows(
    entries: Sequence[Entry], others: Collection[tuple[str, str]] = (), pseudonyms: Mapping[str, str] | None = None,
    absent: Sequence[Line] = (),
) -> Iterator[list[str | float]]:
    """Yield the header; then, for each entry, student, name and section if any are known, score, max_score,
    measured_max, and the points and verdict of each assignment; then a row for each student who is `absent`.

    The points of an assignment that could not be judged are blank, and so is the total: people ask about a blank, but
    believe a zero. An assignment with a mark in any row has two more columns: the points that people gave beside the
    automatic ones, and what they said. An assignment with measured speed in any row has two more: the ratio to the
    baseline's speed, and its points; one with points for structure has a column for these. If `others` names any
    (folder, assignment) that was graded under another course file, a column lists each folder's. `pseudonyms` are those
    of a leaderboard, by folder.
    """
    names = list(dict.fromkeys(name for entry in entries for name in entry.result.assignments))
    known = [what for what in ("name", "section")
             if any(getattr(person, what) for person in (*(entry.owner for entry in entries), *absent))]
    marked = {name for entry in entries for name, a in entry.result.assignments.items() if a.marks}
    marked |= {name for line in absent for name, missing in line.cells.items() if missing.marks}
    timed = {name for entry in entries for name, a in entry.result.assignments.items() if measured(a)}
    built = {name for entry in entries for name, a in entry.result.assignments.items() if a.structure.max_points}
    parts = {name: ["points", "verdict", *(MARK_COLUMNS if name in marked else ()),
                    *(SPEED_COLUMNS if name in timed else ()), *(STRUCTURE_COLUMNS if name in built else ())]
             for name in names}

    def cells(name: str, graded: AssignmentResult | Cell | None, *, hidden: bool) -> list[str | float]:
        """Return an assignment's columns. An absent person has the columns of an empty folder."""
        if graded is None:
            return [""] * len(parts[name])
        assignment = graded if isinstance(graded, AssignmentResult) else None
        row = [number(graded.score) if assignment is None or assignment.judged else "", graded.verdict]
        row += said(graded.marks, hidden=hidden) if name in marked else []
        row += _speed(assignment) if name in timed else []
        return row + [number(assignment.structure.points) if assignment and assignment.judged else ""] * (name in built)

    yield ["student", *known, "score", "max_score", "measured_max",
           *(cell(f"{name}_{part}") for name in names for part in parts[name]),
           *(["other_course_file"] if others else []), *(["pseudonym"] if pseudonyms else [])]
    for entry in entries:
        result, owner = entry.result, entry.owner
        unjudged = any(not a.judged for a in result.assignments.values())
        other = cell(" ".join(name for name in names if (entry.folder, name) in others))
        yield [cell(owner.pseudonym or result.student), *(cell(getattr(owner, what)) for what in known),
               "" if unjudged else number(result.score), number(result.max_score), number(result.measured_max),
               *(text for name in names
                 for text in cells(name, result.assignments.get(name), hidden=bool(owner.pseudonym))),
               *([other] if others else []), *([pseudonyms[entry.folder]] if pseudonyms else [])]
    for line in absent:
        yield [cell(line.student), *(cell(getattr(line, what)) for what in known), number(line.score),
               number(max(entry.result.max_score for entry in entries)), number(line.measured_max),
               *(text for name in names for text in cells(name, line.cells[name], hidden=line.hidden)),
               *([""] if others else []), *([""] if pseudonyms else [])]


def said(marks: Sequence[Mark], *, hidden: bool = False) -> list[str | float]:
    """Return the two columns of marks: the points for everybody whose work it is, and the words, "" if they are
    `hidden`."""
    points_ = sum(mark.points for mark in marks if not mark.student)
    words = "" if hidden else "; ".join(mark.said for mark in marks)
    return [number(points_) if points_ else "", cell(words, COMMENT_BYTES)]


def _speed(assignment: AssignmentResult | None) -> list[str | float]:
    """Return the ratio, with four significant digits, and its points; blanks if speed was not measured."""
    speedup = assignment.performance.speedup if assignment else None
    if assignment is None or speedup is None or not measured(assignment):
        return ["", ""]
    return [float(f"{speedup.median:.4g}"), number(assignment.performance.points)]


def cell(text: str, limit: int = NAME_BYTES) -> str:
    """Return a text that spreadsheets do not read as a formula."""
    # Clean the text first: it may become a formula when a leading escape is removed.
    text = clean(text, limit)
    formula = text.startswith(FORMULA_STARTS) or text.lstrip().startswith(FORMULA_STARTS)
    return ("'" if formula else "") + text


def number(value: float) -> float | str:
    """Return points as pages show them, without needless decimals; a blank if they are not finite."""
    text = points(value)
    if text == "?":
        return ""
    return float(text) if "." in text else int(text)
