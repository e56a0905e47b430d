"""What a student is told of changes that make every case right: never that they are the mistake."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from grader.plan.edits import Edit, EditKind, difference, edited

Level = Literal["place", "kind", "edit"]


def told(edits: Sequence[Edit], level: Level, words: Mapping[EditKind, str], text: str) -> str:
    """A sentence about edits that were proved, which are as good as each other, the best first."""
    best = edits[0]
    lines = sorted({edit.line for edit in edits})
    where = " or ".join(f"line {line}" for line in lines[:2])
    if len(lines) > 2:
        return "Changes in several lines make every case right, so none of them alone tells where the mistake is."
    if best.workaround:
        return (f"The failure disappears with one change in {where}, which may only keep it from showing: look at what "
                "that line decides.")
    said = f"One change in {where} makes every case right"
    if level == "edit":
        return f"{said}:\n{difference(text, edited(text, best))}"
    if level == "kind" and len(lines) == 1:
        return f"{said}: {words[best.kind]}."
    return f"{said}."
