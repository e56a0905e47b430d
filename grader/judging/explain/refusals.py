"""Explanations of refusals, of files and names that are missing, and of kernels that a course refuses; remarks, which
cost no points."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import accumulate

from grader.course.assignment import Assignment
from grader.course.workspace import ARCHIVES, found_instead
from grader.judging.explain.evidence import Hint
from grader.judging.explain.failures import explain_failure, hinted
from grader.judging.explain.findings import PROMISED_BY_NOBODY, undefined
from grader.judging.explain.wording import in_line, listed, phrases_of, place, quoted, say
from grader.languages import FrontEnd
from grader.languages.phrases import Phrases, fact
from grader.plan.findings import Finding, MaskedUsed, Undefined
from grader.plan.messages import Absent, Refused, Skipped, Why
from grader.results.result import Detail
from grader.results.structure import ConditionResult

MOST_LISTED = 6
# Most lines of a call after its first, and most characters, that are read for the call's end.
MOST_LINES, MOST_SIGNS = 8, 1_000


def explain_refusal(assignment: Assignment, source: str, refused: Refused) -> Detail:
    """Return what host code asked for, and in which line, why it is refused, and what to do instead. `source` is the
    student's file."""
    asks, values = f"refused.{refused.why}", {
        "line": refused.line, "operator": quoted(_called(refused.operator)), "out": assignment.output.name}
    hint = Hint(fact("refused.line" if refused.line else "refused.function", asked=fact(f"{asks}.asked", **values),
                     why=fact(f"{asks}.why"), **values), fact(f"{asks}.instead", **values))
    return hint.detail(phrases_of(assignment, source), "policy", place(assignment, source, refused.line)).model_copy(
        update={"traceback": refused.traceback})


def explain_missing(assignment: Assignment, elsewhere: Sequence[str]) -> Detail:
    """Return why there is no file. `elsewhere` are other files that seem to be meant for it."""
    words = phrases_of(assignment, "")
    file = " or ".join(dict.fromkeys(one.file for one in assignment.in_languages()))
    if not elsewhere:
        return explain_failure(assignment, "missing_file", say(words, fact("missing.seen", file=file)))
    first = elsewhere[0].casefold()
    name = "notebook" if first.endswith(".ipynb") else "archive" if first.endswith(ARCHIVES) else "other"
    hint = say(words, fact(f"missing.{name}", file=file, name=assignment.name))
    return Detail(kind="missing_file", message=found_instead(elsewhere, file), hint=hint)


def explain_absent(assignment: Assignment, source: str, absent: Absent) -> Detail:
    """Return the name that is missing, the skipped line that would have made it, and what to do. `source` is the
    student's file."""
    left, words = absent.skipped, phrases_of(assignment, source)
    if left.why == "module":
        hint = explain_failure(assignment, "import_error", f"No module named '{left.text}'", source=source).hint
    elif left.why == "exception":
        told = hinted(words, words.absent, "import_error", left.text)
        hint = told if told is not None else explain_failure(
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


def explain_foreign(kernel: str, found: Sequence[str], front_end: FrontEnd, *, library: bool) -> Detail:
    """Explain why a course refuses a kernel that a library brings, or one with inline assembly or foreign functions."""
    name = "library" if library else "assembly"
    return Hint(
        fact(f"foreign.{name}.seen", kernel=quoted(kernel), names=listed([quoted(one) for one in found])),
        fact(f"foreign.{name}.look")).detail(front_end.phrases, "policy")


def explain_condition(assignment: Assignment, source: str, found: ConditionResult) -> Detail | None:
    """Explain why a condition on how kernels work is not met; None if it is, or if the facts do not show it. `source`
    is the student's file."""
    if found.met is not False:
        return None
    message = say(phrases_of(assignment, source), fact("condition", words=found.words, said=found.said))
    return Detail(kind="condition", message=message, hint=found.look, place=place(assignment, source, found.line))


def explain_remarks(
    assignment: Assignment, skipped: Iterable[Skipped], findings: Iterable[Finding] = (), source: str = "",
) -> list[str]:
    """Return a sentence for each reason why statements were skipped, for each load that relies on masked lanes, and for
    each undefined operation that comes out right. `source` is the student's file."""
    words = phrases_of(assignment, source)
    reasons: dict[tuple[Why, str], list[Skipped]] = {}
    for one in skipped:
        # Each exception is a reason of its own.
        reasons.setdefault((one.why, one.text if one.why == "exception" else ""), []).append(one)
    said = [_said(why, group, words) for (why, _), group in reasons.items()]
    said += [say(words, fact(f"remark.{'padded' if _checked(words, source, found.line) else 'masked'}",
                             tensor=quoted(found.tensor), line=in_line(found.line)))
             for found in findings if isinstance(found, MaskedUsed)]
    chances = [found for found in findings if isinstance(found, Undefined)]
    racing = {found.tensor for found in chances if found.what == "shared"}
    said += [undefined(found, words).text(words) for found in chances
             if found.certain and found.what in PROMISED_BY_NOBODY
             # A barrier between warps orders the lanes of each, too.
             and (found.what != "warp" or found.tensor not in racing)]
    return list(dict.fromkeys(said))


def _checked(words: Phrases, source: str, line: int) -> bool:
    """Return whether the load in a line has a boundary check: a block pointer takes no `other`."""
    text = "\n".join(source.splitlines()[line - 1:line + MOST_LINES])[:MOST_SIGNS] if line else ""
    depths = accumulate((sign == "(") - (sign == ")") for sign in text)
    # The call ends where its brackets close.
    end = next((at for at, (sign, depth) in enumerate(zip(text, depths, strict=True)) if sign == ")" and not depth),
               len(text))
    return words.marked("bounds_checked", text[:end])


def _said(why: Why, group: Sequence[Skipped], words: Phrases) -> str:
    quotes = list(dict.fromkeys(quoted(" ".join(one.text.split())) for one in group if one.text))
    texts = f" ({_listed(quotes)})" if quotes else ""
    numbers = list(dict.fromkeys(str(one.line) for one in group))
    return say(words, fact(f"remark.{'print' if why == 'print' else 'skipped'}", count=len(numbers), texts=texts,
                           lines=_listed(numbers), why=fact(f"skipped.{why}.why")))


def _listed(words: Sequence[str]) -> str:
    more = [f"{len(words) - MOST_LISTED} more"] if len(words) > MOST_LISTED + 1 else []
    return listed([*words[:MOST_LISTED], *more] if more else words)
