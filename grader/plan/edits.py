"""Edits of a student's file: small changes that a front end takes for likely mends, for the judge to try."""

from __future__ import annotations

import difflib
from typing import Annotated, Literal

from pydantic import Field

from grader.plan.plan import Line, Malformed, Shaped, Size

MOST_EDITS = 4096
MOST_SPANS = 32

EditKind = Literal[
    "comparison", "operator", "operands", "brackets", "constant", "name", "exchanged", "order", "moved", "mask",
    "other", "index", "axis", "missing", "extra", "rounding", "start", "bound", "type", "function", "grid", "block",
    "barrier", "place", "member", "factor", "end",
]  # fmt: skip
"""The part that an edit changes:

`comparison`, `operator`: another one; `operands`: the two of an operator exchanged; `brackets`: what they enclose;
`constant`: a number; `name`: another variable; `exchanged`: two names exchanged throughout an expression, a statement
or a function; `order`: arguments of a call, or sizes that are unpacked; `moved`: a statement, into a loop or out of it;
`mask`: what switches lanes off; `other`: what those hold; `index`: how an index is spread over rows and columns, or
which stage of an array it is; `axis`: of a reduction or a program's number; `missing`: a factor, term or step that is
added; `extra`: one that is taken away; `rounding`: a division rounded up instead of down, or not rounded; `start`: what
an accumulator or a loop starts from; `bound`: what a loop ends at, or its step; `type`: of a number or a tensor;
`function`: another function; `grid`, `block`: of a launch; `barrier`: where threads wait for each other; `place`: the
memory in which a tensor lies; `member`: of a vector; `factor`: something that is multiplied or divided by; `end`: of a
share or group, which is cut to what is left.
"""


class Span(Shaped):
    """Characters `start` to `end` of a file, and the `text` that takes their place."""

    start: Size
    end: Size
    text: Annotated[str, Field(max_length=2_000)]


class Edit(Shaped):
    """One change: its `spans` in order, which do not overlap. `line` is the first line that it changes; `weight` grows
    from likely to unlikely. `workaround`: it may only keep the faulty code from running, so that of a proof the place
    alone is told."""

    kind: EditKind
    line: Line
    spans: Annotated[list[Span], Field(min_length=1, max_length=MOST_SPANS)]
    weight: Annotated[float, Field(ge=0, le=1_000)]
    workaround: bool = False


class Edits(Shaped):
    """The edits of a file, those to try first in front."""

    edits: Annotated[list[Edit], Field(max_length=MOST_EDITS)]


def edited(text: str, edit: Edit) -> str:
    """Return the file with the edit made. Raises Malformed for spans that do not lie one after another in the text."""
    parts, at = [], 0
    for span in edit.spans:
        if not at <= span.start <= span.end <= len(text):
            raise Malformed("an edit whose spans do not lie one after another in the file")
        parts += [text[at:span.start], span.text]
        at = span.end
    return "".join([*parts, text[at:]])


def lines_of(text: str, edit: Edit) -> tuple[int, ...]:
    """Return the lines of the file in which the edit's spans begin, each once."""
    return tuple(sorted({text.count("\n", 0, span.start) + 1 for span in edit.spans}))


def difference(before: str, after: str) -> str:
    """Return the lines that differ, as a unified diff without its head."""
    lines = list(difflib.unified_diff(before.splitlines(), after.splitlines(), lineterm="", n=0))
    return "\n".join(line for line in lines[2:] if not line.startswith("@@"))
