"""The class as CSV: one row a student, safe to open in a spreadsheet."""

from __future__ import annotations

import csv
import io
from collections.abc import Collection, Iterator, Mapping, Sequence

from grader.model.result import AssignmentResult
from grader.model.text import clean
from grader.report.load import Entry
from grader.report.speed import measured
from grader.report.text import points

# A spreadsheet takes a text that starts so for a formula; full-width signs count as the plain ones.
FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\n", "＝", "＋", "－", "＠")
NAME_BYTES = 400
SPEED_COLUMNS = ("speedup", "speed_points")


def gradebook(
    entries: Sequence[Entry], others: Collection[tuple[str, str]] = (), pseudonyms: Mapping[str, str] | None = None
) -> str:
    """The rows as CSV text. Every text is quoted, so that no other delimiter can split it; numbers are not."""
    sheet = io.StringIO()
    csv.writer(sheet, lineterminator="\n", quoting=csv.QUOTE_NONNUMERIC).writerows(rows(entries, others, pseudonyms))
    return sheet.getvalue()


def rows(
    entries: Sequence[Entry], others: Collection[tuple[str, str]] = (), pseudonyms: Mapping[str, str] | None = None
) -> Iterator[list[str | float]]:
    """The header, then of each entry: student, score, max_score, measured_max, points and verdict of each assignment.

    What could not be judged, since the grader failed or only a GPU can tell, is left blank, and the total with it: a
    blank is asked about, a zero is believed. An assignment whose speed was measured at all has two columns more: the
    ratio to the baseline's speed, and its points. Where some (folder, assignment) were graded under another course
    file, `others`, a column names the assignments; and `pseudonyms` are those of a leaderboard, by folder.
    """
    names = list(dict.fromkeys(name for entry in entries for name in entry.result.assignments))
    timed = {name for entry in entries for name, a in entry.result.assignments.items() if measured(a)}
    yield ["student", "score", "max_score", "measured_max",
           *(cell(f"{name}_{what}") for name in names
             for what in ("points", "verdict", *(SPEED_COLUMNS if name in timed else ()))),
           *(["other_course_file"] if others else []), *(["pseudonym"] if pseudonyms else [])]
    for entry in entries:
        result = entry.result
        unjudged = any(not a.judged for a in result.assignments.values())
        row: list[str | float] = [cell(result.student), "" if unjudged else number(result.score),
                                  number(result.max_score), number(result.measured_max)]
        for name in names:
            assignment = result.assignments.get(name)
            if assignment is None:
                row += ["", "", *(("", "") if name in timed else ())]
            else:
                row += [number(assignment.score) if assignment.judged else "", assignment.verdict]
                row += _speed(assignment) if name in timed else []
        if others:
            row.append(cell(" ".join(name for name in names if (entry.folder, name) in others)))
        if pseudonyms:
            row.append(pseudonyms[entry.folder])
        yield row


def _speed(assignment: AssignmentResult) -> list[str | float]:
    """Ratio, to four significant digits, and points; blanks if it was not measured."""
    found = assignment.performance.speedup
    if found is None or not measured(assignment):
        return ["", ""]
    return [float(f"{found.median:.4g}"), number(assignment.performance.points)]


def cell(text: str) -> str:
    """A text that no spreadsheet takes for a formula."""
    # Without an escape before it, more is a formula.
    text = clean(text, NAME_BYTES)
    formula = text.startswith(FORMULA_STARTS) or text.lstrip().startswith(FORMULA_STARTS)
    return ("'" if formula else "") + text


def number(value: float) -> float | str:
    """Points as in the pages; an integer without a decimal point; a blank for what is no number."""
    text = points(value)
    if text == "?":
        return ""
    return float(text) if "." in text else int(text)
