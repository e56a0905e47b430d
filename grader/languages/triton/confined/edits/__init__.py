"""The error model: changes of a student's file that may mend it. The most frequent mistakes come first.

`rules.py` has most edits as a table. A finder is a module of this folder that yields drafts which no pattern describes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain

from grader.languages.drafts import Draft, edits_in_order
from grader.languages.triton.confined.edits import (
    ahead,
    calls,
    constants,
    groups,
    launches,
    masks,
    names,
    passed,
    pointers,
    statements,
    steps,
    unknown,
)
from grader.languages.triton.confined.edits.matching import drafts
from grader.languages.triton.confined.edits.near import nearness
from grader.languages.triton.confined.edits.rules import ANYWHERE, HOST, KERNEL
from grader.languages.triton.confined.edits.source import SourceTree
from grader.languages.triton.confined.edits.units import File, read
from grader.plan.edits import MOST_EDITS, Edits
from grader.plan.messages import Given

FINDERS = (ahead, calls, constants, groups, launches, masks, names, passed, pointers, statements, steps, unknown)
_FORGOTTEN = 0.8
"""The weight that an edit loses if it uses a name which the function binds and never uses."""
_LEAST = 0.5
_WORD = re.compile(r"[^\W\d]\w*")
_MOST_TEXT = 2_000


def edits_of(
    text: str, function: str, given: Sequence[Given], most: int = MOST_EDITS, lines: Sequence[int] = ()
) -> Edits:
    """Return at most `most` edits of the file whose graded function is called on `given`, none for a file that is not
    Python. `lines` are the lines that evidence names.

    Raises ValueError, RecursionError or MemoryError for a text that cannot be read.
    """
    try:
        source = SourceTree(text)
    except SyntaxError:
        return Edits(edits=[])
    file = read(source, function, given)
    return edits_in_order(text, _drafts(file, nearness(file, lines)), most, source.number_of)


def _drafts(file: File, near: Mapping[int, float]) -> Iterator[Draft]:
    for unit in file.units:
        unused = unit.unused()
        ruled = (drafts(rules, file, unit) for rules in (ANYWHERE, KERNEL if unit.kernel else HOST))
        for draft in chain(*(finder.edits(file, unit) for finder in FINDERS), *ruled):
            if any(len(one.text) > _MOST_TEXT for one in draft.changes):
                continue
            named = unused and any(unused.intersection(_WORD.findall(one.text)) for one in draft.changes)
            less = near.get(file.source.number_of(draft.start), 0) + _FORGOTTEN * bool(named)
            yield draft._replace(weight=max(_LEAST, draft.weight - less))
    yield from constants.of_module(file)
