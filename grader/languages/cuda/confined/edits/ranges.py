"""Edits of the end of the share of an array that a thread or block takes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from grader.languages.cuda.confined.edits.matching import LONGEST, Body, TokenMatch, found
from grader.languages.drafts import Draft

# `min` of one of these types and an int is ambiguous.
_WIDE = frozenset({"unsigned", "long", "size_t", "uint32_t", "auto"})
_NO_ENDS = frozenset({"/", "?", "min", "&&", "||", "<", "[", "="})


def ends(body: Body) -> Iterator[Draft]:
    """Yield edits that limit the end of a share by a size: an end that has a name, or one in a comparison."""
    sizes, values = body["size"], dict[str, TokenMatch]()
    for match in found("n_name = v... {; ,}", body) if sizes else ():
        values.setdefault(match["n"], match)
    limits = {match["n"] for match in found("< n_name", body)}
    named = [match for name, match in values.items() if name in limits]
    for match in (*named, *found("< v... {; ,}", body)) if sizes else ():
        value = match.texts("v")
        # `n + 1` is no end of a share; `(part + 1) * share` is, even if the share is a size.
        other = [size for size in sizes if size not in value]
        if "+" not in value or _NO_ENDS & {*value} or (len(other) < len(sizes) and "*" not in value):
            continue
        own = _sizes_behind(value, values, other)
        written = match.source("v")
        for size in own or other[::-1]:
            limited = f"({written} < {size} ? {written} : {size})" if _WIDE & {*match.before} else (
                f"min({size}, {written})")
            yield Draft("end", 0.7 if own or len(other) == 1 else 0.9, (match.change("v", limited),))


def _sizes_behind(value: Sequence[str], values: Mapping[str, TokenMatch], sizes: Sequence[str]) -> list[str]:
    """Return the sizes on which a value depends, also by way of other names."""
    seen, waiting = set[str](), list(value)
    while waiting and len(seen) < LONGEST:
        one = waiting.pop()
        if one in values and one not in seen:
            waiting += values[one].texts("v")
        seen.add(one)
    return [size for size in sizes if size in seen]
