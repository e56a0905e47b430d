"""Branches, returns and calls around a line of a file. They are read from its indentation, so that a file of any
language will do, also one that does not parse."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import takewhile
from typing import Literal, NamedTuple

_HEAD = re.compile(r"\s*+(?:\}\s*+)?+(?:(if|elif|else|switch|case|default)|(for|while|do))\b")
_NONE = re.compile(r"\s*+(?:[{}();]*+\s*+(?://.*+|\*.*+|/\*.*+)?+$|#|//)")
"""Pattern of a line of signs, a comment, or a line of the preprocessor, none of which begins a block."""
_NAMED = re.compile(r"\b(\w++)\s*+\(")
_RETURNS = re.compile(r"[^\"'/#]*?\breturn\b")


class Branch(NamedTuple):
    """A line that decides whether, or how often, the lines below it run."""

    kind: Literal["if", "loop"]
    line: int


def branches(source: str, line: int) -> list[Branch]:
    """Return the branches of a function that a line stands in, the innermost first."""
    return [Branch("if" if head[1] else "loop", number) for number, head in _heads(source, line) if head]


def returns(source: str, line: int) -> list[int]:
    """Return the lines of returns that stand above a line in its function, in the file's order."""
    lines, begin = source.splitlines(), function(source, line)
    return [number for number in range(begin + 1, line) if begin and _RETURNS.match(lines[number - 1])]


def function(source: str, line: int) -> int:
    """Return the line that begins the function of a line; 0 if the file's indentation shows none."""
    return next((number for number, head in _heads(source, line) if not head), 0)


def calls(source: str, line: int) -> list[int]:
    """Return the lines that call the function of a line, which may be a whole function by itself."""
    lines = source.splitlines()
    if not 0 < line <= len(lines):
        return []
    begin = function(source, line) or (0 if lines[line - 1][:1].isspace() else line)
    named = _NAMED.search(lines[begin - 1]) if begin else None
    called = re.compile(rf"\b{re.escape(named[1])}\s*+\(") if named else None
    return [] if called is None else [
        number for number, text in enumerate(lines, 1) if text[:1].isspace() and called.search(text)]


def _heads(source: str, line: int) -> Iterator[tuple[int, re.Match[str] | None]]:
    """Yield the lines around a line, itself included, that begin a block, from the inside on, with the match of a
    branch. The last one has none: it begins the function."""
    lines = source.expandtabs().splitlines()
    if not 0 < line <= len(lines):
        return
    if own := _HEAD.match(lines[line - 1]):
        yield line, own
    depth = _depth(lines[line - 1])
    for number in range(line - 1, 0, -1):
        text = lines[number - 1]
        if text.strip() and _depth(text) < depth and not _NONE.match(text):
            depth, head = _depth(text), _HEAD.match(text)
            yield number, head
            if head is None:
                return


def _depth(text: str) -> int:
    return sum(1 for _ in takewhile(str.isspace, text))
