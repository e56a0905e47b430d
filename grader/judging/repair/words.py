"""Facts about changes that make every case right. Their sentences never state that a change is the mistake."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

from grader.languages.phrases import Fact, fact
from grader.plan.edits import Edit, EditKind, edited, lines_of

Level = Literal["place", "kind", "edit"]

MOST_PLACES = 2
_ADDED: tuple[Literal["before", "after"], ...] = ("before", "after")


class Spot(NamedTuple):
    """The lines that an edit changes, or the line before or after which it adds some."""

    numbers: tuple[int, ...]
    side: Literal["in", "before", "after"]

    @property
    def lines(self) -> Fact:
        *others, line = self.numbers
        return fact("at.lines", others=", ".join(map(str, others)), line=line) if others else fact("at.line", line=line)

    @property
    def where(self) -> Fact:
        return fact(f"at.{self.side}", lines=self.lines)


def line_of(text: str, edits: Sequence[Edit]) -> int:
    """Return the first line of the best edit; 0 if edits in more than MOST_PLACES places are as good."""
    return edits[0].line if len({_spot(text, edit) for edit in edits}) <= MOST_PLACES else 0


def change_fact(text: str, edits: Sequence[Edit], level: Level) -> Fact:
    """Return a fact about edits of a file that were proved, which are as good as each other, the best first. At the
    level "edit", the report shows the edit beside its sentence."""
    best = edits[0]
    kind_at: dict[Spot, EditKind] = {}
    for edit in edits:
        kind_at.setdefault(_spot(text, edit), edit.kind)
    spots, kinds = sorted(kind_at), set(kind_at.values())
    if len(spots) > MOST_PLACES:
        return fact("repair.scattered")
    first, last = spots[0], spots[-1]
    where, lines = first.where, first.lines
    if first != last:
        where = fact("at.either", first=where, second=last.lines if first.side == last.side == "in" else last.where)
        lines = fact("at.either", first=lines, second=last.lines)
    if best.workaround:
        return fact("repair.deleted", lines=lines) if best.kind == "extra" else fact("repair.hidden", where=where)
    added = all(spot.side != "in" for spot in spots)
    what: Fact | str = ""
    if level != "place":
        if len(kinds) > 1:
            return fact("repair.either", first=_kind(kind_at[first]), here=first.where,
                        second=_kind(kind_at[last]), there=last.where)
        if kinds == {"extra"}:
            return fact("repair.part", lines=lines)
        if added and kinds == {"missing"}:
            return fact("repair.statement", where=where)
        what = fact("repair.kind", kind=_kind(best.kind))
    return fact("repair.line", where=where, what=what) if added else fact("repair.change", where=where, what=what)


def _kind(kind: EditKind) -> Fact:
    return fact(f"edit.{kind}")


def _spot(text: str, edit: Edit) -> Spot:
    numbers = lines_of(text, edit)
    *others, line = numbers
    before, after = text.splitlines(), edited(text, edit).splitlines()
    more = len(after) - len(before)
    for at, side in zip((line - 1, line), _ADDED, strict=True):
        if not others and more > 0 and after[:at] == before[:at] and after[at + more:] == before[at:]:
            return Spot(numbers, side)
    return Spot(numbers, "in")
