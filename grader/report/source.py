"""The student's source as pages show it: numbered lines, some with notes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from grader.model.result import Place
from grader.model.text import clean

BEFORE, AFTER = 9, 4
LINE_BYTES = 400


@dataclass(frozen=True)
class CodeLine:
    number: int
    text: str
    marked: bool = False
    note: str = ""


def lines_of(source: str) -> list[str]:
    """The lines of a file, cleaned for display."""
    return [clean(line.expandtabs(4), LINE_BYTES) for line in source.splitlines()]


def excerpt(source: str, place: Place, note: str) -> list[CodeLine]:
    """The lines around a place, within its function. The place's own line is marked and has the note; if the file is
    unknown, it is the only line."""
    lines = lines_of(source)
    at = place.line - 1
    if not 0 <= at < len(lines):
        return [CodeLine(place.line, place.text.strip(), True, note)] if place.text.strip() else []
    around = _function(lines, at) if _indent(lines[at]) else range(at, at + 1)
    shown = range(max(around.start, at - BEFORE), min(around.stop, at + AFTER + 1))
    return _lines(lines, shown, {place.line: note}, {place.line})


def listing(source: str, notes: Mapping[int, str], marked: set[int]) -> list[CodeLine]:
    """The functions that contain lines with notes."""
    lines = lines_of(source)
    shown: dict[int, CodeLine] = {}
    for number in notes:
        if 0 < number <= len(lines):
            around = _function(lines, number - 1)
            shown.update((line.number, line) for line in _lines(lines, around, notes, marked))
    return [shown[number] for number in sorted(shown)]


def _function(lines: list[str], at: int) -> range:
    """The lines of the function around a line, with decorators."""
    begin = next((n for n in range(at, -1, -1) if lines[n].startswith("def ")), at)
    end = next((n for n in range(max(at, begin) + 1, len(lines)) if lines[n].strip() and _indent(lines[n]) == 0
                and not lines[n].startswith(")")), len(lines))
    while begin > 0 and lines[begin - 1].startswith("@"):
        begin -= 1
    while end > at + 1 and not lines[end - 1].strip():
        end -= 1
    return range(begin, end)


def _lines(lines: list[str], shown: range, notes: Mapping[int, str], marked: set[int]) -> list[CodeLine]:
    common = min((_indent(lines[n]) for n in shown if lines[n].strip()), default=0)
    return [CodeLine(n + 1, lines[n][common:], n + 1 in marked, notes.get(n + 1, "")) for n in shown]


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" "))
