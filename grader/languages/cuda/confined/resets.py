"""Edits of variables that a kernel in CUDA C++ sets too rarely or too often: sums that are set once before a loop
though each iteration needs them reset, and values that are set anew before the old ones have been used."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise

from grader.languages.cuda.source import BREAKS, CodeWord, insert, statements
from grader.languages.drafts import Change, Draft

_NUMBERS = frozenset({"float", "double", "int", "unsigned", "long", "half", "__half"})
_CONSTANTS = frozenset({"INFINITY", "FLT_MAX", "FLT_MIN", "HUGE_VALF"})
_ZERO = re.compile(r"0+(?:\.0*)?[fF]?|[,{}]")
_PAIRS = {")": "(", "]": "[", "}": "{"}
_ADDS = frozenset({"+=", "-=", "*=", "/=", "|=", "&=", "^=", "++", "--"})
_MOST_LOOPS = 16
_LONGEST = 8
"""The most tokens of a value that is set."""


class _Loop:
    """A loop's body in braces: the positions of each of its names, and of the ends of its statements."""

    def __init__(self, body: Sequence[CodeWord], partners: dict[int, int], first: int) -> None:
        last = partners[first]
        self._body, self._partners = body, partners
        self._ends = [at for at in range(first, last + 1) if body[at].text in BREAKS]
        self._at: dict[str, list[int]] = {}
        for at in range(first, last):
            if body[at].text.isidentifier():
                self._at.setdefault(body[at].text, []).append(at)

    def needs(self, name: str) -> bool:
        """Return whether the loop adds to a name, uses it elsewhere, and never sets it anew."""
        done = {self._done(name, at) for at in self._at.get(name, ())}
        return {"adds", "uses"} <= done and "sets" not in done

    def _done(self, name: str, at: int) -> str:
        number = bisect_right(self._ends, at)
        if self._called("mma_sync", number):
            return "adds"
        if self._called("fill_fragment", number):
            return "sets"
        after = at + 1
        while self._body[after].text == "[" and after in self._partners:
            after = self._partners[after] + 1
        sign, others = self._body[after].text, self._at[name]
        if sign in _ADDS:
            return "adds"
        # A name that stands on both sides of `=` is added to.
        here = bisect_left(others, at)
        left = here > 0 and others[here - 1] >= self._ends[number - 1]
        right = bisect_right(others, self._ends[number]) > here + 1
        if sign == "=":
            return "adds" if right else "sets"
        return "adds" if left else "uses"

    def _called(self, function: str, number: int) -> bool:
        places = self._at.get(function, ())
        found = bisect_left(places, self._ends[number - 1])
        return found < len(places) and places[found] < self._ends[number]


def resets(body: Sequence[CodeWord], text: str) -> Iterator[Draft]:
    """Yield edits that reset variables at the beginning of each iteration: those that are set before a loop, and added
    to and used in it. They are reset one by one, and all at once."""
    partners = _partners(body)
    for at, first in _loops(body, partners)[:_MOST_LOOPS]:
        loop, head = _Loop(body, partners, first), {word.text for word in body[at:first]}
        # A variable of the loop's head counts its iterations, and must not be reset.
        again = [f" {statement};" for name, statement in _set(body[:at], partners, text).items()
                 if name not in head and loop.needs(name)]
        for one in dict.fromkeys([*again, "".join(again)] if again else []):
            yield Draft("missing", 0.8, (insert(body[first].end, one),))


def again(body: Sequence[CodeWord]) -> Iterator[Draft]:
    """Yield edits that drop an assignment if its variable is used, and then assigned again in the same block."""
    blocks, used = [dict[str, tuple[list[str], int, Change]]()], Counter[str]()
    for statement in statements(body):
        *texts, last = [word.text for word in statement]
        used.update([*texts, last])
        if last == "{":
            blocks.append({})
        elif last == "}":
            blocks = blocks[:-1] or [{}]
        target = texts[:texts.index("=")] if "=" in texts else []
        if last == ";" and target and target[0].isidentifier() and target[1:2] in ([], ["."]):
            before, count, left_out = blocks[-1].get(target[0], ([], 0, None))
            if left_out and before[:len(target)] == target and used[target[0]] > count + 1:
                yield Draft("extra", 0.9, (left_out,))
            blocks[-1][target[0]] = target, used[target[0]], Change(statement[0].start, statement[-1].end, "")


def updated_early(body: Sequence[CodeWord], text: str) -> Iterator[Draft]:
    """Yield edits that move `m = new;` after the next statement, which uses both `m` and `new`: it may need the old
    value."""
    for before, here in pairwise(statements(body)):
        earlier, texts = ([word.text for word in words] for words in (before, here))
        if (len(earlier) == 4 and earlier[1:4:2] == ["=", ";"] and texts[1:2] == ["="] and texts[-1] == ";"
                and texts[0] not in earlier and {earlier[0], earlier[2]} <= {*texts[2:]}):
            one, other = (slice(words[0].start, words[-1].end) for words in (before, here))
            yield Draft("order", 0.9, (
                Change(one.start, one.stop, text[other]), Change(other.start, other.stop, text[one])))


def _partners(body: Sequence[CodeWord]) -> dict[int, int]:
    """Return the index of each closing bracket by the index of the opening one."""
    waiting, found = list[int](), dict[int, int]()
    for at, word in enumerate(body):
        if word.text in _PAIRS.values():
            waiting.append(at)
        elif word.text in _PAIRS and waiting and body[waiting[-1]].text == _PAIRS[word.text]:
            found[waiting.pop()] = at
    return found


def _loops(body: Sequence[CodeWord], partners: dict[int, int]) -> list[tuple[int, int]]:
    """Return the index of each loop's first token, and of the brace that opens its body."""
    found = []
    for at, word in enumerate(body):
        if word.text in ("for", "while") and at + 1 in partners and partners[at + 1] + 1 in partners:
            brace = partners[at + 1] + 1
            if body[brace].text == "{":
                found.append((at, brace))
    return found


def _set(before: Sequence[CodeWord], partners: dict[int, int], text: str) -> dict[str, str]:
    """Return the statement that resets each number, array or fragment that is set in `before`, by name."""
    found, arrays, begin = dict[str, str](), set[str](), 0
    for at, word in enumerate(before[:-1]):
        after = before[at + 1]
        if word.text in BREAKS:
            begin = at + 1
        elif word.text in _NUMBERS and at == begin and before[at + 2:at + 3] and before[at + 2].text == "[":
            arrays.add(after.text)
        elif word.text == "=" and at > begin:
            name = _named(before, at)
            if name in arrays:
                end = partners.get(at + 1, at + 1)
                if all(_ZERO.fullmatch(one.text) for one in before[at + 1:end + 1]):
                    found[name] = f"memset({name}, 0, sizeof({name}))"
            elif before[at - 1].text == name and (at == begin + 1 or before[begin].text in _NUMBERS) and (
                    value := _value(before, at + 1, text)):
                found[name] = f"{name} = {value}"
        elif word.text == "fill_fragment" and at + 1 in partners and before[at + 3:at + 4] and (
                before[at + 3].text == ","):
            start = at - 2 * (before[at - 1].text == "::")
            end = partners[at + 1]
            if end < len(before):
                found[before[at + 2].text] = text[before[start].start:before[end].end]
    return found


def _named(words: Sequence[CodeWord], at: int) -> str:
    """Return the name that the `=` at `at` assigns to, without its indices; "" for none."""
    for back in range(at - 1, max(at - 16, -1), -1):
        if words[back].text in (";", "{", "}", "=", ")"):
            break
        # In `a[b[i]] =` the brackets after `b` do not balance.
        if words[back].text.isidentifier() and words[back + 1].text in ("=", "[") and (
                sum((one.text == "[") - (one.text == "]") for one in words[back + 1:at]) == 0):
            return words[back].text
    return ""


def _value(words: Sequence[CodeWord], at: int, text: str) -> str:
    """Return the text of a value without variables, "" for any other."""
    depth = 0
    for end in range(at, min(at + _LONGEST, len(words))):
        word = words[end]
        if not depth and word.text in (",", ";"):
            return text[words[at].start:words[end - 1].end] if end > at else ""
        depth += (word.text == "(") - (word.text == ")")
        variable = word.text.isidentifier() and word.text not in _CONSTANTS and words[end + 1:end + 2] and (
            words[end + 1].text != "(")
        if depth < 0 or variable or word.text in ("{", "?"):
            return ""
    return ""
