"""Edits that exchange names and numbers of a statement which belong together: sizes, members of a vector, quotients and
remainders, arguments of a launch; and edits of the end of the share of an array that a thread or block takes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations, pairwise

from grader.languages.cuda.confined.edits.matching import LONGEST, Body, TokenMatch, find_matches
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
    least, most = min(count[member] for member in of), max(count.values())
    for word in used:
        others = [member for member in of if member != word.text]
        if len(count) == 2 and count[word.text] == 1:
            yield from (Draft("member", 0.7, (put(word, member),)) for member in others if count[member])
        elif count[word.text] == most > least and (len(count) > 2 or len(of) == 2):
            yield from (Draft("member", 1.0, (put(word, member),)) for member in others if count[member] == least)


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
    for match in find_matches("a {/ %} d_word {; , ) ] + - < ==}", body) if body.kernel else ():
        at = match.parts["a"][0]
        number = "".join(body.texts[at - 2 * (body.texts[at - 1] == "."):at + 1])
        known.setdefault(number, []).append((body.texts[at + 1], body.words[match.parts["d"][0]]))
    for used in known.values():
        divisors = {word.text for _, word in used}
        if len({sign for sign, _ in used}) == len(divisors) == 2:
            for _, word in used:
                divisor, = divisors - {word.text}
                yield Draft("constant", 0.5, (put(word, divisor),))


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
            swapped = {names[0]: names[1], names[1]: names[0]}
            yield Draft("exchanged", 1.3, tuple(put(word, swapped[word.text]) for word in used))


def passed(bodies: Sequence[Body], weight: float) -> Iterator[Draft]:
    """Yield edits that exchange two integer arguments of a launch, unless both have the names of their parameters."""
    kernels = {body.name: body["size"] for body in bodies if "__global__" in body.texts[:8]}
    for match in (match for body in bodies for match in find_matches("k_name <<< ... >>> ( a... )", body)):
        first, end = match.parts["a"]
        taken, sizes = kernels.get(match["k"], []), match.body["size"]
        given = [word for word in match.body.words[first:end] if word.text in sizes]
        # A computed argument holds several sizes, or none: then arguments and parameters do not pair up.
        if len(given) != len(taken) or len(taken) > _FEW or "(" in match.texts("a"):
            continue
        for (argument, parameter), (later, second) in combinations(zip(given, taken, strict=True), 2):
            if argument.text != later.text and (argument.text, later.text) != (parameter, second):
                yield Draft("order", weight, (put(argument, later.text), put(later, argument.text)))


# `min` of one of these types and an int is ambiguous.
_WIDE = frozenset({"unsigned", "long", "size_t", "uint32_t", "auto"})
_NO_ENDS = frozenset({"/", "?", "min", "&&", "||", "<", "[", "="})


def ends(body: Body) -> Iterator[Draft]:
    """Yield edits that limit the end of a share by a size: an end that has a name, or one in a comparison."""
    sizes, values = body["size"], dict[str, TokenMatch]()
    for match in find_matches("n_name = v... {; ,}", body) if sizes else ():
        values.setdefault(match["n"], match)
    limits = {match["n"] for match in find_matches("< n_name", body)}
    named = [match for name, match in values.items() if name in limits]
    for match in (*named, *find_matches("< v... {; ,}", body)) if sizes else ():
        value = match.texts("v")
        # `n + 1` is no end of a share; `(part + 1) * share` is, even if the share is a size.
        other_sizes = [size for size in sizes if size not in value]
        if "+" not in value or _NO_ENDS & {*value} or (len(other_sizes) < len(sizes) and "*" not in value):
            continue
        own = _sizes_behind(value, values, other_sizes)
        written = match.source("v")
        for size in own or other_sizes[::-1]:
            limited = f"({written} < {size} ? {written} : {size})" if _WIDE & {*match.before} else (
                f"min({size}, {written})")
            yield Draft("end", 0.7 if own or len(other_sizes) == 1 else 0.9, (match.change("v", limited),))


def _sizes_behind(value: Sequence[str], values: Mapping[str, TokenMatch], sizes: Sequence[str]) -> list[str]:
    """Return the sizes on which a value depends, also by way of other names."""
    seen, waiting = set[str](), list(value)
    while waiting and len(seen) < LONGEST:
        name = waiting.pop()
        if name in values and name not in seen:
            waiting += values[name].texts("v")
        seen.add(name)
    return [size for size in sizes if size in seen]
