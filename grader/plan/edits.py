"""Edits of a student's file: small changes that may mend it. A front end lists them, and the judge tries them."""

from __future__ import annotations

import difflib
from typing import Annotated, Literal

from pydantic import Field

from grader.plan.plan import Line, Malformed, Size, StrictModel

MOST_EDITS = 4096
MOST_SPANS = 32
MOST_EDITED = 128
"""The most edited files that one request plans."""
EDITED_PLAN_BYTES = 1 << 20
"""Room for the plan of an edited file."""

EditKind = Literal[
    "comparison", "operator", "operands", "brackets", "constant", "name", "exchanged", "order", "moved", "mask",
    "other", "index", "axis", "missing", "extra", "rounding", "start", "bound", "type", "function", "grid", "block",
    "barrier", "place", "member", "factor", "end",
]  # fmt: skip
"""The part that an edit changes; `edit.` in `languages/messages.toml` has the words for it. `missing` and `extra` are
factors, terms, steps or statements; `exchanged` are two names throughout an expression, a statement or a function."""


class Span(StrictModel):
    """Characters `start` to `end` of a file, and the `text` that takes their place."""

    start: Size
    end: Size
    text: Annotated[str, Field(max_length=2_000)]


class Edit(StrictModel):
    """One change: its `spans` in order, which do not overlap. `line` is the first line that it changes; `weight` grows
    from likely to unlikely. `workaround`: the change may only keep the faulty code from running, so a message about its
    proof names the place alone."""

    kind: EditKind
    line: Line
    spans: Annotated[list[Span], Field(min_length=1, max_length=MOST_SPANS)]
    weight: Annotated[float, Field(ge=0, le=1_000)]
    workaround: bool = False


class Edits(StrictModel):
    """The edits of a file, in the order in which to try them."""

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
