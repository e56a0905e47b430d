"""Explanation of a call's wrong answer: a message with figures, and the hint with the best evidence."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import torch

from grader.course.parameters import Inputs, extents
from grader.judging.answers.answers import AnswerComparisons
from grader.judging.answers.compare import Comparison, corner, error_map, same_bits
from grader.judging.explain.accesses import misplaced
from grader.judging.explain.coverage import overlapping, rest_by_groups, uncovered
from grader.judging.explain.evidence import ASKED, UNKNOWN, Evidence, Hint
from grader.judging.explain.explained_call import ExplainedCall
from grader.judging.explain.findings import explain_findings, finding_hint, left_early
from grader.judging.explain.operations import exchanged, explain_copies, explain_unwritten, not_contiguous, observed
from grader.judging.explain.values import explain_values, known_mistakes, known_pair
from grader.judging.explain.wording import extent, first_of, indexed, join, listed, mistaken, part, say, started
from grader.languages.phrases import Fact, fact
from grader.plan.findings import Race, UndefinedBehaviour, UnwrittenAccess
from grader.plan.plan import touched_buffers
from grader.results.result import Detail, OutputFigures
from grader.results.verdicts import FailureKind

# Most elements of an output in which patterns are sought: more take seconds, and smaller cases show the same patterns.
MOST_EXPLAINED = 1 << 22


def explain_case(called: ExplainedCall, inputs: Inputs, answer: AnswerComparisons) -> Detail | None:
    """Return what is wrong with a call that was run and compared; None if nothing is.

    `inputs` are the judge's own, as they were before the call. `called.assignment` is about the output to explain.
    """
    detail = _explain(called, inputs, answer, answer.outputs[called.output])
    if detail is not None and called.plan.stale:
        line = called.plan.stale[0]
        hint = Hint(fact("stale.seen", line=line), fact("stale.advice"))
        detail = detail.model_copy(update={
            "hint": hint.text(called.words), "guess": "", "fits": [], "pattern": "stale", "place": called.place(line)})
    if detail is None or list(answer.outputs) == ["out"] or detail.wrong is None:
        return detail
    return detail.model_copy(update={"outputs": [
        OutputFigures(name=name, wrong=comparison.count, total=comparison.total, unwritten=comparison.unwritten_count,
                      worst=None if comparison.passed else comparison.worst,
                      error_map=None if comparison.passed else error_map(comparison))
        for name, comparison in answer.outputs.items()]})


def _explain(called: ExplainedCall, inputs: Inputs, answer: AnswerComparisons, comparison: Comparison) -> Detail | None:
    out, changed, findings = called.output, called.result.changed, called.result.findings
    several = len(answer.outputs) > 1
    decisive = explain_findings(called.assignment, called.source, findings, called.accesses)
    if (answer.passed and not changed) or (decisive is not None and decisive.kind != "race"):
        return decisive
    if answer.objection and not changed:
        said = answer.objection.strip().removesuffix(".")
        hint = Hint(fact("statistic.seen", said=said), fact("statistic.advice"), "statistic")
        return _without_figures(hint.detail(called.words, "wrong_values"), comparison.total)
    if comparison.passed:
        return _input_changed(called, comparison.total, several)
    if any(isinstance(finding, UnwrittenAccess) and finding.given == out for finding in findings):
        # A result that is computed from the poison may hold the very bits that mark an element as never written.
        comparison = replace(comparison, unwritten=torch.zeros_like(comparison.unwritten), kept=False)
    updated = out in inputs
    nothing = same_bits(comparison.got, inputs[out]) if updated else comparison.unwritten_count == comparison.total
    others = _other_outputs(answer) if nothing else None
    if nothing and not changed and (unreached := explain_unwritten(called)) is not None:
        message = f"{unreached.message} {say(called.words, others)}".strip()
        return _with_figures(unreached.model_copy(update={"message": message}), comparison)
    kind = _kind(comparison)
    hint = _explained(called, kind, Evidence(comparison, inputs, called.assignment))
    if changed and nothing:
        hint = replace(hint, pattern="input changed", seen=None, advice=fact(
            f"changed.{'left' if updated else 'never'}", changed=listed(changed), out=out), guess="")
    elif changed:
        hint = replace(hint, seen=join(hint.seen, fact("changed.too", changed=listed(changed))))
    wrong = join(_message(out, comparison, kind, updated, several), others)
    return _with_figures(
        Detail(kind=kind, message=say(called.words, wrong), hint=hint.text(called.words),
               guess=hint.guessed(called.words), fits=list(hint.fits), place=called.place(hint.line),
               pattern=say(called.words, hint.advice) if hint.pattern == ASKED else hint.pattern), comparison)


def _other_outputs(answer: AnswerComparisons) -> Fact | None:
    """Return a sentence with the outputs that the call wrote, and with the others; None if it wrote none."""
    written = [name for name, comparison in answer.outputs.items()
               if comparison.unwritten_count < comparison.count or comparison.passed]
    missing = [name for name in answer.outputs if name not in written]
    return fact("wrong.others", written=listed(written), missing=listed(missing)) if written else None


def _input_changed(called: ExplainedCall, total: int, several: bool) -> Detail:
    changed = called.result.changed
    stored = next((access for access in called.accesses
                   if access.access.access != "load" and access.layout.name in changed), None)
    into = fact("changed.into", where=stored.where, name=stored.layout.name) if stored else ""
    hint = Hint(fact(f"changed.{'several' if several else 'one'}", out=called.output, changed=listed(changed),
                     into=into), fact("changed.advice", out=called.output), "input changed")
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


def _explained(called: ExplainedCall, kind: FailureKind, evidence: Evidence) -> Hint:
    """Return the hint of the source that is trusted most, of those that have evidence."""
    return next(hint for hint in _hints(called, kind, evidence) if hint is not None)


def _hints(called: ExplainedCall, kind: FailureKind, evidence: Evidence) -> Iterator[Hint | None]:
    """Yield the hint of each source of evidence, or None, in the order in which sources are trusted: observations of
    the kernel, known mistakes with this answer, patterns of the answer's values."""
    comparison, small = evidence.comparison, evidence.comparison.total <= MOST_EXPLAINED
    seen = observed(called) or exchanged(called)
    yield seen if seen is not None and seen.sure else None
    yield next((Hint(slip.seen, slip.advice, pattern="slip", line=slip.line)
                for slip in called.words.slips(called.source) if slip.empties or kind != "unwritten"), None)
    apart = misplaced(called.accesses)
    placed = apart or (_uncovered(called, comparison) if kind == "unwritten" else None) or explain_copies(called)
    fitting = known_mistakes(called.assignment, evidence) if small else []
    # Where a program loads what another one stores, an answer may look like that of a mistake by chance.
    chance = seen is not None and seen.pattern == "race" and any(
        isinstance(finding, Race) and not finding.certain for finding in called.result.findings)
    if len(fitting) == 1 and not chance:
        # The observation is certain, and the mistake's own hint explains it.
        yield replace(placed or seen or Hint(None, None), advice=mistaken(fitting[0].hint),
                      pattern=f"mistake: {fitting[0].name}")
    # Which access would be right is a guess. An odd distance is a guess as a whole: a kernel may take blocks, or
    # columns first.
    yield placed and replace(placed, guess="all" if placed is apart else "advice")
    yield seen
    if fitting:
        yield Hint(fact("mistakes.several", names=listed([mistake.name for mistake in fitting])),
                   fact("mistakes.advice"), fits=tuple(f"mistake: {mistake.name}" for mistake in fitting))
    yield Hint(None, fact("second_call"), pattern="second call") if called.number else None
    yield next((replace(finding_hint(finding, None, called.words), guess="all") for finding in called.result.findings
                if isinstance(finding, UndefinedBehaviour) and finding.what == "inactive"), None)
    alike = not_contiguous(called) or (_by_values(called, kind, evidence) if small else Hint(None, None))
    yield replace(alike, guess="advice") if alike.pattern != UNKNOWN else None
    # Some pair of mistakes fits many answers: any single cause comes first.
    if (pair := known_pair(called.assignment, evidence)) is not None:
        yield Hint(fact("mistakes.two"), join(*(mistaken(mistake.hint) for mistake in pair)),
                   pattern=f"mistake: {pair[0].name} and {pair[1].name}")
    yield replace(alike, guess="all")


def _uncovered(called: ExplainedCall, comparison: Comparison) -> Hint | None:
    stores = [access for access in called.every_access
              if access.layout.name == called.output and access.access.access != "load"]
    missing = comparison.unwritten
    hint = overlapping(stores, missing) or rest_by_groups(stores, missing) or uncovered(
        [store for store in stores if store in called.accesses], missing)
    # Lanes that have ended store nothing, whatever the mask says.
    left = left_early(called.result.findings)
    return left if left is not None and (hint is None or hint.pattern == "mask") else hint


def _by_values(called: ExplainedCall, kind: FailureKind, evidence: Evidence) -> Hint:
    """Return a hint from a known pattern of the output's values, or else advice where to begin."""
    comparison, out = evidence.comparison, called.output
    if kind == "unwritten" and comparison.unwritten_count == comparison.total:
        name = fact("the_output") if len(called.assignment.outputs) == 1 else out
        return Hint(fact(f"nothing.{'kept' if comparison.kept else 'written'}", out=name),
                    fact("nothing.advice", out=name), pattern=UNKNOWN)
    if kind == "unwritten":
        return Hint(_launched(called), fact("nothing.stores", element=first_of(out, comparison.unwritten)),
                    pattern=UNKNOWN)
    like = explain_values(evidence)
    if like is not None and like.pattern == "zero" and not called.launches:
        return replace(like, advice=fact("zero.gathered"))
    if like is not None:
        return like
    where = part(out, comparison.wrong)
    return Hint(fact("wrong.exactly", where=where) if where else fact("wrong.unknown"),
                fact("wrong.advice", element=first_of(out, comparison.wrong)), pattern=UNKNOWN)


def _launched(called: ExplainedCall) -> Fact | None:
    """Return a sentence about the launch on the output; None unless there is exactly one."""
    launches = [launch for launch in called.launches if touched_buffers(launch) & called.outputs]
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
