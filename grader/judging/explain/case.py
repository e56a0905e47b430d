"""Explanation of a call's wrong answer: a message with figures, and the hint with the best evidence."""

from __future__ import annotations

from dataclasses import replace

import torch

from grader.course.parameters import Inputs, extents
from grader.judging.answers.answers import Compared
from grader.judging.answers.compare import Comparison, corner, error_map, same_bits
from grader.judging.explain.accesses import misplaced, overlapping, rest_by_groups, uncovered
from grader.judging.explain.called import Called
from grader.judging.explain.evidence import ASKED, UNKNOWN, Evidence, Hint
from grader.judging.explain.findings import explain_findings, left_early
from grader.judging.explain.operations import beside, exchanged, explain_copies, explain_unwritten, not_contiguous
from grader.judging.explain.values import explain_values, known_mistakes, known_pair
from grader.judging.explain.wording import both, extent, first_of, indexed, listed, mistaken, part, say, started
from grader.languages.phrases import Fact, fact
from grader.plan.findings import Race, Unwritten
from grader.plan.plan import named
from grader.results.result import Detail, OutputFigures
from grader.results.verdicts import FailureKind

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
        hint = Hint(fact("statistic.seen", said=said), fact("statistic.look"), "statistic")
        return _without_figures(hint.detail(called.words, "wrong_values"), comparison.total)
    if comparison.passed:
        return _input_changed(called, comparison.total, several)
    if any(isinstance(found, Unwritten) and found.given == out for found in findings):
        # A result that is computed from the poison may hold the very bits that mark an element as never written.
        comparison = replace(comparison, unwritten=torch.zeros_like(comparison.unwritten), kept=False)
    updated = out in inputs
    nothing = same_bits(comparison.got, inputs[out]) if updated else comparison.unwritten_count == comparison.total
    others = _others(answer) if nothing else None
    if nothing and not changed and (unreached := explain_unwritten(called)) is not None:
        message = f"{unreached.message} {say(called.words, others)}".strip()
        return _with_figures(unreached.model_copy(update={"message": message}), comparison)
    kind = _kind(comparison)
    hint = _explained(called, kind, Evidence(comparison, inputs, called.assignment))
    if changed and nothing:
        hint = replace(hint, pattern="input changed", seen=None, look=fact(
            f"changed.{'left' if updated else 'never'}", changed=listed(changed), out=out), guess="")
    elif changed:
        hint = replace(hint, seen=both(hint.seen, fact("changed.too", changed=listed(changed))))
    wrong = both(_message(out, comparison, kind, updated, several), others)
    return _with_figures(
        Detail(kind=kind, message=say(called.words, wrong), hint=hint.text(called.words),
               guess=hint.guessed(called.words), fits=list(hint.fits), place=called.place(hint.line),
               pattern=say(called.words, hint.look) if hint.pattern == ASKED else hint.pattern), comparison)


def _others(answer: Compared) -> Fact | None:
    """Return a sentence that says which outputs the call wrote and which not; None if it wrote none."""
    written = [name for name, one in answer.outputs.items() if one.unwritten_count < one.count or one.passed]
    missing = [name for name in answer.outputs if name not in written]
    return fact("wrong.others", written=listed(written), missing=listed(missing)) if written else None


def _input_changed(called: Called, total: int, several: bool) -> Detail:
    changed = called.ran.changed
    stored = next((one for one in called.accesses if one.access.access != "load" and one.layout.name in changed), None)
    into = fact("changed.into", where=stored.where, name=stored.layout.name) if stored else ""
    hint = Hint(fact(f"changed.{'several' if several else 'one'}", out=called.output, changed=listed(changed),
                     into=into), fact("changed.look", out=called.output), "input changed")
    return _without_figures(hint.detail(
        called.words, "input_changed", called.place(stored.access.line) if stored else None), total)


def _without_figures(detail: Detail, total: int) -> Detail:
    """Return the detail of an output whose elements are all right by themselves."""
    return detail.model_copy(update={"wrong": 0, "total": total, "unwritten": 0})


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
        known = placed or seen or Hint(None, None)
        return replace(known, look=mistaken(fitting[0].hint), pattern=f"mistake: {fitting[0].name}")
    if placed is not None:
        # Which access would be right is a guess. An odd distance is a guess as a whole: a kernel may take blocks, or
        # columns first.
        return replace(placed, guess="all" if placed is apart else "look")
    if seen is not None:
        return seen
    if fitting:
        return Hint(fact("mistakes.several", names=listed([one.name for one in fitting])), fact("mistakes.look"),
                    fits=tuple(f"mistake: {one.name}" for one in fitting))
    if called.number:
        return Hint(None, fact("second_call"), pattern="second call")
    alike = not_contiguous(called) or (_alike(called, kind, evidence) if small else Hint(None, None))
    if alike.pattern != UNKNOWN:
        return replace(alike, guess="look")
    # Some pair of mistakes fits many answers: any single cause comes first.
    if (pair := known_pair(called.assignment, evidence)) is not None:
        return Hint(fact("mistakes.two"), both(*(mistaken(one.hint) for one in pair)),
                    pattern=f"mistake: {pair[0].name} and {pair[1].name}")
    return replace(alike, guess="all")


def _uncovered(called: Called, comparison: Comparison) -> Hint | None:
    stores = [one for one in called.every_access if one.layout.name == called.output and one.access.access != "load"]
    missing = comparison.unwritten
    found = overlapping(stores, missing) or rest_by_groups(stores, missing) or uncovered(
        [one for one in stores if one in called.accesses], missing)
    # Lanes that have ended store nothing, whatever the mask says.
    left = left_early(called.ran.findings)
    return left if left is not None and (found is None or found.pattern == "mask") else found


def _alike(called: Called, kind: FailureKind, evidence: Evidence) -> Hint:
    """Return a hint from what the output looks like, or advice where to begin if that is no known pattern."""
    comparison, out = evidence.comparison, called.output
    if kind == "unwritten" and comparison.unwritten_count == comparison.total:
        name = fact("the_output") if len(called.assignment.outputs) == 1 else out
        return Hint(fact(f"nothing.{'kept' if comparison.kept else 'written'}", out=name),
                    fact("nothing.look", out=name), pattern=UNKNOWN)
    if kind == "unwritten":
        return Hint(_launched(called), fact("nothing.stores", element=first_of(out, comparison.unwritten)),
                    pattern=UNKNOWN)
    like = explain_values(evidence)
    if like is not None and like.pattern == "zero" and not called.launches:
        return replace(like, look=fact("zero.gathered"))
    if like is not None:
        return like
    where = part(out, comparison.wrong)
    return Hint(fact("wrong.exactly", where=where) if where else fact("wrong.unknown"),
                fact("wrong.look", element=first_of(out, comparison.wrong)), pattern=UNKNOWN)


def _launched(called: Called) -> Fact | None:
    """Return a sentence about the launch on the output; None unless there is exactly one."""
    launches = [one for one in called.launches if named(one) & called.outputs]
    if len(launches) != 1:
        return None
    shape = extent(extents(called.assignment.output, called.case.sizes))
    return fact(f"launch.{'threads' if called.words.threads else 'programs'}", block=extent(launches[0].block),
                launched=started(launches[0].line, launches[0].grid), out=called.output, shape=shape)


def _message(name: str, comparison: Comparison, kind: FailureKind, updated: bool, several: bool) -> Fact:
    """Return how much of an output is wrong. The sentence names the output if there are `several`."""
    worst, count, total = comparison.worst, comparison.count, comparison.total
    if kind == "unwritten":
        missing, others = comparison.unwritten_count, count - comparison.unwritten_count
        values = {"out": name, "missing": missing, "count": count, "total": total, "others": others,
                  "at": first_of(name, comparison.unwritten), "output": f"{name}: " if several else ""}
        if updated:
            return fact("unwritten_part.left", **values)
        if missing == total:
            return fact(f"unwritten_part.{'all' if total > 1 else 'only'}", **values)
        return fact(f"unwritten_part.{'others' if others else 'some'}", **values)
    all_of = ("all" if total > 1 else "only") if count == total else "some"
    bad = int((~comparison.finite).sum())
    share = "some" if bad < count else "all" if bad > 1 else "one"
    figures = "not_finite" if kind == "not_finite" else "exact" if comparison.exact else "off"
    values = {"count": count, "total": total, "bad": bad, "element": indexed(name, worst.index), "got": worst.got,
              "expected": worst.expected, "error": worst.error, "allowed": worst.allowed}
    return fact(f"wrong.{figures}", wrong=fact(f"wrong.{all_of}{'_of' if several else ''}", out=name, **values),
                not_finite=fact(f"wrong.bad.{share}", **values), **values)
