"""Edits of indices of shared arrays: of the stage that is filled or used, and of a thread's own indices."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from grader.languages.cuda.confined.edits.matching import Body, found
from grader.languages.cuda.shared import StageUse
from grader.languages.cuda.source import put
from grader.languages.drafts import Change, Draft

_FEW = 4


def stages(body: Body, uses: Sequence[StageUse]) -> Iterator[Draft]:
    """Yield edits that take another stage of the kernel, or `1 - stage` if there is none: in one place, and in all
    stores. `uses` are those of the file."""
    uses = [use for use in uses if body.words[0].start <= use.first.start < body.words[-1].start]
    known = list(dict.fromkeys(use.stage for use in uses))
    if len(known) == 1:
        known.append(f"1 - {known[0]}" if known[0].isidentifier() else f"1 - ({known[0]})")
    for stage in known[:_FEW]:
        others = [use for use in uses if use.stage != stage]
        for group in (*([use] for use in others), [use for use in others if use.stores]):
            if group:
                yield Draft("index", 0.5 if all(use.stores for use in group) else 0.9, [
                    Change(use.first.start, use.last.end, stage) for use in group])


def threads(body: Body) -> Iterator[Draft]:
    """Yield edits that replace one of a thread's indices by another, where a shared array is used."""
    own = list(body["index"])[:_FEW]
    for before in ("", "[ b... ] ", "[ b... ] [ c... ] ") if len(own) > 1 else ():
        for match in found(f"a_shared {before}[ i... ]", body):
            for word in body.words[slice(*match.parts["i"])]:
                if word.text in own:
                    yield from (Draft("name", 1.1, (put(word, one),)) for one in own if one != word.text)
