"""One message and one hint for an assignment, from the evidence that many of its checks share, or else from its first
failure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from math import prod

from grader.course.assignment import Assignment
from grader.course.parameters import extents
from grader.judging.explain.evidence import ENOUGH, UNKNOWN, WEAK
from grader.judging.explain.wording import phrases_of, say
from grader.languages.phrases import Fact, Phrases, fact
from grader.results.hidden import in_words
from grader.results.result import CheckResult, Detail, decisive
from grader.results.verdicts import UNJUDGED, VERDICT_OF_KIND, VERDICTS, FailureKind

# Share of the failed cases that must show a pattern before the pattern stands for all: a few cases show one by chance.
RECOGNISED_SHARE = 1 / 3
# Fewer cases than this have something in common by chance.
FEWEST_CASES = 3
# Fewest failed cases, and fewest passed cases of more than one element, for a claim about a word of the cases' names,
# such as -extreme.
FEWEST = 2
# Failures that have nothing to do with the sizes of a case.
SAID_ONCE = frozenset({"policy", "compile_error", "import_error", "not_attempted"})
# Failures beside wrong answers that sizes may explain. An exception says all in its message.
OUTSIDE = frozenset({"out_of_bounds", "crash"})


@dataclass(frozen=True)
class Summary:
    """The message of an assignment. `guess` is the end of the hint that follows from no evidence. `common` is what
    failed cases have in common, `shown` is the check that the message cites; if both are empty, the message says
    all."""

    message: str
    hint: str = ""
    guess: str = ""
    common: str = ""
    shown: CheckResult | None = None


def explain_assignment(assignment: Assignment, checks: list[CheckResult]) -> Summary:
    """Return one message and one hint for an assignment, from the public checks that decide its verdict. Students read
    both, so they say about hidden checks only what `grader.results.hidden` allows."""
    summary = _explain(assignment, [check for check in checks if not check.hidden])
    message, hint = in_words(checks)
    return replace(summary, message=f"{summary.message} {message}".strip(), hint=summary.hint or hint)


def _explain(assignment: Assignment, checks: list[CheckResult]) -> Summary:
    cases = [c for c in checks if c.stage == "case"]
    verdict, deciding = decisive(checks)
    words = phrases_of(assignment, "")
    if verdict is None:
        idle = sum(c.outcome == "not_run" for c in checks)
        return Summary(say(words, fact("summary.idle", idle=idle, checks=len(checks)) if idle else
                           fact("summary.right", cases=len(cases))))
    first = next((c for c in deciding if c.stage == "source"), deciding[0])
    detail = _detail(first)
    if (judged := VERDICTS[verdict].judged) and first.stage == "case":
        unjudged = sum(check.stage == "case" for check in deciding)
        return Summary(say(words, fact("summary.unjudged", count=unjudged, cases=len(cases), judged=judged,
                                       case=first.case, message=detail.message)), detail.hint)
    # If the grader failed, the sizes of its cases say nothing, and may not even be known.
    alone = verdict in UNJUDGED or first.stage != "case"
    if alone or any(c.outcome == "not_run" for c in cases):
        return Summary(detail.message, detail.hint)
    deciding = [c for c in deciding if c.stage == "case"]
    if detail.kind in SAID_ONCE and len(deciding) == len(cases) and len({_detail(c).message for c in deciding}) == 1:
        return Summary(detail.message, detail.hint)
    failed = [c for c in cases if c.outcome == "failed"]
    passed = [c for c in cases if c.outcome == "passed"]
    shown, telling, sure = _cited(failed, deciding, words)
    common = _counted(failed, deciding, cases)
    kind = _detail(shown).kind
    # Undefined behaviour is sought in some cases only, so sizes say nothing about it.
    matters = (_is_answer(kind) and kind != "undefined") or kind in OUTSIDE
    if matters and (where := in_common(assignment, failed, passed, blocks=not sure)):
        common = fact("common.where", common=common, where=where)
        # Threads may keep what the step before has left, as in shared memory; a tile that is loaded holds none of it.
        if where.name == "common.beyond.seen" and telling.pattern == UNKNOWN and words.threads:
            hint = say(words, fact("common.beyond.advice", **where.values))
            telling = telling.model_copy(update={"hint": hint, "guess": hint})
    place = "first" if shown is failed[0] is not failed[-1] else "in"
    message = fact(f"summary.{place}", common=common, case=shown.case, message=_detail(shown).message)
    return Summary(say(words, message), telling.hint, telling.guess, say(words, common), shown)


def _cited(
    failed: Sequence[CheckResult], deciding: Sequence[CheckResult], words: Phrases
) -> tuple[CheckResult, Detail, bool]:
    """Return the check to cite, the detail whose hint stands for all, and whether that hint names a cause.

    A pattern that RECOGNISED_SHARE of the cases show stands for all failed cases, also for those that fail in another
    way.
    """
    if not _shows_answer(deciding[0]):
        # Sizes of 1 are compiled as constants, so their cases may fail in a way of their own.
        alike = [c for c in deciding if _detail(c).kind == _detail(deciding[0]).kind == "compile_error"] or deciding[:1]
        messages = Counter(_detail(c).message for c in alike)
        shown = max(alike, key=lambda c: messages[_detail(c).message])
        return shown, _detail(shown), False
    checks = [c for c in failed if _shows_answer(c)]
    # A case of one element fits many patterns, and so shows none.
    voters = [c for c in checks if max(c.sizes.values()) > 1 and _detail(c).total != 1] or checks
    # An access outside its tensor says more than the looks of other cases' wrong answers.
    pattern = _recognised([c for c in voters if c in deciding], strong=True) or _recognised(voters)
    if pattern:
        telling = [c for c in voters if pattern in _patterns(c)]
        # Cases that show this pattern first and alone come first. Matrices of one row show least, and equal sizes may
        # be taken for each other.
        telling.sort(key=lambda c: (_patterns(c).index(pattern), len(_patterns(c)), min(c.sizes.values()) == 1,
                                    len(set(c.sizes.values())) < len(c.sizes)))
        shown = next((c for c in telling if c in deciding), deciding[0])
        if shown in telling:
            return shown, _detail(shown), pattern not in WEAK
        detail = _detail(telling[0])
        if detail.hint:
            said = say(words, fact("summary.elsewhere", case=telling[0].case, hint=detail.hint))
            # If the whole hint is a guess, the added words are part of it: a proved change replaces all of the hint.
            detail = detail.model_copy(update={
                "hint": said, "guess": said if detail.guess == detail.hint else detail.guess})
        return shown, detail, pattern not in WEAK
    # A case of one element shows least about how far a load or store reaches. A mistake that is known to give an answer
    # explains it, also where the other cases show something else.
    among = [c for c in deciding if c in voters] or deciding
    known = next((c for c in among if len(_patterns(c)) == 1 and _patterns(c)[0].startswith("mistake: ")
                  and (_detail(c).wrong or 0) >= ENOUGH), None)
    first = known or next((c for c in among if not _patterns(c)), among[0])
    return first, _detail(first), False


def _recognised(voters: Sequence[CheckResult], *, strong: bool = False) -> str:
    """Return the pattern that stands for all cases, "" if there is none. `strong`: weak patterns do not count."""
    patterns = Counter(pattern for c in voters for pattern in _patterns(c))
    named = Counter({pattern: count for pattern, count in patterns.items() if pattern not in WEAK})
    for pattern, count in (named if strong else named or patterns).most_common(1):
        if count >= RECOGNISED_SHARE * len(voters):
            return pattern
    return ""


def _counted(failed: Sequence[CheckResult], deciding: Sequence[CheckResult], cases: Sequence[CheckResult]) -> Fact:
    """Return the number of wrong cases: "Wrong in 3 of 8 cases", "Fails in 1 of 8 cases and is wrong in 2"."""
    state = "wrong" if all(_is_answer(_detail(c).kind) for c in deciding) else "fails"
    many = "some" if len(deciding) < len(cases) else "all" if len(cases) > 1 else "only"
    others = len(failed) - len(deciding)
    return fact(f"common.{state}.{many}", count=len(deciding), cases=len(cases),
                others=fact("common.others", others=others) if others else "")


def _detail(check: CheckResult) -> Detail:
    assert check.detail is not None, check.id
    return check.detail


def _patterns(check: CheckResult) -> list[str]:
    """Return the patterns that a case shows, the most telling first: several if the case does not distinguish them."""
    detail = _detail(check)
    return detail.fits or ([detail.pattern] if detail.pattern not in ("", UNKNOWN) else [])


def _shows_answer(check: CheckResult) -> bool:
    """Return whether a failure shows what a kernel computes, or where it loads and stores."""
    kind = _detail(check).kind
    return _is_answer(kind) or kind == "out_of_bounds"


def _is_answer(kind: FailureKind) -> bool:
    return VERDICT_OF_KIND[kind].about_answer


def in_common(
    assignment: Assignment, failed: Sequence[CheckResult], passed: Sequence[CheckResult], *, blocks: bool
) -> Fact | None:
    """Return the simplest condition that every failed case meets and no passed one: "exactly those where M and N
    differ". None if there is none. With `blocks`, a condition may compare sizes with the sizes of blocks."""
    cases = [*failed, *passed]
    if not any(max(c.sizes.values(), default=0) > 1 for c in passed) or len(cases) < FEWEST_CASES:
        return None
    separating = [number < len(failed) for number in range(len(cases))]
    conditions = _conditions(assignment, cases, len(failed), blocks)
    fit = [condition for condition, met in conditions if met == separating]
    if sum(condition.name == fit[0].name and "of" in condition.values for condition in fit) > 1:
        # The cases do not show which of several blocks matters.
        return fact(fit[0].name, **{**fit[0].values, "of": fact("common.block")})
    return fit[0] if fit else None


def _conditions(
    assignment: Assignment, cases: Sequence[CheckResult], failed: int, blocks: bool
) -> Iterator[tuple[Fact, list[bool]]]:
    """Yield conditions, and for each case whether it meets the condition. The first `failed` cases have failed."""
    # A size that kernels do not get decides nothing.
    names = [name for name in cases[0].sizes if all(c.told is None or name in c.told for c in cases[:failed])]
    passed = cases[failed:]
    enough = min(failed, sum(max(c.sizes.values()) > 1 for c in passed)) >= FEWEST
    for word in cases[0].case.split("-")[1:] if enough else ():
        yield fact("common.named", word=word), [word in c.case.split("-")[1:] for c in cases]
    shape = [str(extent) for extent in assignment.output.shape]
    of_matrix = [(shape[0], shape[1])] if len(shape) == 2 and set(shape) <= set(names) else []
    for first, second in (*of_matrix, *(combinations(names, 2) if len(passed) > FEWEST else ())):
        if any(c.sizes[first] == c.sizes[second] > 1 for c in passed):
            yield fact("common.differ", one=first, other=second), [c.sizes[first] != c.sizes[second] for c in cases]
    failed_blocks = sorted(
        {block for c in cases[:failed] for block in c.blocks if block > 1}, reverse=True) if blocks else []
    rests = {(name, block): [c.sizes[name] % block > 0 for c in cases] for name in names
             for block in (*failed_blocks, 2, 4, 8)}
    telling = {name for (name, _), rest in rests.items() if all(rest[:failed]) and not any(rest[failed:])}
    # If several sizes separate the cases, each alone may decide, whatever it is divided by.
    some = sorted(telling) or names
    size = some[0] if len(telling) == 1 else fact("common.size")
    for block in failed_blocks if names else ():
        yield (fact("common.each" if len(telling) > 1 else "common.rest", size=size, of=block),
               [any(rest) for rest in zip(*(rests[name, block] for name in some), strict=True)])
    for block in failed_blocks:
        yield (fact("common.elements", of=block),
               [prod(extents(assignment.output, c.sizes)) % block > 0 for c in cases])
        for name in names:
            yield (fact("common.beyond.seen", size=name, of=block), [
                rest and c.sizes[name] > block for rest, c in zip(rests[name, block], cases, strict=True)])
