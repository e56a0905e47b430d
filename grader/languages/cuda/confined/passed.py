"""Edits of a launch in CUDA C++: of its grid and block, and of its arguments."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations

from grader.languages.cuda.confined.ranges import sizes_of
from grader.languages.cuda.source import CodeWord, arguments, put, swap
from grader.languages.drafts import Draft

_FEW = 8
_LONG = 64
"""The most tokens between `<<<` and `>>>`, and of the arguments behind them."""
_THREADS = re.compile(r"\d+|[A-Z][A-Z\d_]*|(?i:t|tpb|block|.*threads.*|block_?(size|dim).*)")
"""Pattern of a launch's first size that looks like the block's."""
_UNLIKELY = 1.6
"""The surcharge on the weight of exchanging grid and block where the first size looks like the grid's."""


def turned(body: Sequence[CodeWord], text: str, weight: float) -> Iterator[Draft]:
    """Yield edits that exchange the grid and the block of a launch."""
    texts = [word.text for word in body]
    for at, sign in enumerate(texts):
        if sign == "<<<" and len(sizes := arguments(texts, at)) > 1:
            first, end = sizes[0]
            likely = end == first + 1 and _THREADS.fullmatch(texts[first])
            yield Draft("order", weight if likely else weight + _UNLIKELY, swap(body, text, *sizes[:2]))


def passed(bodies: Mapping[str, Sequence[CodeWord]], weight: float) -> Iterator[Draft]:
    """Yield edits that exchange two integer arguments of a launch, unless both have the names of their parameters.
    `bodies` are definitions by name."""
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
            # A computed argument holds several sizes, or none: then arguments and parameters do not pair up.
            if len(given) != len(taken) or len(taken) > _FEW or texts[end:end + 1] != [")"]:
                continue
            for (one, first), (other, second) in combinations(zip(given, taken, strict=True), 2):
                if one.text != other.text and (one.text, other.text) != (first, second):
                    yield Draft("order", weight, (put(one, other.text), put(other, one.text)))
