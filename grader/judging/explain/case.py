"""Explanation of a call's wrong answer: a message with figures, and the hint with the best evidence."""

from __future__ import annotations

from dataclasses import replace

import torch

from grader.course.parameters import Inputs, extents
from grader.judging.answers.answers import Compared
from grader.judging.answers.compare import Comparison, corner, error_map, same_bits
from grader.judging.explain.accesses import misplaced, overlapping, rest_by_groups, uncovered
from grader.judging.explain.called import Called
from grader.judging.explain.evidence import UNKNOWN, Evidence, Hint
from grader.judging.explain.findings import explain_findings, left_early
from grader.judging.explain.operations import beside, exchanged, explain_copies, explain_unwritten, not_contiguous
from grader.judging.explain.values import explain_values, known_mistakes, known_pair
from grader.judging.explain.wording import (
    capital,
    extent,
    first_of,
    indexed,
    listed,
    part,
    spoken,
    spoken_mistake,
    started,
)
from grader.plan.findings import Race, Unwritten
from grader.plan.plan import named
from grader.results.result import Detail, OutputFigures
from grader.results.text import plural
from grader.results.verdicts import FailureKind

SECOND_CALL = ("The first call was right, and the second one, with new values in its inputs, is not: does the function "
               "keep something from one call to the next, such as a tensor, or an answer to inputs that look the same?")
STATISTIC = ("Which random number belongs to an element, and what is it compared with? No two elements may share one "
             "by design, and each number of its range has to be as likely as any other.")
NOT_GATHERED = "No kernel runs here: does the host gather every element, also those of a last, partial share?"
# Most elements of an output in which patterns are sought: more take seconds, and smaller cases show the same patterns.
MOST_EXPLAINED = 1 << 22


def explain_case(called: Called, inputs: Inputs, answer: Compared) -> Detail | None:
    """Return what is wrong with a call that was run and compared; None if nothing is.

    `inputs` are the judge's own, as they were before the call. `called.assignment` is about the output to explain.
    """
    detail = _explain(called, inputs, answer, answer.outputs[called.output])
    if detail is None or list(answer.outputs) == ["out"] or detail.wrong is None:
        return detail
    return detail.model_copy(update={"outputs": [
        OutputFigures(name=name, wrong=one.count, total=one.total, unwritten=one.unwritten_count,
                      worst=None if one.passed else one.worst, error_map=None if one.passed else error_map(one))
        for name, one in answer.outputs.items()]})


def _explain(called: Called, inputs: Inputs, answer: Compared, comparison: Comparison) -> Detail | None:
    out, changed, findings = called.output, called.ran.changed, called.ran.findings
    several = len(answer.outputs) > 1
    decisive = explain_findings(called.assignment, called.source, findings, called.accesses)
    if (answer.passed and not changed) or (decisive is not None and decisive.kind != "race"):
        return decisive
    if answer.unlikely and not changed:
        said = answer.unlikely.strip().removesuffix(".")
        return Detail(
            kind="wrong_values", pattern="statistic", hint=STATISTIC, wrong=0, total=comparison.total, unwritten=0,
            message=f"Each element by itself may be right, but not all together: {said}.")
    if comparison.passed:
        return _input_changed(called, comparison.total, several)
    if any(isinstance(found, Unwritten) and found.given == out for found in findings):
        # A result that is computed from the poison may hold the very bits that mark an element as never written.
        comparison = replace(comparison, unwritten=torch.zeros_like(comparison.unwritten), kept=False)
    updated = out in inputs
    nothing = same_bits(comparison.got, inputs[out]) if updated else comparison.unwritten_count == comparison.total
    others = _others(answer) if nothing else ""
    if nothing and not changed and (unreached := explain_unwritten(called)) is not None:
        return _with_figures(unreached.model_copy(update={"message": unreached.message + others}), comparison)
    kind = _kind(comparison)
    told = _explained(called, kind, Evidence(comparison, inputs, called.assignment))
    hint = told.text
    if changed and nothing:
        told = replace(told, pattern="input changed")
        left = "left as it was" if updated else "never written"
        hint = f"{listed(changed)} changed and {out} was {left}: does the kernel store to the wrong pointer?"
    elif changed:
        wrong = f"{told.seen} {listed(changed)} changed as well: does the kernel store to the wrong pointer?".strip()
        hint = replace(told, seen=wrong).text
    return _with_figures(
        Detail(kind=kind, message=_named(out, _message(out, comparison, kind, updated), several) + others, hint=hint,
               guess=told.guess, pattern=told.pattern, fits=list(told.fits), place=called.place(told.line)), comparison)


def _named(name: str, message: str, several: bool) -> str:
    """Return a message that names its output if there are several."""
    return message if not several or message.startswith(f"{name} ") else f"{name}: {message[:1].lower()}{message[1:]}"


def _others(answer: Compared) -> str:
    """Return a sentence that says which outputs the call wrote and which not; "" if it wrote none."""
    written = [name for name, one in answer.outputs.items() if one.unwritten_count < one.count or one.passed]
    missing = [name for name in answer.outputs if name not in written]
    return f" The call wrote {listed(written)} and not {listed(missing)}." if written else ""


def _input_changed(called: Called, total: int, several: bool) -> Detail:
    changed = called.ran.changed
    stored = next((one for one in called.accesses if one.access.access != "load" and one.layout.name in changed), None)
    into = f": {stored.where} writes to {stored.layout.name}" if stored else ""
    return Detail(
        kind="input_changed", pattern="input changed", wrong=0, total=total, unwritten=0,
        message=f"{'Each output' if several else called.output} is right, but {listed(changed)} changed during the "
                f"call{into}.", hint=called.words.answers.keep_inputs.format(out=called.output),
        place=called.place(stored.access.line) if stored else None)


def _with_figures(detail: Detail, comparison: Comparison) -> Detail:
    """Return the detail with the number of wrong elements, the worst of them and the map of errors."""
    return detail.model_copy(update={
        "wrong": comparison.count, "total": comparison.total, "unwritten": comparison.unwritten_count,
        "worst": comparison.worst, "error_map": error_map(comparison), "corner": corner(comparison)})


def _kind(comparison: Comparison) -> FailureKind:
    if comparison.unwritten_count:
        return "unwritten"
    return "wrong_values" if bool(comparison.finite.all()) else "not_finite"


def _explained(called: Called, kind: FailureKind, evidence: Evidence) -> Hint:
    """Return the hint with the best evidence: what the kernel was seen to do, else a known mistake that gives this
    answer, else what the answer looks like."""
    comparison, small = evidence.comparison, evidence.comparison.total <= MOST_EXPLAINED
    seen = beside(called) or exchanged(called)
    if seen is not None and seen.sure:
        return seen
    if (slip := next((one for one in called.words.slips(called.source) if one.empties or kind != "unwritten"), None)):
        return Hint(slip.seen, slip.look, pattern="slip", line=slip.line)
    apart = misplaced(called.accesses)
    placed = apart or (_uncovered(called, comparison) if kind == "unwritten" else None) or explain_copies(called)
    fitting = known_mistakes(called.assignment, evidence) if small else []
    # Where a program loads what another one stores, an answer may look like that of a mistake by chance.
    chance = seen is not None and seen.pattern == "race" and any(
        isinstance(one, Race) and not one.certain for one in called.ran.findings)
    if len(fitting) == 1 and not chance:
        # The observation is certain, and the mistake's own hint explains it.
        known = placed or seen or Hint("", "")
        return replace(known, look=spoken_mistake(fitting[0].hint, called.words), pattern=f"mistake: {fitting[0].name}")
    if placed is not None:
        # Which access would be right is a guess. An odd distance is a guess as a whole: a kernel may take blocks, or
        # columns first.
        return replace(placed, guess=placed.text if placed is apart else placed.look)
    if seen is not None:
        return seen
    if fitting:
        return Hint(
            f"More than one mistake gives this answer: {listed([one.name for one in fitting])}.",
            "Look in the kernel for each of them.", fits=tuple(f"mistake: {one.name}" for one in fitting))
    if called.number:
        return Hint("", SECOND_CALL, pattern="second call")
    alike = not_contiguous(called) or (_alike(called, kind, evidence) if small else Hint("", ""))
    if alike.pattern != UNKNOWN:
        return replace(alike, guess=alike.look)
    # Some pair of mistakes fits many answers: any single cause comes first.
    if (pair := known_pair(called.assignment, evidence)) is not None:
        return Hint("Two mistakes together give this answer.",
                    " ".join(spoken_mistake(one.hint, called.words) for one in pair),
                    pattern=f"mistake: {pair[0].name} and {pair[1].name}")
    return replace(alike, guess=alike.text)


def _uncovered(called: Called, comparison: Comparison) -> Hint | None:
    stores = [one for one in called.every_access if one.layout.name == called.output and one.access.access != "load"]
    missing = comparison.unwritten
    found = overlapping(stores, missing) or rest_by_groups(stores, missing) or uncovered(
        [one for one in stores if one in called.accesses], missing)
    # Lanes that have ended store nothing, whatever the mask says.
    left = left_early(called.ran.findings, called.words)
    return left if left is not None and (found is None or found.pattern == "mask") else found


def _alike(called: Called, kind: FailureKind, evidence: Evidence) -> Hint:
    """Return a hint from what the output looks like, or advice where to begin if that is no known pattern."""
    comparison = evidence.comparison
    if kind == "unwritten" and comparison.unwritten_count == comparison.total:
        out = "the output" if len(called.assignment.outputs) == 1 else called.output
        seen = f"{capital(out)} is as it was before the call." if comparison.kept else (
            f"Nothing was written to {out}.")
        return Hint(seen, called.words.answers.nothing_stored.replace("the output", out), pattern=UNKNOWN)
    if kind == "unwritten":
        return Hint(_launched(called), spoken(
            f"Nothing stores {first_of(called.output, comparison.unwritten)}. Work out by hand which program should, "
            "and then its offsets and mask.", called.words), pattern=UNKNOWN)
    like = explain_values(evidence)
    if like is not None and like.pattern == "zero" and not called.launches:
        return replace(like, look=NOT_GATHERED)
    if like is not None:
        return replace(like, seen=spoken(like.seen, called.words), look=spoken(like.look, called.words))
    where = part(called.output, comparison.wrong)
    return Hint(
        f"Wrong exactly {where}." if where else "The grader cannot tell the cause.",
        f"Compute {first_of(called.output, comparison.wrong)}, the first wrong element, by hand, and follow what the "
        "kernel loads for it.", pattern=UNKNOWN)


def _launched(called: Called) -> str:
    """Return a sentence about the launch on the output; "" unless there is exactly one."""
    launches = [one for one in called.launches if named(one) & called.outputs]
    if len(launches) != 1:
        return ""
    threads = f", of {extent(launches[0].block)} threads each" if called.words.names.threads else ""
    shape = extent(extents(called.assignment.output, called.case.sizes))
    return spoken(f"The {started(launches[0].line, launches[0].grid)}{threads}; {called.output} has {shape} elements.",
                  called.words)


def _message(name: str, comparison: Comparison, kind: FailureKind, updated: bool) -> str:
    worst, total = comparison.worst, comparison.total
    if kind == "unwritten":
        missing, at = comparison.unwritten_count, f"{first_of(name, comparison.unwritten)} first"
        if updated:
            return (f"{name} was left as it was in {comparison.count:,} of {plural(total, 'element')} that have to "
                    f"change, {at}.")
        if missing == total:
            left = f"none of {total:,} elements has" if total > 1 else "its one element has not"
            return f"{name} was never written: {left} changed in the call."
        others = comparison.count - missing
        state = f"{others:,} of the others {'is' if others == 1 else 'are'} wrong" if others else "the others are right"
        be = "was" if missing == 1 else "were"
        return f"{missing:,} of {plural(total, 'element')} {be} never written, {at}; {state}."
    be = "is" if comparison.count == 1 else "are"
    text = f"{comparison.count:,} of {plural(total, 'element')} {be} wrong"
    if comparison.count == total:
        text = f"All {total:,} elements are wrong" if total > 1 else "The only element is wrong"
    value = f"{indexed(name, worst.index)} is {worst.got}, expected {worst.expected}"
    if kind == "not_finite":
        bad = int((~comparison.finite).sum())
        some = f"{bad:,} of them" if bad < comparison.count else "all of them" if bad > 1 else "it is"
        return f"{text}, {some} NaN or infinite; {value}."
    return f"{text}; {value}." if comparison.exact else (
        f"{text}; {value} (off by {worst.error}, {worst.allowed} allowed).")

