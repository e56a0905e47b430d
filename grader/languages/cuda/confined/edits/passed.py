"""Edits of a launch's arguments."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations

from grader.languages.cuda.confined.edits.matching import Body, found
from grader.languages.cuda.source import put
from grader.languages.drafts import Draft

_FEW = 8


def passed(bodies: Sequence[Body], weight: float) -> Iterator[Draft]:
    """Yield edits that exchange two integer arguments of a launch, unless both have the names of their parameters."""
    kernels = {body.name: body["size"] for body in bodies if "__global__" in body.texts[:8]}
    for match in (match for body in bodies for match in found("k_name <<< ... >>> ( a... )", body)):
        first, end = match.parts["a"]
        taken, sizes = kernels.get(match["k"], []), match.body["size"]
        given = [word for word in match.body.words[first:end] if word.text in sizes]
        # A computed argument holds several sizes, or none: then arguments and parameters do not pair up.
        if len(given) != len(taken) or len(taken) > _FEW or "(" in match.texts("a"):
            continue
        for (one, parameter), (other, second) in combinations(zip(given, taken, strict=True), 2):
            if one.text != other.text and (one.text, other.text) != (parameter, second):
                yield Draft("order", weight, (put(one, other.text), put(other, one.text)))
