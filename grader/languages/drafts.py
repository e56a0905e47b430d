"""Drafts of edits of a student's file, in any language, and their order: the most frequent mistakes come first."""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, Literal, NamedTuple, TypeVar

from grader.plan.edits import MOST_EDITS, MOST_SPANS, Edit, EditKind, Edits, Span, edited

M = TypeVar("M")
"""A match of a pattern."""
MOST_DRAFTS = 4 * MOST_EDITS
_REPEATED = 0.02
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


def always(match: object) -> bool:
    return True


def both(*conditions: Callable[[M], bool]) -> Callable[[M], bool]:
    return lambda match: all(condition(match) for condition in conditions)


def neither(*conditions: Callable[[M], bool]) -> Callable[[M], bool]:
    return lambda match: not any(condition(match) for condition in conditions)


class Rule(NamedTuple):
    """A row of an error model. Each of `changes`, as the language's `rules.py` writes them, is tried on each match for
    which `when` holds. `weight` may depend on the role of the match: "" stands for all other roles; a role without a
    weight gives no edit. `together`: the matches that one edit changes: one, all, all of a statement, or all with the
    same text; "spread" makes an edit of each of the last three."""

    kind: EditKind
    weight: float | Mapping[str, float]
    changes: str | Sequence[str]
    when: Callable[[Any], bool] = always
    together: Literal["one", "all", "statement", "same", "spread"] = "one"
    workaround: bool = False


def grouped(with_keys: Iterable[tuple[Draft, Sequence[Any]]]) -> Iterator[Draft]:
    """Yield the drafts that belong to no group, and then a draft for each group with its members' changes."""
    groups = defaultdict[Any, list[Draft]](list)
    for draft, keys in with_keys:
        if not keys:
            yield draft
        for key in keys:
            groups[key].append(draft)
    for drafts in groups.values():
        changes = [change for draft in drafts for change in draft.changes]
        if 1 < len(changes) <= MOST_SPANS:
            yield drafts[0]._replace(changes=changes)


def edits_in_order(
    text: str, drafts: Iterable[Draft], line_of: Callable[[int], int],
    plain: Callable[[str], str] = lambda changed: changed,
) -> Edits:
    """Return at most MOST_EDITS edits of a file in order. Each edit weighs more than the one before it of the same kind
    and weight, so that kinds alternate. Only the first of edits that make the same program is returned: `plain` maps a
    file to a text that is the same for the same program. `line_of` returns the number of a character's line."""
    before = Counter[tuple[str, float]]()
    weighed = []
    for draft in sorted(islice(drafts, MOST_DRAFTS), key=lambda draft: (draft.weight, draft.start)):
        alike = draft.kind, draft.weight
        weighed.append((draft.weight + _REPEATED * before[alike], draft))
        before[alike] += 1
    weighed.sort(key=lambda weighed_draft: weighed_draft[0])
    return Edits(edits=list(islice(_distinct_edits(text, weighed, line_of, plain), MOST_EDITS)))


def _distinct_edits(
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
    spans: list[Span] = []
    for start, end, new in sorted(changes):
        if spans and start < spans[-1].end:
            return None
        if text[start:end] != new:
            spans.append(Span(start=start, end=end, text=new))
    return spans if 0 < len(spans) <= MOST_SPANS else None
