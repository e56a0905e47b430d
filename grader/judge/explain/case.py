"""Why a check failed, in a sentence with figures and a hint that follows from the evidence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import get_args

import torch
from torch import Tensor

from grader.judge.compare import Comparison, corner, error_map, index_of
from grader.judge.explain.accesses import Seen, beyond_rows, misplaced, same_elements, seen_of, uncovered
from grader.judge.explain.evidence import UNKNOWN, WEAK, Evidence, Finding, plural
from grader.judge.explain.exchanged import PATTERN as EXCHANGED
from grader.judge.explain.exchanged import exchanged
from grader.judge.explain.lines import phrases_of, place
from grader.judge.explain.mistakes import converted, known_mistakes
from grader.judge.explain.nonfinite import not_finite
from grader.judge.explain.regions import where
from grader.judge.explain.resemblance import resemblance
from grader.judge.explain.runs import beside, explain_findings
from grader.judge.explain.silence import explain_copies, explain_unwritten, read_too_early
from grader.model.assignment import Assignment, Case, Inputs, Mistake
from grader.model.result import Detail
from grader.model.verdicts import FailureKind
from grader.plan import findings as seen
from grader.plan.plan import Plan

ONE_ELEMENT = "One element alone fits many mistakes: larger cases tell more."
SECOND_CALL = (
    "The first call was right, and the second one, with new values in its inputs, is not: does the function keep "
    "something from one call to the next, such as a tensor, or an answer to inputs that look the same?"
)
UNCERTAIN = frozenset({"race", "masked lanes", *(f"undefined: {what}" for what in get_args(seen.Undefinable))})
"""What is seen beside a wrong answer and may not be what makes it wrong."""
# Looking for a pattern takes seconds beyond this many elements, and smaller cases show it as well.
MOST_EXPLAINED = 1 << 22


def explain_case(
    assignment: Assignment, case: Case, inputs: Inputs, got: Tensor, comparison: Comparison, *,
    inputs_changed: Sequence[str], findings: Sequence[seen.Finding] = (), accesses: Sequence[seen.Access] = (),
    plan: Plan | None = None, call: int = 0, source: str = "",
) -> Detail | None:
    """What is wrong with a case that was run and compared; None if nothing is.

    `inputs` are the judge's own, as they were before the call; `inputs_changed` names those that the call changed.
    `findings` and `accesses` are what was seen while `call` of the `plan` ran, the first (0) or the steady one (1);
    `source` is the student's file.
    """
    words = phrases_of(assignment)
    lie = seen_of(assignment, case.sizes, plan, call, accesses) if plan is not None else []
    both = exchanged(assignment, source, plan, call, case.sizes, lie) if plan is not None else None
    decisive = explain_findings(assignment, source, findings, lie, both)
    if comparison.passed and not inputs_changed:
        return decisive
    if decisive is not None and decisive.kind != "race":
        return decisive
    name = assignment.output.name
    if any(isinstance(found, seen.Unwritten) and found.given == name for found in findings):
        # A result that NaN went into may hold the very bits that mark an element as never written.
        comparison = replace(comparison, unwritten=torch.zeros_like(comparison.unwritten))
    if comparison.passed:
        stored = next((one for one in lie if one.access.access != "load" and one.layout.name in inputs_changed), None)
        return Detail(
            kind="input_changed", pattern="input changed", wrong=0, total=comparison.total, unwritten=0,
            message=f"{name} is right, but {_listed(inputs_changed)} changed during the call"
                    f"{f': {stored.where} writes to {stored.layout.name}' if stored else ''}.",
            hint=words.answers.keep_inputs.format(out=name),
            place=place(assignment, source, stored.access.line) if stored else None,
        )
    nothing = comparison.unwritten_count == comparison.total
    if nothing and not inputs_changed and plan is not None and (
        unreached := explain_unwritten(assignment, source, plan, call)
    ) is not None:
        return _with_figures(unreached, comparison)
    evidence = Evidence(comparison, inputs, case.sizes, words)
    kind = _kind(evidence)
    fitting = known_mistakes(assignment, inputs, evidence) if got.numel() <= MOST_EXPLAINED else []
    early = next((told for found in findings if isinstance(found, seen.Unwritten) and plan is not None
                  and (told := read_too_early(found, accesses, plan, call)) is not None), None)
    known = early or beside(findings, assignment.output, words)
    finding = both or _finding(evidence, kind, known, lie, fitting, name, plan, call)
    hint = finding.hint
    if inputs_changed and nothing:
        finding = replace(finding, pattern="input changed")
        hint = f"{_listed(inputs_changed)} changed and {name} was never written: does the kernel store to the wrong " \
               "pointer?"
    elif inputs_changed and finding.pattern != EXCHANGED:
        hint = f"{hint} {_listed(inputs_changed)} changed as well: inputs must be left as they are.".strip()
    return _with_figures(
        Detail(kind=kind, message=_message(name, got, comparison, kind), hint=hint, pattern=finding.pattern,
               fits=list(finding.fits),
               place=place(assignment, source, finding.line)),
        comparison)


def _with_figures(detail: Detail, comparison: Comparison) -> Detail:
    """The detail with how much of the output is wrong, and where."""
    return detail.model_copy(update={
        "wrong": comparison.count, "total": comparison.total, "unwritten": comparison.unwritten_count,
        "worst": comparison.worst, "error_map": error_map(comparison), "corner": corner(comparison)})


def _kind(evidence: Evidence) -> FailureKind:
    comparison = evidence.comparison
    if comparison.unwritten_count:
        return "unwritten"
    return "wrong_values" if bool(comparison.got.isfinite().all()) else "not_finite"


def _finding(
    evidence: Evidence, kind: FailureKind, seen_beside: Finding | None, lie: Sequence[Seen], fitting: Sequence[Mistake],
    name: str, plan: Plan | None, call: int,
) -> Finding:
    """What explains the answer: what a kernel was seen to do first, then an answer that a mistake is known to give,
    and what the answer looks like only where there is neither."""
    comparison = evidence.comparison
    if seen_beside is not None and seen_beside.pattern not in UNCERTAIN:
        return seen_beside
    placed = misplaced(lie) or beyond_rows(lie, ("store", "atomic"))
    if placed is None and kind == "unwritten":
        placed = uncovered(lie, comparison.unwritten)
    if kind == "unwritten":
        placed = same_elements(lie) or placed
        if plan is not None and placed is None:
            placed = explain_copies(name, plan, call, comparison.total)
    if len(fitting) == 1:
        # What was seen is certain, and the mistake says what comes of it.
        known = placed or seen_beside or Finding("", "")
        return replace(known, look=fitting[0].hint, pattern=f"mistake: {fitting[0].name}")
    if placed is not None:
        return placed
    if seen_beside is not None:
        return seen_beside
    if fitting:
        return Finding(
            f"Several mistakes give this answer in this case: {_listed([one.name for one in fitting])}.",
            "Cases of other sizes tell them apart.", fits=tuple(f"mistake: {one.name}" for one in fitting))
    if (beyond := beyond_rows(lie, ("load",))) is not None:
        return beyond
    if comparison.total == 1 and kind == "wrong_values":
        return Finding(ONE_ELEMENT, "")
    found = Finding("", "") if comparison.total > MOST_EXPLAINED else _likeness(evidence, kind, name)
    return Finding("", SECOND_CALL, pattern="second call") if call and found.pattern in WEAK else found


def _likeness(evidence: Evidence, kind: FailureKind, name: str) -> Finding:
    """What the values look like, and where the wrong ones lie."""
    comparison = evidence.comparison
    if kind == "unwritten":
        missing = where(comparison.unwritten, "never written", evidence.words) or Finding(
            "Elements here and there were never written.",
            "Look at the mask of the store and at the output's strides.", pattern=UNKNOWN)
        more = "" if evidence.count == 0 else "Elements that were written are wrong, too: see to those first."
        return replace(missing, look=f"{missing.look} {more}".strip())
    finite = bool(evidence.got.isfinite().all())
    like = converted(evidence) or (resemblance(evidence) if finite else not_finite(evidence))
    place = where(comparison.wrong, "wrong", evidence.words)
    if like is not None:
        adds = place is not None and like.seen and finite and not like.whole
        return replace(like, seen=f"{place.seen} {like.seen}") if place is not None and adds else like
    if place is not None:
        return place
    first = index_of(int(comparison.wrong.flatten().int().argmax()), tuple(comparison.got.shape))
    return Finding(
        "The wrong elements follow no pattern known to the grader.",
        f"Compute {name}[{', '.join(map(str, first))}], the first of them, by hand, and follow what the kernel loads "
        "for it.", pattern=UNKNOWN)


def _message(name: str, got: Tensor, comparison: Comparison, kind: FailureKind) -> str:
    worst, total = comparison.worst, comparison.total
    at = f"{name}[{', '.join(map(str, worst.index))}]"
    if kind == "unwritten":
        missing = comparison.unwritten_count
        if missing == total:
            left = f"none of {total:,} elements has" if total > 1 else "its one element has not"
            return f"{name} was never written: {left} changed in the call."
        others = comparison.count - missing
        state = f"{others:,} of the others {'is' if others == 1 else 'are'} wrong" if others else "the others are right"
        first = index_of(int(comparison.unwritten.flatten().int().argmax()), tuple(got.shape))
        at = f"{name}[{', '.join(map(str, first))}]"
        be = "was" if missing == 1 else "were"
        return f"{missing:,} of {plural(total, 'element')} {be} never written, {at} first; {state}."
    be = "is" if comparison.count == 1 else "are"
    text = f"{comparison.count:,} of {plural(total, 'element')} {be} wrong"
    if comparison.count == total:
        text = f"All {total:,} elements are wrong" if total > 1 else "The only element is wrong"
    value = f"{at} is {worst.got}, expected {worst.expected}"
    if kind == "not_finite":
        bad = int((~got.isfinite()).sum())
        some = f"{bad:,} of them" if bad < comparison.count else "all of them" if bad > 1 else "it is"
        return f"{text}, {some} NaN or infinite; {value}."
    return f"{text}; {value}." if comparison.exact else (
        f"{text}; {value} (off by {worst.error}, {worst.allowed} allowed).")


def _listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
