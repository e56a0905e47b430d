"""Explanations of refusals, of files and names that are missing, and of kernels that a course refuses; remarks, which
cost no points."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import accumulate

from grader.course.assignment import Assignment
from grader.course.workspace import ARCHIVES, found_instead
from grader.judging.explain.failures import explain_failure, hinted
from grader.judging.explain.findings import undefined
from grader.judging.explain.wording import in_line, listed, phrases_of, place, quoted
from grader.languages import FrontEnd
from grader.languages.phrases import Phrases
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
    wording = phrases_of(assignment).refusals[refused.why]
    asked = wording.asked.replace("{operator}", quoted(_called(refused.operator)))
    where = f"Line {refused.line}" if refused.line else "The function"
    return Detail(
        kind="policy", message=f"{where} {asked}{wording.why}.", traceback=refused.traceback,
        hint=wording.instead.replace("{out}", assignment.output.name), place=place(assignment, source, refused.line))


def explain_missing(assignment: Assignment, elsewhere: Sequence[str]) -> Detail:
    """Return why there is no file. `elsewhere` are other files that seem to be meant for it."""
    file = " or ".join(dict.fromkeys(one.file for one in assignment.in_languages()))
    if not elsewhere:
        return explain_failure(assignment, "missing_file", f"{file} is not in the submission.")
    first = elsewhere[0].casefold()
    if first.endswith(".ipynb"):
        hint = (f"Put the kernel and its function into {file}, and hand that in. Where your course takes notebooks, "
                f"the cell that begins with %%kernelmark {assignment.name} is graded, or else the one that defines the "
                "function.")
    elif first.endswith(ARCHIVES):
        hint = f"An archive is not unpacked: hand in {file} itself."
    else:
        hint = f"Hand it in as {file}, spelt exactly so, in the submission's folder itself."
    return Detail(kind="missing_file", message=found_instead(elsewhere, file), hint=hint)


def explain_absent(assignment: Assignment, source: str, absent: Absent) -> Detail:
    """Return the name that is missing, the skipped line that would have made it, and what to do. `source` is the
    student's file."""
    left, words = absent.skipped, phrases_of(assignment)
    said = f" ({quoted(' '.join(left.text.split()))})" if left.text else ""
    skip = words.skips[left.why]
    hint = skip.instead
    if left.why == "module":
        hint = words.failures.no_module(left.text)
    elif left.why == "exception":
        told = hinted(words.failures.absent, "import_error", left.text)
        hint = explain_failure(assignment, "import_error", left.text).hint if told is None else told
    return Detail(
        kind="import_error", hint=hint, place=place(assignment, source, left.line), traceback=absent.traceback,
        message=f"{quoted(absent.name)} is not defined: line {left.line}, which defines it, was skipped, since "
                f"{skip.why}{said}.")


def _called(operator: str) -> str:
    """Return an operator's name as a student knows it: `mul` for `aten::mul.Tensor`."""
    if not operator.startswith("aten::"):
        return operator
    name = operator.removeprefix("aten::").partition(".")[0]
    return {"_to_copy": "to"}.get(name, name)


def explain_foreign(kernel: str, found: Sequence[str], front_end: FrontEnd, *, library: bool) -> Detail:
    """Explain why a course refuses a kernel that a library brings, or one with inline assembly or foreign functions."""
    calls, names = front_end.phrases.calls, listed([quoted(one) for one in found])
    what = "is one of the library" if library else "uses inline assembly or a foreign function:"
    return Detail(kind="policy", message=f"The kernel {quoted(kernel)} {what} {names}.",
                  hint=calls.library if library else calls.assembly)


def explain_condition(assignment: Assignment, source: str, found: ConditionResult) -> Detail | None:
    """Explain why a condition on how kernels work is not met; None if it is, or if the facts do not show it. `source`
    is the student's file."""
    if found.met is not False:
        return None
    return Detail(kind="condition", message=f"The kernel has to {found.words}. {found.said}",
                  hint=found.look, place=place(assignment, source, found.line))


def explain_remarks(
    assignment: Assignment, skipped: Iterable[Skipped], findings: Iterable[Finding] = (), source: str = "",
) -> list[str]:
    """Return a sentence for each reason why statements were skipped, for each load that relies on masked lanes, and for
    each undefined operation that comes out right. `source` is the student's file."""
    words = phrases_of(assignment)
    reasons: dict[tuple[Why, str], list[Skipped]] = {}
    for one in skipped:
        # Each exception is a reason of its own.
        reasons.setdefault((one.why, one.text if one.why == "exception" else ""), []).append(one)
    said = [_said(why, group, words) for (why, _), group in reasons.items()]
    said += [_masked(words, source, found.line).format(tensor=quoted(found.tensor), line=in_line(found.line))
             for found in findings if isinstance(found, MaskedUsed)]
    chances = [found for found in findings if isinstance(found, Undefined)]
    racing = {found.tensor for found in chances if found.what == "shared"}
    said += [undefined(found, words).text for found in chances
             if found.certain and words.chances[found.what].kind is None
             # A barrier between warps orders the lanes of each, too.
             and (found.what != "warp" or found.tensor not in racing)]
    return list(dict.fromkeys(said))


def _masked(words: Phrases, source: str, line: int) -> str:
    """Return a sentence about a load that relies on masked lanes. A load with a boundary check gets its own sentence,
    since a block pointer takes no `other`."""
    checked = words.sights.bounds_checked
    text = "\n".join(source.splitlines()[line - 1:line + MOST_LINES])[:MOST_SIGNS] if line else ""
    depths = accumulate((sign == "(") - (sign == ")") for sign in text)
    # The call ends where its brackets close.
    end = next((at for at, (sign, depth) in enumerate(zip(text, depths, strict=True)) if sign == ")" and not depth),
               len(text))
    return words.sights.padded_remark if checked and checked in text[:end] else words.sights.masked_remark


def _said(why: Why, group: Sequence[Skipped], words: Phrases) -> str:
    quotes = list(dict.fromkeys(quoted(" ".join(one.text.split())) for one in group if one.text))
    texts = f" ({_listed(quotes)})" if quotes else ""
    numbers = list(dict.fromkeys(str(one.line) for one in group))
    lines = f"line{'s' * (len(numbers) > 1)} {_listed(numbers)}"
    if why == "print":
        return words.calls.skipped_print.format(lines=lines, texts=texts)
    return f"{lines.capitalize()} {'were' if len(numbers) > 1 else 'was'} skipped: {words.skips[why].why}{texts}."


def _listed(words: Sequence[str]) -> str:
    more = [f"{len(words) - MOST_LISTED} more"] if len(words) > MOST_LISTED + 1 else []
    return listed([*words[:MOST_LISTED], *more] if more else words)
