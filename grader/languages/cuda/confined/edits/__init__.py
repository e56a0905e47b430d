"""The error model of CUDA C++: edits of a student's file that may correct it, the most frequent ones first.

Edited files are compiled, so there are few kinds of edit, and evidence decides their order. Edits change tokens, not a
tree: most depend on the signs around a name, and one that makes no sense does not compile, which costs a try.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from itertools import pairwise

from grader.languages.cuda.confined.edits import names, resets
from grader.languages.cuda.confined.edits.matching import Body, drafts
from grader.languages.cuda.confined.edits.roles import ROLES, WORDS, definitions
from grader.languages.cuda.confined.edits.rules import ANYWHERE, FAR, HOST, KERNEL, LEAST
from grader.languages.cuda.shared import stage_uses
from grader.languages.cuda.source import code_words
from grader.languages.drafts import Draft, edits_in_order
from grader.plan.edits import Edits

LARGEST = 1 << 16
"""The most characters of a file that is edited: a larger one takes the compiler too long."""
_NAMED, _BINDS = 0.8, 0.5
"""The discount on an edit's weight in a line that evidence names, and in a line that sets a name used there."""


def edits_of(text: str, lines: Sequence[int] = ()) -> Edits:
    """Return the edits of a file, none of a file larger than LARGEST. `lines` are those that evidence names."""
    if len(text) > LARGEST:
        return Edits(edits=[])
    file, breaks = Body(code_words(text), text, ROLES), [match.start() for match in re.finditer("\n", text)]

    def line_of(place: int) -> int:
        return bisect_left(breaks, place) + 1

    near = _nearness(file, lines)
    drafts = (
        draft._replace(weight=max(LEAST, draft.weight - near.get(line_of(draft.start), -FAR if near else 0)))
        for draft in _drafts(file))
    # Edits that differ in spaces alone make the same program.
    return edits_in_order(text, drafts, line_of, lambda changed: "".join(changed.split()))


def _nearness(file: Body, lines: Sequence[int]) -> dict[int, float]:
    """Return the discount on edits' weights by line number: for lines that evidence names, for lines that set a name
    used there, and 0 for the others of the functions around them."""
    discounts: dict[int, float] = {}
    bodies = list(definitions(file))
    for body in bodies:
        here = [line for line in lines if body.words[0].line <= line <= body.words[-1].line]
        if not here:
            continue
        used = {word.text for word in body.words if word.line in here and word.text.isidentifier()}
        for word, after in pairwise(body.words):
            sets = word.text in used and after.text in ("=", "+=", "[", ";")
            discounts[word.line] = max(discounts.get(word.line, 0), _BINDS if sets else 0)
        discounts |= dict.fromkeys(here, _NAMED)
    # A device function may hold the mistake, whichever kernel calls it.
    helpers = [body for body in bodies if discounts and "__device__" in body.texts[:8]]
    return {word.line: -FAR / 2 for body in helpers for word in body.words} | discounts


def _drafts(file: Body) -> Iterator[Draft]:
    bodies, staged = list(definitions(file)), stage_uses(file.words)
    yield from names.passed(bodies, LEAST - FAR)
    for body in bodies:
        yield from drafts((*ANYWHERE, *(KERNEL if body.kernel else HOST)), WORDS, body)
        for finder in (names.quotients, names.halves, names.exchanged, names.members, names.ends):
            yield from finder(body)
        if body.kernel:
            yield from resets.resets(body)
            yield from resets.reassigned(body)
            yield from resets.stages(body, staged)
            yield from resets.threads(body)
