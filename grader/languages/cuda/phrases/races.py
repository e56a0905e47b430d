"""Explanations of a race in shared memory, from a file's text and from the simulator's finding."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from grader.languages.cuda.shared import StageUse, shared_arrays, stage_uses, stored
from grader.languages.cuda.source import CodeWord, code_words
from grader.languages.phrases import Closer, Fact, fact
from grader.plan.findings import Undefined

# Barriers that order the warps of a block; __syncwarp() does not.
_BARRIERS = frozenset({"__syncthreads", "sync", "arrive_and_wait", "bar"})


def closer(found: Undefined, source: str) -> Closer:
    """Return what the file's text shows of a race in shared memory; nothing for any other finding."""
    if found.what != "shared" or not source:
        return Closer()
    words = code_words(source)
    line = "".join(word.text for word in words if word.line == found.line)
    values: dict[str, Fact | str] = {} if shared_arrays(words).get(found.tensor, True) else {
        "what": fact("shared.variable")}
    if "atomicCAS(" in line:
        return Closer(values, fact("race.cas"))
    if re.search(rf"\b{re.escape(found.tensor)}(?:\[\d+\])?[-+*|&^]=", line):
        return Closer(values, fact("race.summed"))
    if same := _same_stage(stage_uses(words), found):
        store, load = same
        return Closer(values, fact("race.stage", array=load.array, stage=load.stage, store_line=store.first.line,
                                   load_line=load.first.line))
    if (other := _other_use(words, found)) is not None:
        again = "next" if other > found.line else "same"
        return Closer({**values, "line": fact("in_lines", first=other, then=found.line)},
                      fact(f"race.between.{again}", first=other, then=found.line))
    return Closer(values, fact("race.again", tensor=f"`{found.tensor}`") if _written_again(words, found) else None)


def _same_stage(uses: Sequence[StageUse], found: Undefined) -> tuple[StageUse, StageUse] | None:
    """Return the store and the load of a race that use the same stage of an array; None if the race has another
    cause."""
    of_array = [use for use in uses if use.array == found.tensor]
    if len({use.stage for use in uses}) == 1:
        # A single stage is filled and used in turn.
        return None
    for here in (use for use in of_array if use.first.line == found.line):
        for other in of_array:
            if other.stage == here.stage and other.stores != here.stores:
                return (other, here) if other.stores else (here, other)
    return None


def _other_use(words: Sequence[CodeWord], found: Undefined) -> int | None:
    """Return the only other line that may be part of the race: it uses the same array or variable, one of the two lines
    stores, and no barrier stands between them, in an iteration or from the end of a loop to the next one. None if there
    are several such lines, or none."""
    texts = [word.text for word in words]
    here = [at for at, word in enumerate(words) if word.line == found.line and word.text == found.tensor]
    if not here:
        return None
    stores, array = any(_changed(texts, at) for at in here), shared_arrays(words).get(found.tensor, True)
    declared = {word.line for word in words if word.text == "__shared__"} | {found.line}

    def used(begin: int, end: int) -> set[int]:
        return {words[at].line for at in range(begin, end) if texts[at] == found.tensor
                and (texts[at + 1] == "[" or not array)
                and _changed(texts, at) != stores and words[at].line not in declared}

    def behind_barrier(begin: int, end: int) -> int:
        return next((at for at in range(end - 1, begin - 1, -1) if texts[at] in _BARRIERS), begin - 1) + 1

    opened = max((at for at in range(here[0]) if texts[at] in ("__global__", "__device__")), default=0)
    lines = used(behind_barrier(opened, here[0]), here[0])
    around = [(first, last) for first, last in _loops(words) if first <= found.line <= last]
    if not lines and around:
        end = max(at for at, word in enumerate(words) if word.line <= max(around)[1])
        lines = used(behind_barrier(here[-1] + 1, end), end)
    return lines.pop() if len(lines) == 1 else None


def _changed(texts: Sequence[str], at: int) -> bool:
    """Return whether the array or variable at this place is stored to, or is the target of an atomic."""
    return stored(texts, at + 1) or (texts[at - 1] == "&" and texts[max(0, at - 3)].startswith("atomic"))


def _written_again(words: Sequence[CodeWord], found: Undefined) -> bool:
    """Return whether an array may be stored to more than once: in several places, in a loop, or in a function that a
    kernel calls."""
    texts = [word.text for word in words]
    stores = [at for at, text in enumerate(texts) if text == found.tensor and stored(texts, at + 1)]
    marks = [word.text for word in words if word.text in ("__global__", "__device__") and word.line <= found.line]
    return len(stores) > 1 or marks[-1:] == ["__device__"] or any(
        first <= found.line <= last for first, last in _loops(words))


def _loops(words: Sequence[CodeWord]) -> Iterator[tuple[int, int]]:
    """Yield the first and the last line of each loop with braces."""
    waiting, begin, depth = list[int](), 0, 0
    for word in words:
        depth = max(0, depth + (word.text == "(") - (word.text == ")"))
        if word.text in ("for", "while"):
            begin, depth = word.line, 0
        elif word.text == ";" and not depth:
            # A loop without braces has ended.
            begin = 0
        elif word.text == "{":
            waiting.append(begin)
            begin = 0
        elif word.text == "}" and waiting and (first := waiting.pop()):
            yield first, word.line
