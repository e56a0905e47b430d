"""Why a check failed, in a sentence with figures and a hint that follows from the evidence."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from operator import gt, lt

from torch import Tensor

from grader.assignment import Assignment, Case, Inputs
from grader.judge.compare import Comparison, error_map, index_of
from grader.judge.evidence import Evidence, Finding, plural
from grader.judge.failures import explain_failure
from grader.judge.places import moved
from grader.judge.regions import where
from grader.judge.resemblance import known_mistake, not_finite, resemblance
from grader.result import CheckResult, Detail, FailureKind

__all__ = ["NO_PATTERN", "explain_assignment", "explain_case", "explain_failure"]

NO_PATTERN = "The wrong elements follow no pattern known to the grader."

FEWEST_CASES = 3
"""Fewer cases than this have something in common by chance."""

RECOGNISED_SHARE = 1 / 3
BLOCKS = (2, 4, 8, 16, 32, 64, 128, 256, 512, 1024)


def explain_case(
    assignment: Assignment, case: Case, inputs: Inputs, got: Tensor, comparison: Comparison, *,
    inputs_changed: list[str],
) -> Detail:
    """What one failed case shows.

    `inputs` are the judge's own, as they were before the call; `inputs_changed` names those that the call changed.
    Raises ValueError if nothing is wrong.
    """
    if comparison.passed and not inputs_changed:
        raise ValueError("nothing to explain: the output is right and the inputs are as they were")
    name = assignment.output.name
    if comparison.passed:
        return Detail(
            kind="input_changed",
            message=f"{name} is right, but {_listed(inputs_changed)} changed during the call.",
            hint="Inputs must be left as they are: store to the output only, and allocate scratch space if needed.",
            wrong=0, total=comparison.total, unwritten=0,
        )
    evidence = Evidence(comparison, inputs, case.sizes)
    kind = _kind(evidence)
    finding = _finding(assignment, inputs, evidence, kind)
    hint = finding.hint
    if inputs_changed:
        changed = _listed(inputs_changed)
        if comparison.unwritten_count == comparison.total:
            hint = f"{changed} changed and {name} was never written: the kernel seems to store to the wrong pointer."
        else:
            hint += f" {changed} changed as well: inputs must be left as they are."
    return Detail(
        kind=kind,
        message=_message(name, got, comparison, kind),
        hint=hint,
        wrong=comparison.count, total=comparison.total, unwritten=comparison.unwritten_count,
        worst=comparison.worst, error_map=error_map(comparison),
    )


def explain_assignment(assignment: Assignment, checks: list[CheckResult]) -> tuple[str, str]:
    """(message, hint) for an assignment: what its failed checks have in common and its passed ones have not."""
    failed = [c for c in checks if c.outcome == "failed"]
    cases = [c for c in checks if c.stage == "case"]
    passed_cases = [c for c in cases if c.outcome == "passed"]
    if not failed:
        idle = sum(c.outcome == "not_run" for c in checks)
        if idle:
            return f"{plural(idle, 'check')} of {len(checks)} did not run.", ""
        return f"Right in all {plural(len(cases), 'case')}.", ""
    first = failed[0]
    message, hint = (first.detail.message, first.detail.hint) if first.detail else (f"{first.id} failed", "")
    if first.stage != "case":
        return message, hint
    failed_cases = [c for c in failed if c.stage == "case"]
    hint = _recognised(assignment, failed_cases) or hint
    where = f"in {len(failed_cases)} of {plural(len(cases), 'case')}"
    if len(failed_cases) == len(cases):
        where = f"in all {plural(len(cases), 'case')}" if len(cases) > 1 else "in the only case"
    common = _common(assignment, failed_cases, passed_cases)
    state = "Wrong" if all(_answered(c) for c in failed_cases) else "Fails"
    named = f"first {first.case}: {message}"
    if common is None:
        return f"{state} {where}; {named}", hint
    condition, advice = common
    own = "" if hint.startswith(NO_PATTERN) else hint
    return f"{state} {where}, and just where {condition}; {named}", f"{advice} {own}".strip()


def _kind(evidence: Evidence) -> FailureKind:
    comparison = evidence.comparison
    if comparison.unwritten_count:
        return "unwritten"
    return "wrong_values" if bool(comparison.got.isfinite().all()) else "not_finite"


def _finding(assignment: Assignment, inputs: Inputs, evidence: Evidence, kind: FailureKind) -> Finding:
    comparison, sizes = evidence.comparison, evidence.sizes
    like = known_mistake(assignment, inputs, evidence)
    finite = bool(evidence.got[evidence.written].isfinite().all())
    if like is None and finite:
        like = resemblance(evidence)
    elif like is None:
        like = not_finite(evidence)
    if kind == "unwritten":
        missing = where(comparison.unwritten, sizes, "never written") or Finding(
            "Elements here and there were never written.", "Look at the mask of the store and at the output's strides."
        )
        if evidence.count == 0:
            return missing
        # Values in wrong places explain the places left empty, not the other way round.
        if (misplaced := moved(evidence)) is not None:
            return Finding(misplaced.hint, missing.seen)
        also = like.hint if like is not None else "Elements that were written are wrong, too."
        return Finding(missing.hint, also)
    place = where(comparison.wrong, sizes, "wrong")
    if like is not None:
        adds = place is not None and like.seen and finite and not like.whole
        return Finding(place.seen, like.hint) if place is not None and adds else like
    if place is not None:
        return place
    first = index_of(int(comparison.wrong.flatten().int().argmax()), tuple(comparison.got.shape))
    at = f"{assignment.output.name}[{', '.join(map(str, first))}]"
    return Finding(NO_PATTERN, f"Compute {at}, the first of them, by hand, and follow what the kernel loads for it.")


def _message(name: str, got: Tensor, comparison: Comparison, kind: FailureKind) -> str:
    worst, total = comparison.worst, comparison.total
    at = f"{name}[{', '.join(map(str, worst.index))}]"
    if kind == "unwritten":
        missing = comparison.unwritten_count
        if missing == total:
            return f"{name} was never written: none of {plural(total, 'element')} has changed in the call."
        others = comparison.count - missing
        state = f"{others:,} of the others {'is' if others == 1 else 'are'} wrong" if others else "the others are right"
        first = index_of(int(comparison.unwritten.flatten().int().argmax()), tuple(got.shape))
        at = f"{name}[{', '.join(map(str, first))}]"
        be = "was" if missing == 1 else "were"
        return f"{missing:,} of {plural(total, 'element')} {be} never written, {at} first; {state}."
    be = "is" if comparison.count == 1 else "are"
    text = f"{comparison.count:,} of {plural(total, 'element')} {be} wrong"
    if comparison.count == total > 1:
        text = f"All {total:,} elements are wrong"
    value = f"{at} is {worst.got}, {worst.expected} expected"
    if kind == "not_finite":
        bad = int((~got.isfinite()).sum())
        some = f"{bad:,} of them" if bad < comparison.count else "all of them" if bad > 1 else "it is"
        return f"{text}, {some} NaN or infinite; {value}."
    return f"{text}; {value}." if comparison.exact else (
        f"{text}; {value} (off by {worst.error}, {worst.allowed} allowed).")


def _listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _answered(check: CheckResult) -> bool:
    wrong = ("wrong_values", "unwritten", "not_finite", "input_changed", "late_write")
    return check.detail is not None and check.detail.kind in wrong


def _recognised(assignment: Assignment, failed: list[CheckResult]) -> str:
    """The hint of the mistake that most cases show, if not a few only: tiny cases cannot tell mistakes apart."""
    known = {mistake.hint for mistake in assignment.mistakes}
    seen = Counter(c.detail.hint for c in failed if c.detail is not None and c.detail.hint in known)
    hint, count = seen.most_common(1)[0] if seen else ("", 0)
    return hint if count >= RECOGNISED_SHARE * len(failed) else ""


def _common(
    assignment: Assignment, failed: list[CheckResult], passed: list[CheckResult]
) -> tuple[str, str] | None:
    """(condition, advice): what every failed case meets and no passed one; None if there is nothing."""
    if not passed or len(failed) + len(passed) < FEWEST_CASES:
        return None
    for condition, advice, holds in _conditions(assignment, failed, passed):
        if _separates(holds, failed, passed):
            return condition, advice
    return None


Test = Callable[[CheckResult], bool]


def _conditions(
    assignment: Assignment, failed: list[CheckResult], passed: list[CheckResult]
) -> Iterator[tuple[str, str, Test]]:
    """Candidates, the most telling first."""
    if len(assignment.output.shape) == 2:
        down, across = assignment.output.shape
        yield (f"{down} and {across} differ", "Rows and columns, or their strides, are mixed up somewhere.",
               lambda c: c.sizes[down] != c.sizes[across])
        for a, b in ((down, across), (across, down)):
            yield (f"{a} is larger than {b}",
                   f"Something meant for {a} uses {b}: a grid, a mask, a loop's end or a stride.",
                   partial(_is_larger, a, b))
    names = list(failed[0].sizes)
    for what, advice, bad in _size_tests():
        separating = [n for n in names if _separates(partial(_has, [n], bad), failed, passed)]
        # A single size that tells them apart is named; otherwise any of them may be to blame.
        blamed = separating if len(separating) == 1 else names
        subject = blamed[0] if len(blamed) == 1 else "a size"
        yield f"{subject} {what}", advice, partial(_has, blamed, bad)
    for name in names:
        largest, smallest = (pick(c.sizes.get(name, 0) for c in passed) for pick in (max, min))
        yield (f"{name} is larger than {largest:,}",
               f"More than one block along {name} seems to be too many: loop over the blocks, or launch more programs.",
               partial(_has, [name], partial(lt, largest)))
        yield (f"{name} is smaller than {smallest:,}",
               f"Lanes beyond the end of a small {name} take part: mask them.",
               partial(_has, [name], partial(gt, smallest)))
    values = {case.name: case.values for case in assignment.cases}
    kinds = {values[c.case] for c in failed if c.case in values}
    yield (f"the inputs are {' or '.join(repr(k) for k in sorted(kinds))}",
           "The sizes are not to blame, the numbers are: think of overflow, of very small values and of large ones.",
           lambda c: values.get(c.case) in kinds)


def _size_tests() -> Iterator[tuple[str, str, Callable[[int], bool]]]:
    yield ("is no power of two",
           "Blocks are powers of two and sizes are not: mask loads and stores, give loads other=0.0, and divide by "
           "the real size.",
           lambda size: size & (size - 1) != 0)
    for block in BLOCKS:
        yield (f"is not a multiple of {block}",
               "The last, partial block is lost or read beyond the end: use triton.cdiv and masks.",
               partial(_leaves_a_rest, block))


def _separates(test: Test, failed: list[CheckResult], passed: list[CheckResult]) -> bool:
    return all(map(test, failed)) and not any(map(test, passed))


def _has(names: list[str], bad: Callable[[int], bool], check: CheckResult) -> bool:
    return any(bad(check.sizes.get(name, 0)) for name in names)


def _is_larger(a: str, b: str, check: CheckResult) -> bool:
    return check.sizes[a] > check.sizes[b]


def _leaves_a_rest(block: int, size: int) -> bool:
    return size % block != 0
