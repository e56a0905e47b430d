"""What a student is told of changes that make every case right: never that they are the mistake."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from grader.plan.edits import Edit, EditKind, lines_of

Level = Literal["place", "kind", "edit"]

MOST_PLACES = 2


def line_of(text: str, edits: Sequence[Edit]) -> int:
    """The line to look at, the first of the best edit; 0 where edits of several places are as good."""
    return edits[0].line if len({lines_of(text, edit) for edit in edits}) <= MOST_PLACES else 0


def told(text: str, edits: Sequence[Edit], level: Level, words: Mapping[EditKind, str]) -> str:
    """A sentence about edits of a file that were proved, which are as good as each other, the best first. Where the
    level tells the edit itself, it is shown beside the sentence."""
    best = edits[0]
    places = sorted({lines_of(text, edit) for edit in edits})
    where = " or ".join(f"line {place[0]}" if len(place) == 1 else
                        f"lines {', '.join(map(str, place[:-1]))} and {place[-1]} together" for place in places)
    if len(places) > MOST_PLACES:
        return "Changes in several lines make every case right, so none of them alone tells where the mistake is."
    if best.workaround:
        return (f"The failure disappears with one change in {where}, which may only keep it from showing: look at what "
                "is decided there.")
    said = f"One change in {where} makes every case right"
    if level != "place" and len(places) == 1:
        return f"{said}: {words[best.kind]}."
    return f"{said}."
