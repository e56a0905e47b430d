"""Tokens of texts that may be hostile: nothing may be left over between the tokens of a kernel."""

from __future__ import annotations

import re
from collections.abc import Iterator

from grader.plan.plan import Malformed

# Possessive quantifiers give no match back, so a text is read in linear time. There is no lookahead: after one, Python
# 3.11 before 3.11.5 loses its place in a possessive loop.
BLOCK_COMMENT = r"/\*[^*]*+\*++(?:[^/*][^*]*+\*++)*+/"

TO_THE_END = r"/\*[^*]*+(?:\*++(?:[^/*][^*]*+\*++)*+/?)?"
"""A comment, or the rest of the text if it stays open: else each open comment would be searched to the end again."""


def cut_tokens(text: str, pattern: re.Pattern[str], writer: str) -> Iterator[re.Match[str]]:
    """Yield the matches of `pattern`, one after another, without matches of its group `space`. Raises Malformed for a
    text that `writer`, which writes such kernels, does not write."""
    end = 0
    for match in pattern.finditer(text):
        if match.start() != end:
            break
        end = match.end()
        if match.lastgroup != "space":
            yield match
    if end != len(text):
        raise Malformed(f"a kernel whose text {writer} does not write: {text[end : end + 20]!a}")


def split_at_commas(text: str) -> list[str]:
    """Return the parts of a text between commas outside brackets, without empty ones."""
    parts, depth, start = list[str](), 0, 0
    for index, sign in enumerate(text):
        # The `>` of `->` closes nothing.
        depth += (sign in "(<[{") - (sign in ")>]}" and text[index - 1] != "-")
        if sign == "," and depth == 0:
            parts.append(text[start:index].strip())
            start = index + 1
    return [part for part in (*parts, text[start:].strip()) if part]
