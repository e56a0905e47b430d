"""Drafts of edits of a student's file, in any language, and their order: the most frequent mistakes come first."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import NamedTuple

from grader.plan.edits import MOST_EDITS, MOST_SPANS, Edit, EditKind, Edits, Span, edited

MOST_DRAFTS = 4 * MOST_EDITS
_TURN = 0.02
"""The weight added to an edit for each earlier one of its kind and weight."""


class Change(NamedTuple):
    """Characters `start` to `end` of the text, and what takes their place."""

    start: int
    end: int
    text: str


class Draft(NamedTuple):
    """An edit without its line: `weight` as in `Edit`, changes in any order."""

    kind: EditKind
    weight: float
    changes: Sequence[Change]
    workaround: bool = False

    @property
    def start(self) -> int:
        return min(change.start for change in self.changes)


def edits_in_order(
    text: str, drafts: Iterable[Draft], most: int, line_of: Callable[[int], int],
    plain: Callable[[str], str] = lambda changed: changed,
) -> Edits:
    """Return at most `most` edits of a file in order. Kinds take turns: each edit weighs more than the one before it of
    the same kind and weight. Only the first of edits that make the same program is returned: `plain` maps a file to a
    text that is the same for the same program. `line_of` returns the number of a character's line."""
    before = Counter[tuple[str, float]]()
    weighed = []
    for draft in sorted(islice(drafts, MOST_DRAFTS), key=lambda draft: (draft.weight, draft.start)):
        alike = draft.kind, draft.weight
        weighed.append((draft.weight + _TURN * before[alike], draft))
        before[alike] += 1
    weighed.sort(key=lambda one: one[0])
    return Edits(edits=list(islice(_once(text, weighed, line_of, plain), min(most, MOST_EDITS))))


def _once(
    text: str, weighed: Sequence[tuple[float, Draft]], line_of: Callable[[int], int], plain: Callable[[str], str]
) -> Iterator[Edit]:
    """Yield the edits that change something, each result once."""
    seen = {_mark(plain(text))}
    for weight, draft in weighed:
        spans = _spans(text, draft.changes)
        if spans is None:
            continue
        edit = Edit(kind=draft.kind, line=line_of(spans[0].start), spans=spans, weight=weight,
                    workaround=draft.workaround)
        mark = _mark(plain(edited(text, edit)))
        if mark not in seen:
            seen.add(mark)
            yield edit


def _mark(text: str) -> bytes:
    """Return a hash of a text: thousands of whole ones would not fit into memory."""
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()


def _spans(text: str, changes: Sequence[Change]) -> list[Span] | None:
    """Return the spans in order, without those that change nothing; None if spans overlap, if there are none or more
    than MOST_SPANS."""
    found: list[Span] = []
    for start, end, new in sorted(changes):
        if found and start < found[-1].end:
            return None
        if text[start:end] != new:
            found.append(Span(start=start, end=end, text=new))
    return found if 0 < len(found) <= MOST_SPANS else None
