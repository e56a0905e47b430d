"""What a file says that its author cannot mean, by its text alone."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from grader.frontends.cuda.source import numbered_words
from grader.frontends.phrases import Slip

_NUMBER = re.compile(r"(\d+)[uUlL]*")
_WHOLE = frozenset({"int", "unsigned", "long", "short", "size_t", "uint", "int32_t", "uint32_t", "int64_t", "uint64_t"})
_REAL = frozenset({"float", "double", "half", "__half", "__nv_bfloat16"})
# What is declared behind these is no variable of one thread.
_ELSEWHERE = ("__shared__", "extern", "static", "__device__")
# Behind these a quotient begins: in `2 * 1 / n` the product comes first.
_BEGINS = frozenset({"=", "(", ",", "+", "-", "return", "{", "[", "?", ":"})
# Behind these the name goes on, to a value of another type.
_GOES_ON = frozenset({"(", "[", ".", "::", "<"})


def slips(source: str) -> Iterator[Slip]:
    """Variables that are added to before they are set, and quotients of whole numbers that are 0."""
    found = numbered_words(source)
    yield from _unset(found)
    yield from _quotients(found)


def _unset(found: list[tuple[str, int]]) -> Iterator[Slip]:
    """`float sum;` or `float acc[4];`, of which the first use is `sum +=`."""
    words = [word for word, _ in found]
    for at, (word, name) in enumerate(pairwise(words)):
        if word not in _REAL or not name.isidentifier() or (at and words[at - 1] in _ELSEWHERE):
            continue
        ends = _behind_brackets(words, at + 2)
        # A function's parameter has no semicolon behind it.
        if words[ends : ends + 1] != [";"] or name not in words[ends:]:
            continue
        used = words.index(name, ends)
        sign = _behind_brackets(words, used + 1)
        if words[sign : sign + 2] == ["+", "="]:
            line = found[used][1]
            yield Slip(line, f"Line {line} adds to `{name}`, and nothing sets it before: line {found[at][1]} declares "
                             "it without a value.", "Set it to 0 where it is declared.")


def _behind_brackets(words: list[str], at: int) -> int:
    """The place behind `[4][2]`, which begins at `at`; `at` itself where there are none."""
    while at < len(words) and words[at] == "[":
        depth = 0
        for end in range(at, len(words)):
            depth += (words[end] == "[") - (words[end] == "]")
            if not depth:
                break
        at = end + 1
    return at


def _quotients(found: list[tuple[str, int]]) -> Iterator[Slip]:
    """`1 / 2`, and `1 / cols` where cols is a whole number."""
    words = [word for word, _ in found]
    whole = _declared(words, _WHOLE) - _declared(words, _REAL)
    for at in range(1, len(words) - 2):
        above, sign, below = words[at], words[at + 1], words[at + 2]
        if sign != "/" or words[at - 1] not in _BEGINS or not (number := _NUMBER.fullmatch(above)):
            continue
        divisor, after = _NUMBER.fullmatch(below), words[at + 3] if at + 3 < len(words) else ""
        if divisor and int(number[1]) < int(divisor[1]):
            always = ""
        elif below in whole and after not in _GOES_ON and int(number[1]) == 1:
            always = f" unless {below} is 1"
        else:
            continue
        line = found[at][1]
        yield Slip(line, f"Line {line} divides whole numbers: `{above} / {below}` is 0{always}.",
                   f"Write {number[1]}.0f / {below}.")


def _declared(words: list[str], types: frozenset[str]) -> set[str]:
    """The names that stand behind one of these types, as `cols` does in `const int cols`."""
    return {name for word, name in pairwise(words) if word in types and name.isidentifier()}
