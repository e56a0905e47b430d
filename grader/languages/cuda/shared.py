"""Edits of indices of shared arrays in CUDA C++: of the stage that is filled or used, as in `tile[2][16][16]`, of a
thread's own indices, and of the row length with which a fragment is loaded or stored."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from grader.languages.cuda.source import CodeWord, put
from grader.languages.drafts import Change, Draft

_STAGES = re.compile(r"[2-4]|\w*(?:STAGE|BUF|DEPTH)\w*", re.IGNORECASE)
_FRAGMENTS = ("load_matrix_sync", "store_matrix_sync")
_MOST = 64
"""The most tokens of a call, and the most uses of arrays."""
_FEW = 4


def shared_arrays(words: Sequence[CodeWord]) -> dict[str, bool]:
    """Return the names that are declared with `__shared__`, and whether each is an array."""
    found, declared, depth = dict[str, bool](), False, 0
    for word, after in pairwise(words):
        declared = (declared or word.text == "__shared__") and word.text != ";"
        depth = depth + (word.text in ("(", "[", "{")) - (word.text in (")", "]", "}")) if declared else 0
        if declared and word.text.isidentifier() and after.text in ("[", ";", ",", "=") and not depth:
            found.setdefault(word.text, after.text == "[")
    return found


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
    arrays, found, declared = set[str](), list[StageUse](), False
    for at in range(len(texts) - 4):
        declared = (declared or texts[at] == "__shared__") and texts[at] != ";"
        if texts[at + 1] != "[" or not texts[at].isidentifier():
            continue
        end = _closed(texts, at + 1)
        # Only the first of several indices is a stage.
        if texts[end + 1:end + 2] != ["["]:
            continue
        if declared:
            arrays |= {texts[at]} if _STAGES.fullmatch("".join(texts[at + 2:end])) else set()
        elif texts[at] in arrays and any(text.isidentifier() for text in texts[at + 2:end]):
            found.append(StageUse(texts[at], " ".join(texts[at + 2:end]), words[at + 2], words[end - 1],
                                  stored(texts, end + 1)))
    return found[:_MOST]


def _closed(texts: Sequence[str], at: int) -> int:
    """Return the index of the bracket that closes the one at `at`; `at` if it is more than _MOST tokens away."""
    depth = 0
    for end in range(at, min(at + _MOST, len(texts))):
        depth += (texts[end] in ("(", "[")) - (texts[end] in (")", "]"))
        if not depth:
            return end
    return at


def _depth(texts: Sequence[str]) -> int:
    return sum((text in ("(", "[")) - (text in (")", "]")) for text in texts)


def stored(texts: Sequence[str], at: int) -> bool:
    """Return whether `=` follows the indices that begin at `at`."""
    while at < len(texts) and texts[at] == "[" and (end := _closed(texts, at)) > at:
        at = end + 1
    return texts[at:at + 1] == ["="]


def indices(body: Sequence[CodeWord], uses: Sequence[StageUse]) -> Iterator[Draft]:
    """Yield the edits of indices in a definition. `uses` are the uses of stages in the whole file."""
    yield from _stages([use for use in uses if body[0].start <= use.first.start < body[-1].start])
    texts = [word.text for word in body]
    yield from _threads(body, texts)
    yield from _rows(body, texts)


def _stages(uses: Sequence[StageUse]) -> Iterator[Draft]:
    """Yield edits that take another stage of the kernel, or `1 - stage` if there is none: in one place, and in all
    stores."""
    known = list(dict.fromkeys(use.stage for use in uses))
    if len(known) == 1:
        known.append(f"1 - {known[0]}" if known[0].isidentifier() else f"1 - ({known[0]})")
    for stage in known[:_FEW]:
        others = [use for use in uses if use.stage != stage]
        for group in (*([use] for use in others), [use for use in others if use.stores]):
            if group:
                yield Draft("index", 0.5 if all(use.stores for use in group) else 0.9, [
                    Change(use.first.start, use.last.end, stage) for use in group])


def _threads(body: Sequence[CodeWord], texts: Sequence[str]) -> Iterator[Draft]:
    """Yield edits that replace one of a thread's indices by another, where an array is used."""
    own = list(dict.fromkeys(texts[at - 1] for at in range(1, len(texts) - 1)
                             if texts[at:at + 2] == ["=", "threadIdx"]))[:_FEW]
    arrays = shared_arrays(body)
    for at in range(len(texts) - 1) if len(own) > 1 else ():
        end = at + 1
        while texts[at] in arrays and texts[end:end + 1] == ["["] and (last := _closed(texts, end)) > end:
            for place in range(end, last):
                if texts[place] in own:
                    yield from (Draft("name", 1.1, (put(body[place], one),)) for one in own if one != texts[place])
            end = last + 1


def _rows(body: Sequence[CodeWord], texts: Sequence[str]) -> Iterator[Draft]:
    """Yield edits that load or store a fragment with the row length in its address, if the call has a different one."""
    for at, text in enumerate(texts):
        if text not in _FRAGMENTS or (end := _closed(texts, at + 1)) == at + 1:
            continue
        # `load_matrix_sync(a, tile, 16)`, `store_matrix_sync(tile, c, 16, mem_row_major)`.
        ends = [place for place in range(at, end) if texts[place] == "," and _depth(texts[at:place]) == 1] + [end]
        if len(ends) > 2 and ends[2] == ends[1] + 2:
            known = {texts[ends[2] - 1], *(texts[place + 1] for place in range(at, end) if texts[place] == "[")}
            for place in range(at, ends[1]):
                length = texts[place + 1]
                if texts[place] == "*" and length.isidentifier() and length not in known:
                    yield Draft("name", 0.6, (put(body[ends[2] - 1], length),))
