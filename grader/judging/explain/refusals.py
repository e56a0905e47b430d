"""Explanations of refusals, of files and names that are missing, and of kernels that a course refuses; remarks, which
cost no points."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import accumulate

from grader.course.assignment import Assignment
from grader.course.workspace import ARCHIVES, found_instead
from grader.judging.explain.evidence import Hint
from grader.judging.explain.failures import explain_failure, hinted
from grader.judging.explain.findings import UNPROMISED, undefined
from grader.judging.explain.wording import in_line, listed, phrases_of, place, quoted, say
from grader.languages import FrontEnd
from grader.languages.phrases import Phrases, fact
from grader.plan.findings import Finding, MaskedUse, MisalignedAccess, UndefinedBehaviour
from grader.plan.messages import AbsentName, Refused, SkippedStatement, Why
from grader.results.result import Detail
from grader.results.structure import ConditionResult

MOST_LISTED = 6
# Most lines of a call after its first, and most characters, that are read for the call's end.
MOST_LINES, MOST_SIGNS = 8, 1_000


def explain_refusal(assignment: Assignment, source: str, refused: Refused) -> Detail:
    """Return the refused request of host code with its line, the reason, and what to do instead. `source` is the
    student's file."""
    asks, values = f"refused.{refused.why}", {
        "line": refused.line, "operator": quoted(_called(refused.operator)), "out": assignment.output.name}
    hint = Hint(fact("refused.line" if refused.line else "refused.function", asked=fact(f"{asks}.asked", **values),
                     why=fact(f"{asks}.why"), **values), fact(f"{asks}.instead", **values))
    return hint.detail(phrases_of(assignment, source), "policy", place(assignment, source, refused.line),
                       refused.traceback)


def explain_missing(assignment: Assignment, elsewhere: Sequence[str]) -> Detail:
    """Return why there is no file. `elsewhere` are other files that seem to be meant for it."""
    words = phrases_of(assignment, "")
    file = " or ".join(dict.fromkeys(language.file for language in assignment.in_languages()))
    if not elsewhere:
        return explain_failure(assignment, "missing_file", say(words, fact("missing.seen", file=file)))
    first = elsewhere[0].casefold()
    name = "notebook" if first.endswith(".ipynb") else "archive" if first.endswith(ARCHIVES) else "other"
    hint = say(words, fact(f"missing.{name}", file=file, name=assignment.name))
    return Detail(kind="missing_file", message=found_instead(elsewhere, file), hint=hint)


def explain_absent(assignment: Assignment, source: str, absent: AbsentName) -> Detail:
    """Return the missing name, the skipped line that would have made it, and what to do. `source` is the
    student's file."""
    left, words = absent.skipped, phrases_of(assignment, source)
    if left.why == "module":
        hint = explain_failure(assignment, "import_error", f"No module named '{left.text}'", source=source).hint
    elif left.why == "exception":
        known = hinted(words, words.absent, "import_error", left.text)
        hint = known if known is not None else explain_failure(
            assignment, "import_error", left.text, source=source).hint
    else:
        hint = say(words, fact(f"skipped.{left.why}.instead"))
    message = fact("absent", name=quoted(absent.name), line=left.line, why=fact(f"skipped.{left.why}.why"),
                   said=f" ({quoted(' '.join(left.text.split()))})" if left.text else "")
    return Detail(kind="import_error", hint=hint, place=place(assignment, source, left.line),
                  traceback=absent.traceback, message=say(words, message))


def _called(operator: str) -> str:
    """Return an operator's name as a student knows it: `mul` for `aten::mul.Tensor`."""
    if not operator.startswith("aten::"):
        return operator
    name = operator.removeprefix("aten::").partition(".")[0]
    return {"_to_copy": "to"}.get(name, name)


def explain_foreign(kernel: str, foreign: Sequence[str], front_end: FrontEnd, *, library: bool) -> Detail:
    """Explain why a course refuses a kernel that a library brings, or one with inline assembly or foreign functions."""
    name = "library" if library else "assembly"
    return Hint(
        fact(f"foreign.{name}.seen", kernel=quoted(kernel), names=listed([quoted(text) for text in foreign])),
        fact(f"foreign.{name}.advice")).detail(front_end.phrases, "policy")


def explain_condition(assignment: Assignment, source: str, result: ConditionResult) -> Detail | None:
    """Explain why a condition on how kernels work is not met; None if it is, or if the facts do not show it. `source`
    is the student's file."""
    if result.met is not False:
        return None
    message = say(phrases_of(assignment, source), fact("condition", words=result.words, said=result.said))
    return Detail(kind="condition", message=message, hint=result.look, place=place(assignment, source, result.line))


def explain_remarks(
    assignment: Assignment, skipped: Iterable[SkippedStatement], findings: Iterable[Finding] = (), source: str = "",
) -> list[str]:
    """Return a sentence for each reason why statements were skipped, for each load that relies on masked lanes, and for
    each undefined operation that comes out right. `source` is the student's file."""
    words = phrases_of(assignment, source)
    reasons: dict[tuple[Why, str], list[SkippedStatement]] = {}
    for statement in skipped:
        # Each exception is a reason of its own.
        reason = statement.why, statement.text if statement.why == "exception" else ""
        reasons.setdefault(reason, []).append(statement)
    said = [_said(why, group, words) for (why, _), group in reasons.items()]
    said += [say(words, fact(f"remark.{'padded' if _is_checked(words, source, finding.line) else 'masked'}",
                             tensor=quoted(finding.tensor), line=in_line(finding.line)))
             for finding in findings if isinstance(finding, MaskedUse)]
    # A misaligned access of shared memory was made elsewhere, where it meets accesses that it would not.
    moved = {(finding.kernel, finding.tensor) for finding in findings if isinstance(finding, MisalignedAccess)}
    latent_faults = [finding for finding in findings
                     if isinstance(finding, UndefinedBehaviour) and (finding.kernel, finding.tensor) not in moved]
    racing = {fault.kernel for fault in latent_faults if fault.what in ("shared", "barrier")}
    alike: dict[tuple[str, str, str], list[UndefinedBehaviour]] = {}
    for fault in latent_faults:
        # A barrier between warps orders the lanes of each, too.
        if fault.certain and fault.what in UNPROMISED and (fault.what != "warp" or fault.kernel not in racing):
            alike.setdefault((fault.what, fault.kernel, fault.tensor), []).append(fault)
    for first, *others in alike.values():
        lines = sorted({fault.line for fault in others} - {first.line})
        more = fact("remark.likewise", count=len(lines), lines=_listed([*map(str, lines)])) if lines else None
        said.append(f"{undefined(first, words).text(words)} {say(words, more)}".strip())
    return list(dict.fromkeys(said))


def explain_slips(assignment: Assignment, source: str) -> list[str]:
    """Return a sentence for each part of a file by which a right answer rests on a value that nothing defines."""
    words = phrases_of(assignment, source)
    return [say(words, slip.seen, slip.advice) for slip in words.slips(source) if slip.undefined]


def _is_checked(words: Phrases, source: str, line: int) -> bool:
    """Return whether the load in a line has a boundary check: a block pointer takes no `other`."""
    text = "\n".join(source.splitlines()[line - 1:line + MOST_LINES])[:MOST_SIGNS] if line else ""
    depths = accumulate((sign == "(") - (sign == ")") for sign in text)
    # The call ends where its brackets close.
    end = next((at for at, (sign, depth) in enumerate(zip(text, depths, strict=True)) if sign == ")" and not depth),
               len(text))
    return words.marked("bounds_checked", text[:end])


def _said(why: Why, group: Sequence[SkippedStatement], words: Phrases) -> str:
    quotes = list(dict.fromkeys(quoted(" ".join(statement.text.split())) for statement in group if statement.text))
    texts = f" ({_listed(quotes)})" if quotes else ""
    numbers = list(dict.fromkeys(str(statement.line) for statement in group))
    return say(words, fact(f"remark.{'print' if why == 'print' else 'skipped'}", count=len(numbers), texts=texts,
                           lines=_listed(numbers), why=fact(f"skipped.{why}.why")))


def _listed(words: Sequence[str]) -> str:
    more = [f"{len(words) - MOST_LISTED} more"] if len(words) > MOST_LISTED + 1 else []
    return listed([*words[:MOST_LISTED], *more] if more else words)
