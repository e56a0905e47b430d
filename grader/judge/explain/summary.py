"""What an assignment's checks say together: one message and one hint, from the evidence that most of them share."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from grader.assignment import Assignment
from grader.hidden import in_words
from grader.judge.explain.bounds import explain_bounds
from grader.judge.explain.common import Condition, Kind, conditions
from grader.judge.explain.evidence import UNKNOWN, WEAK, WRITTEN, plural
from grader.judge.explain.grid import explain_grid
from grader.result import VERDICT_OF_KIND, CheckResult, Detail, FailureKind, decisive

RECOGNISED_SHARE = 1 / 3
"""Share of the failed cases that must show a pattern before it speaks for all: a few show one by chance."""

FEWEST_OTHERS = 2
"""So many wrong answers beside the failures that decide are worth a hint of their own."""

# What sizes can have to do with a failure of each kind; whatever an exception has to say is in its message.
SIZES_MATTER: dict[FailureKind, frozenset[Kind]] = {
    "out_of_bounds": frozenset({"shape", "blocks"}),
    "crash": frozenset({"shape", "blocks"}),
    "time_out": frozenset({"bound"}),
    "out_of_memory": frozenset({"bound"}),
}
# What has nothing to do with the sizes of a case.
SAID_ONCE = frozenset({"policy", "compile_error", "import_error", "not_attempted"})
ANSWERED: frozenset[Kind] = frozenset({"shape", "blocks", "bound", "values"})


@dataclass(frozen=True)
class Summary:
    """What is said of an assignment. `common` is what failed cases have in common, and `shown` one of them; where there
    is neither, the message says all."""

    message: str
    hint: str = ""
    common: str = ""
    shown: CheckResult | None = None


def explain_assignment(assignment: Assignment, checks: list[CheckResult]) -> Summary:
    """One message and one hint for an assignment, from the public checks that decide its verdict. Students read it: of
    hidden checks it tells what `grader.hidden` does."""
    said = _explain(assignment, [check for check in checks if not check.hidden])
    message, hint = in_words(checks)
    return replace(said, message=f"{said.message} {message}".strip(), hint=said.hint or hint)


def _explain(assignment: Assignment, checks: list[CheckResult]) -> Summary:
    cases = [c for c in checks if c.stage == "case"]
    verdict, deciding = decisive(checks)
    if verdict is None:
        idle = sum(c.outcome == "not_run" for c in checks)
        if idle:
            return Summary(f"{plural(idle, 'check')} of {len(checks)} did not run.")
        return Summary(f"Right in all {plural(len(cases), 'case')}.")
    first = next((c for c in deciding if c.stage == "source"), deciding[0])
    detail = _detail(first)
    if verdict == "needs_gpu":
        return Summary(
            f"{len(deciding)} of {plural(len(cases), 'case')} can be judged on a GPU alone; first {first.case}: "
            f"{detail.message}", detail.hint)
    # Where the grader failed, the sizes of its cases tell nothing, and may not even be known.
    if verdict == "infrastructure_error" or first.stage != "case" or any(c.outcome == "not_run" for c in cases):
        return Summary(detail.message, detail.hint)
    deciding = [c for c in deciding if c.stage == "case"]
    if detail.kind in SAID_ONCE and len(deciding) == len(cases) and len({_detail(c).message for c in deciding}) == 1:
        return Summary(detail.message, detail.hint)
    failed = [c for c in cases if c.outcome == "failed"]
    passed = [c for c in cases if c.outcome == "passed"]
    shown, hint, sure = _speaker(assignment, deciding, passed)
    kind = _detail(shown).kind
    if kind == "out_of_bounds" and (together := explain_bounds(assignment, failed, passed)) is not None:
        hint, sure = together, True
    elif not _is_answer(kind) and (
        len(others := [c for c in failed if c not in deciding]) >= FEWEST_OTHERS
    ):
        _, about_others, known = _speaker(assignment, others, passed)
        if known:
            hint = f"{hint} For the cases with a wrong answer: {about_others}".strip()
    common = _counted(failed, deciding, cases)
    found = _common(assignment, failed, passed, kind, sure)
    if found:
        common += f", exactly those where {found[0].text}"
        # The hint of one case says as much about masks, and names the load or store.
        told = kind == "out_of_bounds" and found[0].kind == "blocks"
        if not sure and not told:
            advice = found[0].advice
            if _is_answer(kind):
                advice += _doubt(found, passed)
            hint = advice if _detail(shown).pattern == UNKNOWN else f"{advice} {hint}".strip()
    place = f"first {shown.case}" if shown is failed[0] else f"in {shown.case}"
    return Summary(f"{common}; {place}: {_detail(shown).message}", hint, common, shown)


def _speaker(
    assignment: Assignment, deciding: Sequence[CheckResult], passed: Sequence[CheckResult]
) -> tuple[CheckResult, str, bool]:
    """The check to cite, the hint for all, and whether the hint names a cause."""
    answered = [c for c in deciding if _is_answer(_detail(c).kind)]
    if not answered:
        # A case of one element shows least of how far a load or store reaches.
        first = next((c for c in deciding if max(c.sizes.values(), default=0) > 1), deciding[0])
        first = first if _detail(first).kind == "out_of_bounds" else deciding[0]
        return first, _detail(first).hint, False
    # A case of one element fits many patterns, and shows none.
    voters = [c for c in answered if (_detail(c).total or 0) > 1] or answered
    patterns = Counter(_pattern(c) for c in voters if _pattern(c))
    pattern, count = patterns.most_common(1)[0] if patterns else ("", 0)
    if not count or count < RECOGNISED_SHARE * len(voters):
        first = next((c for c in voters if not _pattern(c)), voters[0])
        return first, _detail(first).hint, False
    shown = next(c for c in voters if _pattern(c) == pattern)
    hint = _detail(shown).hint
    if pattern == WRITTEN and all(_detail(c).kind == "unwritten" for c in answered):
        hint = explain_grid(assignment, answered, passed) or hint
    return shown, hint, pattern not in WEAK


def _counted(failed: Sequence[CheckResult], deciding: Sequence[CheckResult], cases: Sequence[CheckResult]) -> str:
    """ "Wrong in 3 of 8 cases", "Fails in 1 of 8 cases and is wrong in 2". """
    all_cases = plural(len(cases), "case")
    where = f"in {len(deciding)} of {all_cases}"
    if len(deciding) == len(cases):
        where = f"in all {all_cases}" if len(cases) > 1 else "in the only case"
    state = "Wrong" if all(_is_answer(_detail(c).kind) for c in deciding) else "Fails"
    others = len(failed) - len(deciding)
    return f"{state} {where}{f' and is wrong in {others}' if others else ''}"


def _doubt(found: Sequence[Condition], passed: Sequence[CheckResult]) -> str:
    """What else the failed cases have in common, where that may be what matters."""
    other = next((c for c in found if c.kind != found[0].kind), None)
    shapes = {tuple(c.sizes.values()) for c in passed if max(c.sizes.values()) > 1}
    if len(shapes) == 1:
        (only,) = shapes
        numbers = " or ".join(str(size) for size in sorted(set(only) - {1}))
        also = f"that {other.text}, or " if other else ""
        return (f" (Only {' x '.join(map(str, only))} is right: it may also matter {also}that {numbers} is written "
                "into the kernel.)")
    return f" (In the same cases {other.text}, which may be what matters.)" if other else ""


def _common(
    assignment: Assignment, failed: Sequence[CheckResult], passed: Sequence[CheckResult], kind: FailureKind, sure: bool
) -> list[Condition]:
    """What failed cases have in common and is worth telling."""
    if not passed:
        return []
    telling = ANSWERED if _is_answer(kind) else SIZES_MATTER.get(kind, frozenset())
    if sure:
        telling &= {"shape"}
    return [c for c in conditions(assignment, failed, passed) if c.kind in telling]


def _detail(check: CheckResult) -> Detail:
    assert check.detail is not None, check.id
    return check.detail


def _pattern(check: CheckResult) -> str:
    pattern = _detail(check).pattern
    return "" if pattern == UNKNOWN else pattern


def _is_answer(kind: FailureKind) -> bool:
    return VERDICT_OF_KIND[kind] == "wrong_answer"
