"""Edits of what a launch in CUDA C++ passes to its kernel."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations

from grader.frontends.cuda.ranges import sizes_of
from grader.frontends.cuda.source import CodeWord, put
from grader.frontends.drafts import Draft

_FEW = 8
_LONG = 64
"""Words between `<<<` and `>>>`, and of the arguments behind them, at most."""


def passed(bodies: Mapping[str, Sequence[CodeWord]], weight: float) -> Iterator[Draft]:
    """Two whole numbers of a launch exchanged, of which one is not passed under its own name. `bodies` are definitions,
    by what they define."""
    kernels = {name: sizes_of(body) for name, body in bodies.items()
               if any(word.text == "__global__" for word in body[:8])}
    for body in bodies.values():
        sizes, texts = sizes_of(body), [word.text for word in body]
        for at, text in enumerate(texts):
            taken = kernels.get(texts[at - 1], [])
            if text != "<<<" or ">>>" not in (inside := texts[at:at + _LONG]):
                continue
            begin = at + inside.index(">>>") + 2
            end = next((one for one in range(begin, min(begin + _LONG, len(texts))) if texts[one] in ("(", ")")), begin)
            given = [word for word in body[begin:end] if word.text in sizes]
            # An argument that is computed has more names, or none.
            if len(given) != len(taken) or len(taken) > _FEW or texts[end:end + 1] != [")"]:
                continue
            for (one, first), (other, second) in combinations(zip(given, taken, strict=True), 2):
                if one.text != other.text and (one.text, other.text) != (first, second):
                    yield Draft("order", weight, (put(one, other.text), put(other, one.text)))
