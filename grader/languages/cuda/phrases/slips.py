"""Slips of the pen: text that the author of a file cannot mean."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import pairwise

from grader.languages.cuda.shared import behind_indices
from grader.languages.cuda.source import CodeWord, code_words
from grader.languages.phrases import Slip, fact

# At most 18 digits, as Python takes quadratic time to read a number.
_NUMBER = re.compile(r"(\d{1,18})[uUlL]*")
_WHOLE = frozenset({"int", "unsigned", "long", "short", "size_t", "uint", "int32_t", "uint32_t", "int64_t", "uint64_t"})
_MAXIMUM, _LEAST = frozenset({"fmaxf", "fmax", "max"}), frozenset({"FLT_MIN", "DBL_MIN"})
_NEVER_NEGATIVE = frozenset({"fabsf", "fabs", "abs", "__habs", "expf", "__expf", "exp"})
_REAL = frozenset({"float", "double", "half", "__half", "__nv_bfloat16"})
# A variable declared after one of these does not belong to one thread.
_STORAGE = ("__shared__", "extern", "static", "__device__")
# A quotient begins after one of these: in `2 * 1 / n` the product comes first.
_BEGINS = frozenset({"=", "(", ",", "+", "-", "return", "{", "[", "?", ":"})
# A name followed by one of these is part of a longer expression, whose value may have another type.
_GOES_ON = frozenset({"(", "[", ".", "->", "::", "<", "<<", "<="})


@lru_cache(maxsize=1)
def slips(source: str) -> tuple[Slip, ...]:
    """Return the slips of a file: variables that are added to before they are set, quotients of integers that are 0,
    and maxima that begin above negative numbers."""
    words = code_words(source)
    texts = [word.text for word in words]
    return (*_unset(words, texts), *_quotients(words, texts), *_maxima(words, texts))


def _unset(words: Sequence[CodeWord], texts: Sequence[str]) -> Iterator[Slip]:
    """Yield slips such as `float sum;` or `float acc[4];` where the first use of the variable is `+=`."""
    places: dict[str, list[int]] = {}
    for at, text in enumerate(texts):
        places.setdefault(text, []).append(at)
    for at, (word, name) in enumerate(pairwise(texts)):
        if word not in _REAL or not name.isidentifier() or (at and texts[at - 1] in _STORAGE):
            continue
        ends = behind_indices(texts, at + 2)
        after = bisect_left(places[name], ends)
        # No semicolon follows a function's parameter.
        if texts[ends : ends + 1] != [";"] or after == len(places[name]):
            continue
        used = places[name][after]
        sign = behind_indices(texts, used + 1)
        if texts[sign : sign + 1] == ["+="]:
            line = words[used].line
            yield Slip(line, fact("slip.unset.seen", line=line, name=name, declared=words[at].line),
                       fact("slip.unset.advice"))


def _quotients(words: Sequence[CodeWord], texts: Sequence[str]) -> Iterator[Slip]:
    """Yield slips such as `1 / 2`, and `1 / cols` where cols is an integer."""
    whole = _declared(texts, _WHOLE) - _declared(texts, _REAL)
    for at in range(1, len(texts) - 2):
        above, sign, below = texts[at : at + 3]
        if sign != "/" or texts[at - 1] not in _BEGINS or not (number := _NUMBER.fullmatch(above)):
            continue
        divisor, after = _NUMBER.fullmatch(below), texts[at + 3] if at + 3 < len(texts) else ""
        if divisor and int(number[1]) < int(divisor[1]):
            always = "always"
        elif below in whole and after not in _GOES_ON and int(number[1]) == 1:
            always = "unless"
        else:
            continue
        line = words[at].line
        yield Slip(line, fact(f"slip.quotient.{always}", line=line, above=above, below=below),
                   fact("slip.quotient.advice", above=number[1], below=below))


def _maxima(words: Sequence[CodeWord], texts: Sequence[str]) -> Iterator[Slip]:
    """Yield slips such as `float m = FLT_MIN;` beside `m = fmaxf(m,`, unless the numbers are never negative."""
    compared = {name for name, sign, call, first, text in zip(
        texts, texts[1:], texts[2:], texts[4:], texts[6:], strict=False)
        if name == first and sign == "=" and call in _MAXIMUM and text not in _NEVER_NEGATIVE}
    for at, (sign, least) in enumerate(pairwise(texts)):
        if sign == "=" and least in _LEAST and at and (name := texts[at - 1]) in compared:
            line = words[at].line
            yield Slip(line, fact("slip.maximum.seen", line=line, name=name, least=least), fact("slip.maximum.advice"))


def _declared(texts: Sequence[str], types: frozenset[str]) -> set[str]:
    """Return the names declared with one of these types, as `cols` is in `const int cols`."""
    return {name for word, name in pairwise(texts) if word in types and name.isidentifier()}
