"""The student's source as pages show it: numbered lines, some with notes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from grader.results.result import Place
from grader.results.text import clean

BEFORE, AFTER = 9, 4
# The most lines between a place and a change that are shown in one piece.
TOGETHER = 30
LINE_BYTES = 400


@dataclass(frozen=True)
class CodeLine:
    """A line of source: `marked` if something was seen in it, `changed` if a change was found for it."""

    number: int
    text: str
    marked: bool = False
    note: str = ""
    changed: bool = False


def lines_of(source: str) -> list[str]:
    """Return the lines of a file, cleaned for display."""
    return [clean(line.expandtabs(4), LINE_BYTES) for line in source.splitlines()]


def excerpts(source: str, place: Place | None, note: str, change: int = 0) -> list[list[CodeLine]]:
    """Return the lines around a place and around the line number `change`, each within its function; in one piece if
    they are close to each other. The place's own line is marked and has the note, even if the file's text is not
    known."""
    lines = lines_of(source)
    known = [number - 1 for number in (place.line if place else 0, change) if 0 < number <= len(lines)]
    shown = [_around(lines, at) for at in dict.fromkeys(known)]
    if len(shown) == 2 and abs(known[0] - known[1]) <= TOGETHER and _function(lines, known[0]) == _function(
            lines, known[1]):
        shown = [range(min(part.start for part in shown), max(part.stop for part in shown))]
    parts = [_lines(lines, part, {place.line: note} if place else {}, {place.line} if place else set(), change)
             for part in shown]
    if place and place.line - 1 not in known and place.text.strip():
        parts.insert(0, [CodeLine(place.line, place.text.strip(), True, note)])
    return parts


def listing(source: str, notes: Mapping[int, str], marked: set[int]) -> list[CodeLine]:
    """Return the functions that contain lines with notes."""
    lines = lines_of(source)
    shown: dict[int, CodeLine] = {}
    for number in notes:
        if 0 < number <= len(lines):
            around = _function(lines, number - 1)
            shown.update((line.number, line) for line in _lines(lines, around, notes, marked))
    return [shown[number] for number in sorted(shown)]


def difference(diff: str) -> list[tuple[str, str]]:
    """Return the lines of a diff without its head: for each line its sign, and its text without the common
    indentation."""
    lines = [(line[:1], clean(line[1:].expandtabs(4), LINE_BYTES)) for line in diff.splitlines()]
    common = min((_indent(text) for _, text in lines if text.strip()), default=0)
    return [(sign, text[common:]) for sign, text in lines]


def _around(lines: list[str], at: int) -> range:
    around = _function(lines, at) if _indent(lines[at]) else range(at, at + 1)
    return range(max(around.start, at - BEFORE), min(around.stop, at + AFTER + 1))


def _function(lines: list[str], at: int) -> range:
    """Return the lines of the function around a line, decorators included."""
    begin = next((n for n in range(at, -1, -1) if lines[n].startswith("def ")), at)
    end = next((n for n in range(max(at, begin) + 1, len(lines)) if lines[n].strip() and _indent(lines[n]) == 0
                and not lines[n].startswith(")")), len(lines))
    while begin > 0 and lines[begin - 1].startswith("@"):
        begin -= 1
    while end > at + 1 and not lines[end - 1].strip():
        end -= 1
    return range(begin, end)


def _lines(
    lines: list[str], shown: range, notes: Mapping[int, str], marked: set[int], changed: int = 0
) -> list[CodeLine]:
    common = min((_indent(lines[n]) for n in shown if lines[n].strip()), default=0)
    return [CodeLine(n + 1, lines[n][common:], n + 1 in marked, notes.get(n + 1, ""), n + 1 == changed)
            for n in shown]


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" "))
