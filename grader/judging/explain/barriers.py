"""Facts about barriers from a file's text: the one in a line, and the place where one is missing or is not reached."""

from __future__ import annotations

import re

from grader.judging.explain.indentation import branches, calls, function, returns
from grader.judging.explain.wording import in_line, join, line_text, listed, quoted
from grader.languages.phrases import Fact, Phrases, fact

MOST_CALLS = 4
_CALL = re.compile(r"((?:[\w:]++(?:\(\))?+(?:\.|->))*+)[\w:]*?sync\w*+\(([^()]*+)\)")


def barrier_text(source: str, line: int, words: Phrases) -> Fact | str:
    """Return the barrier in a line, as its author writes it."""
    text = line_text(source, line)
    call = _CALL.search(text)
    return fact("divergent.numbered") if words.marked("numbered", text) else (
        quoted(call[0]) if call else fact("divergent.barrier"))


def where(source: str, line: int) -> Fact | str:
    """Return " in line 12", with the lines that call its function."""
    called = calls(source, line)[:MOST_CALLS]
    return fact("in_called_line", line=line, count=len(called), lines=listed(list(map(str, called)))) if called else (
        in_line(line))


def of_grid(source: str, line: int) -> bool:
    """Return whether all blocks of a launch meet at the barrier in a line."""
    call = _CALL.search(text := line_text(source, line))
    group = (call[1].rstrip(".->") or call[2].strip()) if call else ""
    made = [before for before, grid, _ in (line.partition("this_grid(") for line in source.splitlines()) if grid]
    return "this_grid(" in text or (bool(group) and any(re.search(rf"\b{re.escape(group)}\b", name) for name in made))


def unreached(source: str, line: int, words: Phrases) -> Fact:
    """Return the advice for a barrier that some threads do not reach, from the lines around it."""
    if words.marked("numbered", line_text(source, line)):
        return fact("divergent.count")
    around, left = branches(source, line), returns(source, line)
    branch = next((branch for branch in around if branch.kind == "if"), next(iter(around), None))
    whole = fact("divergent.grid" if of_grid(source, line) else "divergent.block")
    return join(
        fact("divergent.returns", line=left[-1]) if left else None,
        fact(f"divergent.{branch.kind}", line=branch.line, whole=whole) if branch else None,
    ) or fact("divergent.missed", whole=whole)


def uncommitted(source: str, words: Phrases) -> Fact | None:
    """Return the advice for asynchronous copies whose groups are closed in some iterations of a loop alone; None if
    there are none."""
    for line in (line for line, text in enumerate(source.splitlines(), 1) if words.marked("commits", text)):
        first, *around = [*branches(source, line), None]
        if first and first.kind == "if" and any(branch and branch.kind == "loop" for branch in around):
            return fact("pending.uncommitted", line=line, branch=first.line)
    return None


def barrier_advice(first: int, then: int, source: str, words: Phrases) -> Fact | None:
    """Return the advice for accesses in two lines that nothing orders, of which the first was made first; None for a
    line by itself outside of loops."""
    by = next((kind for kind in ("arrivals", "numbered") if words.marked(kind, source)), "")
    # Where a barrier is set up, no thread can wait at it yet.
    if by and not words.marked("sets_up", line_text(source, first)):
        lines = fact("at.either", first=min(first, then), second=max(first, then)) if first != then else first
        return fact(f"race.between.{by}", lines=lines)
    if words.marked("waits_for_flag", "\n".join(source.splitlines()[first:then])):
        return fact("race.between.flag", first=first, then=then)
    loop = next((branch.line for branch in branches(source, then) if branch.kind == "loop"), 0)
    if first == then:
        return fact("race.between.each", line=first, loop=loop) if loop else None
    # A function that is called may stand above the calling line.
    again = loop and first > then and function(source, first) == function(source, then)
    return fact(f"race.between.{'next' if again else 'same'}", first=first, then=then)
