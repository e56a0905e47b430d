"""The error model: changes of a student's file that may mend it, those first that are made most often.

A theme goes through a function's nodes and yields drafts with weights; here they are put in order. Kinds take turns:
the further down an edit stands among those of its kind and weight, the more it weighs.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, islice

from grader.frontends.triton.edits import (
    arithmetic,
    calls,
    constants,
    host,
    loops,
    masks,
    names,
    passed,
    spread,
    steps,
    unknown,
)
from grader.frontends.triton.edits.draft import Draft
from grader.frontends.triton.edits.near import nearness
from grader.frontends.triton.edits.source import Change, SourceTree
from grader.frontends.triton.edits.units import File, read
from grader.plan.edits import MOST_EDITS, MOST_SPANS, Edit, Edits, Span, edited
from grader.plan.messages import Given

THEMES = (arithmetic, constants, names, masks, spread, calls, steps, loops, host, passed, unknown)
MOST_DRAFTS = 4 * MOST_EDITS
_TURN = 0.02
"""What an edit weighs more than the one of its kind and weight before it."""
_FORGOTTEN = 0.8
"""What an edit weighs less that uses a name which the function binds and never uses."""
_LEAST = 0.5
_WORD = re.compile(r"[^\W\d]\w*")
_MOST_TEXT = 2_000


def edits_of(
    text: str, function: str, given: Sequence[Given], most: int = MOST_EDITS, lines: Sequence[int] = ()
) -> Edits:
    """At most so many edits of the file whose graded function is called on `given`. None for a file that is not Python.
    `lines` are those that evidence names.

    Raises ValueError, RecursionError or MemoryError for a text that cannot be read.
    """
    try:
        source = SourceTree(text)
    except SyntaxError:
        return Edits(edits=[])
    file = read(source, function, given)
    drafts = sorted(
        islice(_drafts(file, nearness(file, lines)), MOST_DRAFTS), key=lambda draft: (draft.weight, _first(draft)))
    before = Counter[tuple[str, float]]()
    weighed = []
    for draft in drafts:
        alike = draft.kind, draft.weight
        weighed.append((draft.weight + _TURN * before[alike], draft))
        before[alike] += 1
    weighed.sort(key=lambda one: one[0])
    return Edits(edits=list(islice(_once(source, weighed), min(most, MOST_EDITS))))


def _drafts(file: File, near: Mapping[int, float]) -> Iterator[Draft]:
    for unit in file.units:
        unused = unit.unused()
        for draft in chain.from_iterable(theme.edits(file, unit) for theme in THEMES):
            if any(len(one.text) > _MOST_TEXT for one in draft.changes):
                continue
            named = unused and any(unused.intersection(_WORD.findall(one.text)) for one in draft.changes)
            less = near.get(file.source.number_of(_first(draft)), 0) + _FORGOTTEN * bool(named)
            yield draft._replace(weight=max(_LEAST, draft.weight - less)) if less else draft
    yield from constants.of_module(file)


def _first(draft: Draft) -> int:
    return min(change.start for change in draft.changes)


def _once(source: SourceTree, weighed: Sequence[tuple[float, Draft]]) -> Iterator[Edit]:
    """The edits that change something, each result once."""
    seen = {_mark(source.text)}
    for weight, draft in weighed:
        spans = _spans(source.text, draft.changes)
        if spans is None:
            continue
        edit = Edit(kind=draft.kind, line=source.number_of(spans[0].start), spans=spans, weight=weight,
                    workaround=draft.workaround)
        mark = _mark(edited(source.text, edit))
        if mark not in seen:
            seen.add(mark)
            yield edit


def _mark(text: str) -> bytes:
    """What stands for a text: thousands of whole ones would not fit into memory."""
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()


def _spans(text: str, changes: Sequence[Change]) -> list[Span] | None:
    """The spans in order, without what stays as it is; None where they overlap or change nothing."""
    found: list[Span] = []
    for start, end, new in sorted(changes):
        if found and start < found[-1].end:
            return None
        if text[start:end] != new:
            found.append(Span(start=start, end=end, text=new))
    return found if 0 < len(found) <= MOST_SPANS else None
