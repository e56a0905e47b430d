"""Edits that exchange names and numbers of a statement which belong together: sizes, members of a vector, quotients and
remainders."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise

from grader.languages.cuda.confined.edits.matching import Body, found
from grader.languages.cuda.source import BREAKS, CodeWord, put, statements
from grader.languages.drafts import Draft

_PLACES = ("threadIdx", "blockIdx", "blockDim", "gridDim", ")")
_MEMBERS = ("x", "y", "z", "w")
_FEW = 8
_LONGEST = 16
"""The most tokens from one size of a condition to the other, and the most members in a statement."""


def members(body: Body) -> Iterator[Draft]:
    """Yield edits that take another member of a vector in a statement: a member that occurs once beside a single other
    becomes that one, and one of the most frequent members becomes one of the least frequent."""
    for statement in statements(body.words) if body.kernel else ():
        yield from _odd([word for before, dot, word in zip(statement, statement[1:], statement[2:], strict=False)
                         if word.text in _MEMBERS and dot.text in (".", "->") and before.text not in _PLACES])


def _odd(used: Sequence[CodeWord]) -> Iterator[Draft]:
    count = Counter(word.text for word in used)
    if len(count) < 2 or len(used) > _LONGEST:
        return
    # A vector of four has `z` and `w`; other vectors have two members.
    of = _MEMBERS[:4 if {"z", "w"} & {*count} else 2]
    least, most = min(count[one] for one in of), max(count.values())
    for word in used:
        others = [one for one in of if one != word.text]
        if len(count) == 2 and count[word.text] == 1:
            yield from (Draft("member", 0.7, (put(word, one),)) for one in others if count[one])
        elif count[word.text] == most > least and (len(count) > 2 or len(of) == 2):
            yield from (Draft("member", 1.0, (put(word, one),)) for one in others if count[one] == least)


def quotients(body: Body) -> Iterator[Draft]:
    """Yield edits that exchange a quotient and a remainder of the same two operands in a statement."""
    signs = dict[tuple[str, str], list[CodeWord]]()
    for before, word, after in zip(body.words, body.words[1:], body.words[2:], strict=False):
        if word.text in BREAKS:
            signs = {}
        elif word.text in ("/", "%") and before.text.isidentifier():
            known = signs.setdefault((before.text, after.text), [])
            known.append(word)
            if len(known) < _FEW and {word.text for word in known} == {"/", "%"}:
                yield Draft("operator", 0.9, [put(word, "%" if word.text == "/" else "/") for word in known])


def halves(body: Body) -> Iterator[Draft]:
    """Yield edits for a quotient and a remainder of the same number by different divisors: each gets the other's
    divisor."""
    known = dict[str, list[tuple[str, CodeWord]]]()
    for match in found("a {/ %} d_word {; , ) ] + - < ==}", body) if body.kernel else ():
        at = match.parts["a"][0]
        number = "".join(body.texts[at - 2 * (body.texts[at - 1] == "."):at + 1])
        known.setdefault(number, []).append((body.texts[at + 1], body.words[match.parts["d"][0]]))
    for used in known.values():
        divisors = {word.text for _, word in used}
        if len({sign for sign, _ in used}) == len(divisors) == 2:
            for _, word in used:
                other, = divisors - {word.text}
                yield Draft("constant", 0.5, (put(word, other),))


def exchanged(body: Body) -> Iterator[Draft]:
    """Yield edits that exchange two sizes: in a condition that compares with both, in a statement, and in a line, which
    may hold a condition and another statement."""
    words, sizes = body.words[body.head:], body["size"]
    limits = [at for at in range(1, len(words) - 1) if words[at].text in sizes and words[at - 1].text in ("<", ">=")
              and words[at + 1].text in (")", "&&", "||", "?", ";")]
    for first, second in pairwise(limits):
        apart = words[first].text != words[second].text and second - first < _LONGEST
        if apart and not any(word.text in BREAKS for word in words[first:second]):
            yield Draft("exchanged", 1.0, (
                put(words[first], words[second].text), put(words[second], words[first].text)))
    groups: dict[tuple[str, int], list[CodeWord]] = {}
    number = 0
    for word in words:
        number += word.text in BREAKS
        if word.text in sizes:
            for group in (("statement", number), ("line", word.line)):
                groups.setdefault(group, []).append(word)
    for used in groups.values():
        names = sorted({word.text for word in used})
        if len(names) == 2:
            other = {names[0]: names[1], names[1]: names[0]}
            yield Draft("exchanged", 1.3, tuple(put(word, other[word.text]) for word in used))
