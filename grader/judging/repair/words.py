"""Sentences about changes that make every case right. They never state that a change is the mistake."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from grader.plan.edits import Edit, EditKind, edited, lines_of

Level = Literal["place", "kind", "edit"]

MOST_PLACES = 2
_ADDED = ("before", "after")


def line_of(text: str, edits: Sequence[Edit]) -> int:
    """Return the line to look at, the first of the best edit; 0 if edits in more than MOST_PLACES places are as
    good."""
    return edits[0].line if len({_place(text, edit) for edit in edits}) <= MOST_PLACES else 0


def told(text: str, edits: Sequence[Edit], level: Level, words: Mapping[EditKind, str]) -> str:
    """Return a sentence about edits of a file that were proved, which are as good as each other, the best first. At the
    level "edit", the report shows the edit beside the sentence."""
    best = edits[0]
    kinds: dict[tuple[tuple[int, ...], str], EditKind] = {}
    for edit in edits:
        kinds.setdefault((lines_of(text, edit), _place(text, edit)), edit.kind)
    where = " or ".join(place for _, place in sorted(kinds)).replace(" or in ", " or ")
    if len(kinds) > MOST_PLACES:
        return "Changes in several lines make every case right, so none of them alone tells where the mistake is."
    here = where.removeprefix("in ")
    if best.workaround and best.kind == "extra":
        return (f"If you delete {here}, every case is right. What was it meant to do? The mistake may be elsewhere, "
                "and only show there.")
    if best.workaround:
        return (f"With one change {where} the failure disappears, but it may only be hidden: look at what is decided "
                "there.")
    added = all(place.startswith(_ADDED) for _, place in kinds)
    said = f"One {'more line' if added else 'change'} {where} makes every case right"
    if level == "place":
        return f"{said}."
    each = [words[kind] for _, kind in sorted(kinds.items())]
    if len(set(each)) > 1:
        places = [place for _, place in sorted(kinds)]
        return f"One change makes every case right: {each[0]} {places[0]}, or {each[1]} {places[1]}."
    if {*kinds.values()} == {"extra"}:
        return f"If you delete a part of {here}, every case is right."
    if added and {*kinds.values()} == {"missing"}:
        return f"A statement is missing {where}: with it, every case is right."
    return f"{said}: {each[0]}."


def _place(text: str, edit: Edit) -> str:
    """Return the lines that an edit changes, or the line before or after which it adds some."""
    *others, line = lines_of(text, edit)
    if others:
        return f"in lines {', '.join(map(str, others))} and {line} together"
    before, after = text.splitlines(), edited(text, edit).splitlines()
    more = len(after) - len(before)
    for at, word in zip((line - 1, line), _ADDED, strict=True):
        if more > 0 and after[:at] == before[:at] and after[at + more:] == before[at:]:
            return f"{word} line {line}"
    return f"in line {line}"
