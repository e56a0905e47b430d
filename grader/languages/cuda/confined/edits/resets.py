"""Edits of variables that a kernel sets too rarely or too often: sums that are set once before a loop though each
iteration needs them reset, and values that are set again before the old ones have been used; and edits of indices of
shared arrays: of the stage that is filled or used, and of a thread's own indices."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence

from grader.languages.cuda.confined.edits.matching import Body, find_matches
from grader.languages.cuda.shared import StageUse, behind_indices
from grader.languages.cuda.source import CodeWord, insert, put, statements
from grader.languages.drafts import Change, Draft

_NUMBERS = "{float double int unsigned long half __half}"
_VARIABLE = re.compile(r"(?!(?:INFINITY|FLT_MAX|FLT_MIN|HUGE_VALF)$)[A-Za-z_]\w*|[{?]")
_ZERO = re.compile(r"0+(?:\.0*)?[fF]?|[,{}]")
_ADDS = frozenset({"+=", "-=", "*=", "/=", "|=", "&=", "^=", "++", "--"})
_MOST_LOOPS = 16
_LONGEST = 8
"""The most tokens of a value that is set."""


def resets(body: Body) -> Iterator[Draft]:
    """Yield edits that reset variables at the beginning of each iteration: those that are set before a loop, and added
    to and used in it. They are reset one by one, and all at once."""
    settings = list(_set(body))
    loops = [match for head in ("while ( ... ) {", "for ( ... ; ... ; ... ) {") for match in find_matches(head, body)]
    for loop in loops[:_MOST_LOOPS]:
        first, brace = loop.parts["it"][0], loop.parts["it"][1] - 1
        done, head = _done(body.words[brace:_closing_brace(body, brace)]), loop.texts("it")
        # A variable of the loop's head counts its iterations, and must not be reset.
        known = {name: f" {statement};" for at, name, statement in settings
                 if at < first and name not in head and done[name] == {"adds", "uses"}}
        again = list(known.values())
        for statement in dict.fromkeys([*again, "".join(again)] if again else []):
            yield Draft("missing", 0.8, (insert(body.words[brace].end, statement),))


def _closing_brace(body: Body, brace: int) -> int:
    """Return the index of the brace that closes another; the last index if none does."""
    depth = 0
    for at in range(brace, len(body.texts)):
        depth += (body.texts[at] == "{") - (body.texts[at] == "}")
        if not depth:
            return at
    return len(body.texts) - 1


def _set(body: Body) -> Iterator[tuple[int, str, str]]:
    """Yield the place, the name and the statement that resets it, of each number, array or fragment that is set to a
    value without variables."""
    arrays = {match["n"] for match in find_matches(f"{{; {{ }}}} {_NUMBERS} n_name [", body)}
    types = _NUMBERS.strip("{}").split()
    settings = [(match, f"{match['n']} = {match.source('v')}") for match in find_matches("n_name = v... {; ,}", body)
                if _constant(match.texts("v")) and (not match.before or match.before[0] in types)]
    settings += [(match, f"memset({match['n']}, 0, sizeof({match['n']}))") for more in ("", "[ b... ] ")
                 for match in find_matches(f"n_name [ a... ] {more}= v... {{; ,}}", body)
                 if match["n"] in arrays and all(map(_ZERO.fullmatch, match.texts("v")))]
    settings += [(match, match.source("it")) for space in ("wmma:: ", "")
                 for match in find_matches(f"{space}fill_fragment ( n_name , v... )", body)]
    for match, statement in sorted(
            settings, key=lambda setting: (setting[0].parts["it"][1], -setting[0].parts["it"][0])):
        yield match.parts["it"][0], match["n"], statement


def _constant(value: Sequence[str]) -> bool:
    """Return whether a value has no variables; functions may be called."""
    return len(value) < _LONGEST and not any(
        _VARIABLE.fullmatch(text) and after != "(" for text, after in zip(value, (*value[1:], ""), strict=True))


def _done(words: Sequence[CodeWord]) -> Mapping[str, set[str]]:
    """Return what a loop does with each name: it adds to it, sets it, or uses it."""
    done = defaultdict[str, set[str]](set)
    for statement in statements(words):
        texts, first = [word.text for word in statement], dict[str, int]()
        seen = Counter(texts)
        for at, name in enumerate(texts):
            if not name.isidentifier():
                continue
            after = behind_indices(texts, at + 1)
            sign = texts[after] if after < len(texts) else ";"
            # A name that stands on both sides of `=` is added to.
            if "mma_sync" in seen or sign in _ADDS or first.setdefault(name, at) < at or (
                    sign == "=" and seen[name] > 1):
                done[name].add("adds")
            else:
                done[name].add("sets" if sign == "=" or "fill_fragment" in seen else "uses")
    return done


def reassigned(body: Body) -> Iterator[Draft]:
    """Yield edits that drop an assignment if its variable is used, and then assigned again in the same block."""
    blocks, used = [dict[str, tuple[list[str], int, Change]]()], Counter[str]()
    for statement in statements(body.words):
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
        for match in find_matches(f"a_shared {before}[ i... ]", body):
            for word in body.words[slice(*match.parts["i"])]:
                if word.text in own:
                    yield from (Draft("name", 1.1, (put(word, index),)) for index in own if index != word.text)
