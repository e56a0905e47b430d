"""Edits of counts in CUDA C++: they take another constant of the file, multiply a loop's variable by the elements of an
iteration, subtract 1 where numbers begin at 0, and turn elements into bytes where a call of CUDA's counts bytes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from grader.languages.cuda.confined.ranges import sizes_of
from grader.languages.cuda.source import BREAKS, CodeWord, insert, put
from grader.languages.drafts import Change, Draft

_DEFINED = re.compile(r"^[ \t]*+#[ \t]*+define[ \t]++([A-Z][A-Z\d_]++)[ \t]++([^\n]*+)", re.MULTILINE)
_OPERAND = re.compile(r"\w+")
_CUTS = frozenset({";", ",", ")", "]", "+", "-", "<", "=="})
_COMPARED = frozenset({"<", ">", "<=", ">=", "==", "?"})
# The index of the argument that counts bytes; argument 0 is the memory.
_BYTES = {"cudaMalloc": 1, "cudaMallocManaged": 1, "cudaMallocHost": 1, "cudaMallocAsync": 1, "cudaMemset": 2,
          "cudaMemsetAsync": 2, "cudaMemcpy": 2, "cudaMemcpyAsync": 2}
_FEW = 3
_LONGEST = 32
"""The most tokens that are read of an argument, a product or an index."""


def constants_of(words: Sequence[CodeWord], text: str) -> list[str]:
    """Return the names in capitals that a file assigns to, or defines as macros without a decimal point."""
    defined = [match[1] for match in _DEFINED.finditer(text) if "." not in match[2].partition("//")[0]]
    return list(dict.fromkeys(defined + [
        name.text for name, sign in pairwise(words)
        if sign.text == "=" and name.text.isupper() and len(name.text) > 1]))


def counting(body: Sequence[CodeWord], text: str, constants: Sequence[str], *, kernel: bool) -> Iterator[Draft]:
    """Yield the edits of counts in a definition. `constants` are those of the file."""
    texts = [word.text for word in body]
    yield from _constants(body, texts, constants, kernel=kernel)
    if kernel:
        yield from _halves(body, texts)
        yield from _rounds(body, texts)
        yield from _old_counts(body, texts)
        yield from _mirrored(body, texts, constants)
    else:
        yield from _bytes(body, texts, text)


def _constants(
    body: Sequence[CodeWord], texts: Sequence[str], constants: Sequence[str], *, kernel: bool
) -> Iterator[Draft]:
    """Yield edits that replace a constant by one of the nearest constants in the order of the file."""
    place = {name: number for number, name in enumerate(constants)}
    for at in range(len(body) - 1):
        own = place.get(texts[at])
        if own is None or texts[at + 1] == "=":
            continue
        near = [one for one in (own - 1, own + 1, own - 2, own + 2) if 0 <= one < len(constants)]
        for one in near[:_FEW - 1]:
            yield Draft("constant", 1.3, (put(body[at], constants[one]),), workaround=not kernel)


def _halves(body: Sequence[CodeWord], texts: Sequence[str]) -> Iterator[Draft]:
    """Yield edits for a quotient and a remainder of the same number by different divisors: each gets the other's
    divisor."""
    known = dict[str, list[int]]()
    for at in range(3, len(body) - 2):
        if texts[at] in ("/", "%") and texts[at + 2] in _CUTS and _OPERAND.fullmatch(texts[at + 1]):
            known.setdefault("".join(texts[at - 3:at]) if texts[at - 2] == "." else texts[at - 1], []).append(at)
    for places in known.values():
        divisors = {texts[at + 1] for at in places}
        if len({texts[at] for at in places}) == len(divisors) == 2:
            for at in places:
                other, = divisors - {texts[at + 1]}
                yield Draft("constant", 0.5, (put(body[at + 1], other),))


def _rounds(body: Sequence[CodeWord], texts: Sequence[str]) -> Iterator[Draft]:
    """Yield edits that multiply a loop's variable by a factor where it is added to an index. The loop counts from 0 to
    a bound that is no size, so that an iteration may cover several elements."""
    sizes, counters, factors = sizes_of(body), set[str](), dict[str, None]()
    for at in range(len(texts) - 6):
        if texts[at] == "blockIdx":
            end = at + 3
            while texts[end:end + 1] == ["*"] and end < at + _LONGEST:
                behind = end + (4 if texts[end + 2:end + 3] == ["."] else 2)
                factors["".join(texts[end + 1:behind])] = None
                end = behind
        if texts[at] == "for" and texts[at + 4:at + 7] == ["=", "0", ";"]:
            name, bound = texts[at + 3], next(iter(texts[at + 9:at + 10]), "")
            if texts[at + 7] == name and bound not in sizes and {"++"} & {*texts[at + 10:at + 14]}:
                counters.add(name)
    for at in range(1, len(texts) - 1):
        added = texts[at - 1] == "+" and texts[at + 1] in (";", "]", ")", ",")
        first = texts[at + 1] == "+" and texts[at - 1] in ("=", "[", "(", ",")
        if texts[at] in counters and (added or first):
            for factor in list(dict.fromkeys([*factors, "blockDim.x"]))[:_FEW]:
                yield Draft("factor", 0.7, (insert(body[at].end, f" * {factor}"),))


def _old_counts(body: Sequence[CodeWord], texts: Sequence[str]) -> Iterator[Draft]:
    """Yield edits that subtract 1 from a total which is compared with an atomic's result, the count before it, or which
    is the limit of an atomicInc."""
    named = {texts[at - 2] for at in range(2, len(texts)) if texts[at].startswith("atomic") and texts[at - 1] == "="}
    ends, opened = set[int](), list[int]()
    for at, text in enumerate(texts):
        if text == "(":
            opened.append(at)
        elif text == ")" and opened and texts[opened.pop() - 1].startswith("atomic"):
            ends.add(at)
    for at in range(1, len(texts) - 2):
        if texts[at] == "==" and (at - 1 in ends or texts[at - 1] in named) and not texts[at + 1].isdigit():
            end, depth = at + 2, 0
            while end < min(at + _LONGEST, len(texts) - 1) and (
                    depth or texts[end] not in (";", ")", ",", "&&", "||", "?", "-")):
                depth += (texts[end] == "(") - (texts[end] == ")")
                end += 1
            if texts[end] != "-":
                yield Draft("missing", 0.4, (insert(body[end - 1].end, " - 1"),))
        elif at in ends and texts[at - 1] != "1" and "atomicInc" in texts[max(at - _LONGEST, 0):at]:
            yield Draft("missing", 0.6, (insert(body[at - 1].end, " - 1"),))


def _mirrored(body: Sequence[CodeWord], texts: Sequence[str], constants: Sequence[str]) -> Iterator[Draft]:
    """Yield edits that subtract 1 from an index counted from the end: `n - i` is past the last element for an i of
    0."""
    sizes = {*sizes_of(body), *constants}
    for at in range(2, len(texts) - 2):
        # `blockDim.x` has two tokens more than a name.
        first = at - 3 if texts[at - 3:at] == ["blockDim", ".", "x"] else at - 1
        begins = texts[first - 1] in ("=", "[", "+") or (texts[first - 1] == "(" and not _called(texts[first - 2]))
        if texts[at] != "-" or not begins or not (first < at - 1 or texts[first] in sizes):
            continue
        rest = texts[at + 1:at + _LONGEST]
        rest = rest[:next((end for end, text in enumerate(rest) if text in (";", "]")), len(rest))]
        if rest and rest[0].isidentifier() and rest[0] not in sizes and not _COMPARED & {*rest}:
            yield Draft("missing", 0.5, (insert(body[at - 1].end, " - 1"),))


def _called(text: str) -> bool:
    return text.isidentifier() and text != "return"


def _bytes(body: Sequence[CodeWord], texts: Sequence[str], text: str) -> Iterator[Draft]:
    """Yield edits that turn a number of elements into bytes where CUDA's calls take bytes."""
    known = {texts[at - 1] for at in range(1, len(texts)) if texts[at] == "="
             and "sizeof" in texts[at:_until(texts, at, BREAKS)]}
    for at, name in enumerate(texts):
        if name in _BYTES and texts[at + 1:at + 2] == ["("]:
            found, start = list[tuple[int, int]](), at + 2
            while len(found) <= _BYTES[name] and start < len(texts):
                end = _until(texts, start, frozenset({",", ")", ";"}))
                found.append((start, end))
                start = end + 1
            first, end = found[-1]
            given = {*texts[first:end]}
            if len(found) <= _BYTES[name] or first >= end or "sizeof" in given or given & known:
                continue
            to, behind = found[0]
            # `cudaMalloc((void **)&sum, …)` takes the pointer's address: the last token is the pointer.
            target = texts[behind - 1] if behind == to + 1 or name.startswith("cudaMalloc") else (
                f"({text[body[to].start:body[behind - 1].end]})")
            bytes_ = text[body[first].start:body[end - 1].end]
            bytes_ = bytes_ if end == first + 1 else f"({bytes_})"
            yield Draft("factor", 0.5, (
                Change(body[first].start, body[end - 1].end, f"{bytes_} * sizeof(*{target})"),))


def _until(texts: Sequence[str], start: int, ends: frozenset[str]) -> int:
    """Return the index of the first token of `ends` that lies outside of the brackets opened from `start` on."""
    depth = 0
    for at in range(start, min(start + _LONGEST, len(texts))):
        if not depth and texts[at] in ends:
            return at
        depth += (texts[at] in ("(", "[")) - (texts[at] in (")", "]"))
    return min(start + _LONGEST, len(texts))
