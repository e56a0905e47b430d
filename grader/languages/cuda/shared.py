"""Uses of shared arrays in CUDA C++, and of their stages, as in `tile[2][16][16]`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from grader.languages.cuda.source import CodeWord

_STAGES = re.compile(r"[2-4]|\w*(?:STAGE|BUF|DEPTH)\w*", re.IGNORECASE)
_MOST = 64
"""The most tokens of an index, and the most uses of arrays."""


def shared_arrays(words: Sequence[CodeWord]) -> dict[str, bool]:
    """Return the names that are declared with `__shared__`, and whether each is an array."""
    is_array, declared, depth = dict[str, bool](), False, 0
    for word, after in pairwise(words):
        declared = (declared or word.text == "__shared__") and word.text != ";"
        depth = depth + (word.text in ("(", "[", "{")) - (word.text in (")", "]", "}")) if declared else 0
        if declared and word.text.isidentifier() and after.text in ("[", ";", ",", "=") and not depth:
            is_array.setdefault(word.text, after.text == "[")
    return is_array


class StageUse(NamedTuple):
    """Use of an array with several stages: the tokens `first` to `last` are its first index, `stage` is their text.
    `stores` is True for a store."""

    array: str
    stage: str
    first: CodeWord
    last: CodeWord
    stores: bool


def stage_uses(words: Sequence[CodeWord]) -> list[StageUse]:
    """Return the uses whose stage a variable decides, in the file's order."""
    texts = [word.text for word in words]
    arrays, uses, declared = set[str](), list[StageUse](), False
    for at in range(len(texts) - 4):
        declared = (declared or texts[at] == "__shared__") and texts[at] != ";"
        if texts[at + 1] != "[" or not texts[at].isidentifier():
            continue
        end = _closing_bracket(texts, at + 1)
        # Only the first of several indices is a stage.
        if texts[end + 1:end + 2] != ["["]:
            continue
        if declared:
            arrays |= {texts[at]} if _STAGES.fullmatch("".join(texts[at + 2:end])) else set()
        elif texts[at] in arrays and any(text.isidentifier() for text in texts[at + 2:end]):
            uses.append(StageUse(texts[at], " ".join(texts[at + 2:end]), words[at + 2], words[end - 1],
                                 stored(texts, end + 1)))
    return uses[:_MOST]


def _closing_bracket(texts: Sequence[str], at: int) -> int:
    """Return the index of the bracket that closes the one at `at`; `at` if it is more than _MOST tokens away."""
    depth = 0
    for end in range(at, min(at + _MOST, len(texts))):
        depth += (texts[end] in ("(", "[")) - (texts[end] in (")", "]"))
        if not depth:
            return end
    return at


def behind_indices(texts: Sequence[str], at: int) -> int:
    """Return the index after indices such as `[4][2]` that begin at `at`; `at` itself if there are none, or one is
    longer than _MOST."""
    while at < len(texts) and texts[at] == "[" and (end := _closing_bracket(texts, at)) > at:
        at = end + 1
    return at


def stored(texts: Sequence[str], at: int) -> bool:
    """Return whether `=` follows the indices that begin at `at`."""
    return texts[(at := behind_indices(texts, at)):at + 1] == ["="]
