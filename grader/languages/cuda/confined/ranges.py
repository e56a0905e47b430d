"""Edits of the part of an array that a thread or block in CUDA C++ takes: where the elements after the vectors begin,
and where a share ends."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

from grader.languages.cuda.source import BREAKS, CodeWord, insert, put, statements
from grader.languages.drafts import Change, Draft
from grader.plan.edits import MOST_SPANS

WHOLE = frozenset({"int", "unsigned", "long", "size_t", "uint32_t", "int32_t"})
_VECTOR = re.compile(r"(?:u?(?:int|char|short|long)|float|double|__half|half|__nv_bfloat16)([248])")
_HALF = frozenset({"half", "__half"})
# `min` of one of these types and an int is ambiguous.
_WIDE = frozenset({"unsigned", "long", "size_t", "uint32_t", "auto"})
_NO_ENDS = frozenset({"/", "?", "min", "&&", "||", "<", "[", "="})
_LONGEST = 24
"""The most tokens that are read of a value."""


def sizes_of(body: Sequence[CodeWord]) -> list[str]:
    """Return the parameters of a function that are integers."""
    head = [word.text for word in body[:next((at for at, word in enumerate(body) if word.text == "{"), 0)]]
    return [name for type_, name in pairwise(head)
            if type_ in WHOLE and name.isidentifier() and name not in (*WHOLE, "char", "short")]


def widths(words: Sequence[CodeWord]) -> list[int]:
    """Return the numbers of elements that vectors of a file have: the two largest at most."""
    found = {int(match[1]) for word in words if (match := _VECTOR.fullmatch(word.text))}
    if 4 in found and any(word.text in _HALF for word in words):
        # A vector of 16 bytes holds 8 halves.
        found.add(8)
    return sorted(found, reverse=True)[:2]


def counts(words: Sequence[CodeWord], wide: Sequence[int]) -> dict[str, int]:
    """Return the names that count vectors, and how many elements each vector has: `quads = n / 4`."""
    found = dict[str, int]()
    for at in range(3, len(words) - 2):
        if words[at].text == "/" and words[at + 2].text in (";", ",") and words[at + 1].text in map(str, wide):
            for back in range(at - 1, max(at - _LONGEST, 0), -1):
                if words[back].text in BREAKS:
                    break
                if words[back].text == "=":
                    found[words[back - 1].text] = int(words[at + 1].text)
                    break
    return found


def sides(body: Sequence[CodeWord]) -> Iterator[Draft]:
    """Yield edits that exclude the bound in all comparisons of a statement: it may let one element too many through
    along each side."""
    for statement in statements(body):
        for sign, other in (("<=", "<"), (">", ">=")):
            places = [one for one, after in pairwise(statement) if one.text == sign and after.text != "("]
            if len(places) > 1:
                yield Draft("comparison", 0.8, [put(one, other) for one in places[:MOST_SPANS]])


def tails(body: Sequence[CodeWord], counted: Mapping[str, int]) -> Iterator[Draft]:
    """Yield edits that turn a count of vectors into a count of elements, in an index of the elements after the
    vectors."""
    for at in range(1, len(body) - 1):
        word, before, after = body[at], body[at - 1].text, body[at + 1].text
        if word.text in counted and before in ("=", "+", "(", ",", "[") and after in ("+", ";", ",", ")", "]"):
            place = "+" in (before, after) or before == "="
            yield Draft("factor", 0.6 if place else 1.2, (
                insert(word.start, f"{counted[word.text]} * "),))


def vectors(body: Sequence[CodeWord], wide: Sequence[int], *, kernel: bool) -> Iterator[Draft]:
    """Yield edits that turn a number of elements into one of vectors: in the bound of a kernel, and in an argument of a
    launch."""
    sizes, launched = sizes_of(body), False
    if kernel and not any(_VECTOR.fullmatch(word.text) for word in body):
        return
    for at in range(3, len(body) - 1):
        word, before, after = body[at], body[at - 1].text, body[at + 1].text
        launched = (launched or word.text == ">>>") and word.text != ";"
        bound = before == "<" and body[at - 3].text in ("(", ";", "&&") and after in (")", ";", "&&")
        if word.text in sizes and (bound if kernel else launched and before in (",", "(") and after in (",", ")")):
            for width in wide:
                yield Draft("factor", 0.9, (insert(word.end, f" / {width}"),))


def ends(body: Sequence[CodeWord], text: str) -> Iterator[Draft]:
    """Yield edits that limit the end of a share by a size: an end that has a name, or one in a comparison."""
    sizes, texts = sizes_of(body), [word.text for word in body]
    if not sizes:
        return
    values = _values(texts)
    limits = {texts[at + 1] for at in range(len(texts) - 1) if texts[at] == "<"}
    places = [place for name, place in values.items() if name in limits]
    places += [(at + 1, _end(texts, at + 1)) for at in range(len(texts) - 1) if texts[at] == "<"]
    for first, end in places:
        value = texts[first:end]
        # `n + 1` is no end of a share; `(part + 1) * share` is, even if the share is a size.
        other = [size for size in sizes if size not in value]
        if "+" not in value or texts[end:end + 1] not in ([";"], [","]) or _NO_ENDS & {*value} or (
                len(other) < len(sizes) and "*" not in value):
            continue
        own = _sizes_behind(texts, value, values, other)
        written = text[body[first].start:body[end - 1].end]
        wide = _WIDE & {*_statement(texts, first)}
        for size in own or other[::-1]:
            limited = f"({written} < {size} ? {written} : {size})" if wide else f"min({size}, {written})"
            yield Draft("end", 0.7 if own or len(other) == 1 else 0.9, (
                Change(body[first].start, body[end - 1].end, limited),))


def _values(texts: Sequence[str]) -> dict[str, tuple[int, int]]:
    """Return the first value of each name as a range of tokens: the index of the first, and the index after the
    last."""
    found = dict[str, tuple[int, int]]()
    for at in range(1, len(texts) - 1):
        if texts[at] == "=" and texts[at - 1].isidentifier():
            found.setdefault(texts[at - 1], (at + 1, _end(texts, at + 1)))
    return found


def _end(texts: Sequence[str], first: int) -> int:
    """Return the index of the token after a value; `first` if there is none."""
    depth = 0
    for at in range(first, min(first + _LONGEST, len(texts))):
        depth += (texts[at] in ("(", "[")) - (texts[at] in (")", "]"))
        if depth < 0 or texts[at] in BREAKS or (not depth and texts[at] == ","):
            return at
    return first


def _sizes_behind(
    texts: Sequence[str], value: Sequence[str], values: Mapping[str, tuple[int, int]], sizes: Sequence[str]
) -> list[str]:
    """Return the sizes on which a value depends, also by way of other names."""
    seen, waiting = set[str](), list(value)
    for _ in range(4 * _LONGEST):
        if not waiting:
            break
        one = waiting.pop()
        if one not in seen:
            seen.add(one)
            if one in values:
                first, end = values[one]
                waiting += texts[first:end]
    return [size for size in sizes if size in seen]


def _statement(texts: Sequence[str], at: int) -> Sequence[str]:
    """Return the tokens of a statement before `at`."""
    begin = next((back for back in range(at - 1, max(at - 2 * _LONGEST, 0), -1) if texts[back] in BREAKS), at)
    return texts[begin:at]
