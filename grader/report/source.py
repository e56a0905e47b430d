"""The student's own source as pages show it: numbered lines, some of them with a note beside them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from grader.result import Place
from grader.text import clean

BEFORE, AFTER = 9, 4
LINE_BYTES = 400


@dataclass(frozen=True)
class CodeLine:
    number: int
    text: str
    marked: bool = False
    note: str = ""


def lines_of(source: str) -> list[str]:
    """The lines of a file, each fit to be shown."""
    return [clean(line.expandtabs(4), LINE_BYTES) for line in source.splitlines()]


def excerpt(source: str, place: Place, note: str) -> list[CodeLine]:
    """The lines around a place, within its function, the line itself marked and with a note; that line alone where the
    file is not known."""
    lines = lines_of(source)
    at = place.line - 1
    if not 0 <= at < len(lines):
        return [CodeLine(place.line, place.text.strip(), True, note)] if place.text.strip() else []
    first, last = max(0, at - BEFORE), min(len(lines), at + AFTER + 1)
    own = _indent(lines[at])
    begin = next((n for n in range(at, first - 1, -1) if _indent(lines[n]) == 0 and lines[n].startswith("def ")), first)
    # A decorator belongs to what it stands above.
    while begin > first and lines[begin - 1].startswith("@"):
        begin -= 1
    end = next((n for n in range(at + 1, last) if own and lines[n].strip() and _indent(lines[n]) == 0), last)
    shown = range(begin, end)
    while len(shown) > 1 and not lines[shown[-1]].strip():
        shown = shown[:-1]
    return _lines(lines, shown, {place.line: note}, {place.line})


def _lines(lines: list[str], shown: range, notes: Mapping[int, str], marked: set[int]) -> list[CodeLine]:
    common = min((_indent(lines[n]) for n in shown if lines[n].strip()), default=0)
    return [CodeLine(n + 1, lines[n][common:], n + 1 in marked, notes.get(n + 1, "")) for n in shown]


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" "))
