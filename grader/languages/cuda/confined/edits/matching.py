"""Patterns of tokens: their matches in a definition, and the edits that rows of the error model make of them."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from itertools import pairwise, product
from typing import Any, NamedTuple

from grader.languages.cuda.source import BREAKS, CodeWord, tokens
from grader.languages.drafts import Change, Draft, Rule, grouped

LONGEST = 64
"""The most tokens that one variable matches, and that are read of a statement."""
_ITEM = re.compile(r"\{\S.*?\}(?= |$)|\S+")
_VARIABLE = re.compile(r"([a-z]?)(?:_([a-z]+))?(\.\.\.)?")
_STEP = re.compile(r"(\S+):(?: (.*))?")
_USED = re.compile(r"\([a-z]\)|\b[a-z]\b|\b[A-Z]{4,}\b")
_OPENS, _CLOSES = ("(", "[", "{"), (")", "]", "}")


class Element(NamedTuple):
    """An element of a pattern: a token of `texts`, or a variable. `many`: one token or more, up to the first that the
    next element matches, outside of brackets; without a variable, any number."""

    texts: frozenset[str] = frozenset()
    variable: str = ""
    role: str = ""
    many: bool = False


class Body:
    """Definition at the outermost level, or a whole file: its tokens, and their `roles`, each a function that returns
    the texts which have it, or their pattern. `file` is the file of a definition, `text` the file's text."""

    def __init__(
        self, words: Sequence[CodeWord], text: str, roles: Mapping[str, Callable[[Body], Any]], file: Body | None = None
    ) -> None:
        self.words, self.texts, self.text, self.file = words, [word.text for word in words], text, file or self
        self._roles, self._known = roles, dict[str, Any]()
        self.kernel = not {"__global__", "__device__"}.isdisjoint(self.texts[:8])
        self.head = self.texts.index("{") if "{" in self.texts else 0
        self.name = next((name for name, after in pairwise(self.texts[:self.head])
                          if after == "(" and name != "__launch_bounds__"), "")

    def __getitem__(self, role: str) -> Any:
        """Return the texts that have a role."""
        if role not in self._known:
            self._known[role] = self._roles[role](self)
        return self._known[role]


@dataclass(frozen=True)
class TokenMatch:
    """A match of a pattern: for each variable, and each other token, the index of its first token and the index after
    its last. `it` is the whole."""

    body: Body
    parts: dict[str, tuple[int, int]]

    def texts(self, part: str) -> Sequence[str]:
        first, end = self.parts[part]
        return self.body.texts[first:end]

    def __getitem__(self, part: str) -> str:
        """Return the first token of a part."""
        return self.body.texts[self.parts[part][0]]

    def source(self, part: str) -> str:
        start, end = self._place(part)
        return self.body.text[start:end]

    @property
    def before(self) -> Sequence[str]:
        """The tokens of the statement before the match."""
        texts, first = self.body.texts, self.parts["it"][0]
        begin = next((at for at in range(first - 1, max(first - LONGEST, 0), -1) if texts[at] in BREAKS), first - 1)
        return texts[begin + 1:first]

    def change(self, part: str, new: str) -> Change:
        """Return the change that puts a text in a part's place, without what stays at its beginning or end."""
        (start, end), old = self._place(part), self.source(part)
        if new.startswith(old):
            return Change(end, end, new[len(old):])
        if new.endswith(old):
            return Change(start, start, new[:-len(old)])
        if not old.endswith(new):
            return Change(start, end, new)
        # With the space in front of it.
        first = self.parts[part][0]
        before = self.body.words[max(first - 1, 0)]
        return Change(before.end if first and before.line == self.body.words[first].line else start,
                      start + len(old.removesuffix(new).rstrip()), "")

    def _place(self, part: str) -> tuple[int, int]:
        first, end = self.parts[part]
        return self.body.words[first].start, self.body.words[end - 1].end


Condition = Callable[[TokenMatch], bool]
Words = Mapping[str, Callable[[TokenMatch], Sequence[str]]]
"""The texts that words in capitals stand for."""


_GROUPS: Mapping[str, Callable[[TokenMatch, int], tuple[object, ...]]] = {
    "one": lambda match, statement: (), "statement": lambda match, statement: (statement,),
    "all": lambda match, statement: (None,), "spread": lambda match, statement: (statement, match["p"], None),
}


class _Rewrite(NamedTuple):
    """One of the changes of the row with this number, read."""

    row: int
    elements: tuple[Element, ...]
    steps: tuple[tuple[str, str], ...]


def drafts(rows: Sequence[Rule], words: Words, body: Body) -> Iterator[Draft]:
    """Yield the edits that rows make in a definition. In host code an edit may only be a workaround for a kernel's
    mistake."""
    return grouped(_matched(rows, words, body))


def _matched(
    rows: Sequence[Rule], words: Words, body: Body
) -> Iterator[tuple[Draft, list[tuple[int, object]]]]:
    """Yield a draft for each match, with the groups that it belongs to."""
    waiting, statement = _indexed(tuple(rows)), 0
    for at, word in enumerate(body.texts):
        statement += word in BREAKS
        for place, rewrite in (*waiting.get(word, ()), *waiting.get("", ())):
            row = rows[rewrite.row]
            match = _fitted(rewrite.elements, body, at - place)
            if match is None or not row.when(match):
                continue
            assert not isinstance(row.weight, Mapping)
            for changes in _written_changes(match, rewrite.steps, words):
                yield Draft(row.kind, row.weight, changes, row.workaround and not body.kernel), [
                    (rewrite.row, group) for group in _GROUPS[row.together](match, statement)]


def find_matches(pattern: str, body: Body) -> Iterator[TokenMatch]:
    """Yield the matches of a pattern in a definition."""
    elements = _parse_pattern(pattern)
    place, texts = _anchor(elements)
    for at, word in enumerate(body.texts):
        if (not texts or word in texts) and (match := _fitted(elements, body, at - place)):
            yield match


# Reading rows.

@cache
def _parse_pattern(pattern: str) -> tuple[Element, ...]:
    made: list[Element] = []
    for item in _ITEM.findall(pattern):
        if item[0] == "{" and len(item) > 2:
            made.append(Element(frozenset(item[1:-1].split())))
        elif variable := _VARIABLE.fullmatch(item):
            made.append(Element(variable=variable[1], role=variable[2] or "", many=bool(variable[3])))
        else:
            made += [Element(frozenset({token})) for token in tokens(item)]
    return tuple(made)


def _anchor(elements: Sequence[Element]) -> tuple[int, frozenset[str]]:
    """Return the place and texts of the element by which a pattern is found: that of the fewest texts."""
    fixed = next((at for at, element in enumerate(elements) if element.many), len(elements))
    return min(((at, element.texts) for at, element in enumerate(elements[:fixed]) if element.texts),
               key=lambda item: len(item[1]), default=(0, frozenset()))


@cache
def _indexed(rows: tuple[Rule, ...]) -> Mapping[str, Sequence[tuple[int, _Rewrite]]]:
    """Return the changes of rows by a text of their anchor, with its place; "" if they have none."""
    waiting = defaultdict[str, list[tuple[int, _Rewrite]]](list)
    for number, row in enumerate(rows):
        for change in [row.changes] if isinstance(row.changes, str) else row.changes:
            pattern, written = change.split(" => ")
            steps = tuple((step[1], step[2] or "") if (step := _STEP.fullmatch(word)) else ("it", word)
                          for word in written.split(" | "))
            place, texts = _anchor(_parse_pattern(pattern))
            for text in texts or ("",):
                waiting[text].append((place, _Rewrite(number, _parse_pattern(pattern), steps)))
    return waiting


# Matching.

def _fitted(elements: Sequence[Element], body: Body, first: int) -> TokenMatch | None:
    """Return the match of a pattern that begins at a token; None if it does not match."""
    signs, parts, at = dict[str, tuple[int, int]](), dict[str, tuple[int, int]](), first
    for number, element in enumerate(elements):
        end = _end(elements, number, body, at) if first >= 0 else -1
        if end < 0:
            return None
        if element.variable in parts and body.texts[slice(*parts[element.variable])] != body.texts[at:end]:
            return None
        if element.variable:
            parts.setdefault(element.variable, (at, end))
        elif not element.many:
            signs[body.texts[at]] = at, end
        at = end
    return TokenMatch(body, {**signs, **parts, "it": (first, at)})


def _end(elements: Sequence[Element], number: int, body: Body, at: int) -> int:
    """Return the index after the tokens that an element matches; -1 if it matches none."""
    element, depth = elements[number], 0
    if not element.many:
        return at + 1 if at < len(body.texts) and _one(element, body, at) else -1
    for end in range(at, min(at + LONGEST, len(body.texts))):
        if not depth and (end > at or not element.variable) and _one(elements[number + 1], body, end):
            return end
        text = body.texts[end]
        depth += (text in _OPENS) - (text in _CLOSES)
        if depth < 0 or text == ";":
            break
    return -1


def _one(element: Element, body: Body, at: int) -> bool:
    text = body.texts[at]
    if element.texts or not element.role:
        return not element.texts or text in element.texts
    texts = body[element.role]
    return texts.fullmatch(text) is not None if isinstance(texts, re.Pattern) else text in texts


# Writing.

def _written_changes(match: TokenMatch, steps: Sequence[tuple[str, str]], words: Words) -> Iterator[list[Change]]:
    """Yield the changes that steps make, once for each choice of the words in capitals."""
    capitals = list(dict.fromkeys(word for _, new in steps for word in _USED.findall(new) if word in words))
    for chosen in product(*(words[word](match) for word in capitals)):
        texts = dict(zip(capitals, chosen, strict=True))
        yield [match.change(part, _USED.sub(partial(_fill, match, texts), new)) for part, new in steps]


def _fill(match: TokenMatch, texts: Mapping[str, str], word: re.Match[str]) -> str:
    """Return the text of a word in capitals, or of a variable; brackets around one token are left out."""
    used, part = word[0], word[0].strip("()")
    if part not in match.parts:
        return texts.get(used, used)
    return match.source(part) if part == used or len(match.texts(part)) == 1 else f"({match.source(part)})"
