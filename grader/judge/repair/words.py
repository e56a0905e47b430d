"""What a student is told of changes that make every case right: never that they are the mistake."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from grader.plan.edits import Edit, EditKind

Level = Literal["place", "kind", "edit"]

MOST_LINES = 2


def line_of(edits: Sequence[Edit]) -> int:
    """The line to look at, that of the best edit; 0 where edits of several lines are as good."""
    return edits[0].line if len({edit.line for edit in edits}) <= MOST_LINES else 0


def told(edits: Sequence[Edit], level: Level, words: Mapping[EditKind, str]) -> str:
    """A sentence about edits that were proved, which are as good as each other, the best first. Where the level tells
    the edit itself, it is shown beside the sentence."""
    best = edits[0]
    lines = sorted({edit.line for edit in edits})
    where = " or ".join(f"line {line}" for line in lines)
    if len(lines) > MOST_LINES:
        return "Changes in several lines make every case right, so none of them alone tells where the mistake is."
    if best.workaround:
        return (f"The failure disappears with one change in {where}, which may only keep it from showing: look at what "
                "that line decides.")
    said = f"One change in {where} makes every case right"
    if level != "place" and len(lines) == 1:
        return f"{said}: {words[best.kind]}."
    return f"{said}."
