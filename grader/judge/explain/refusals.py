"""Host code that asks for what it cannot have, and names that are missing because of it: what was asked, and what to do
instead."""

from __future__ import annotations

from collections.abc import Sequence

from grader.frontends import FrontEnd
from grader.judge.explain.failures import explain_failure, hinted
from grader.judge.explain.lines import phrases_of, place, quoted
from grader.model.assignment import Assignment
from grader.model.desk import ARCHIVES, found_instead
from grader.model.result import Detail
from grader.plan.messages import Absent, Refused


def explain_refusal(assignment: Assignment, source: str, refused: Refused) -> Detail:
    """What was asked in which line, why it is refused, and what to do instead. `source` is the student's file."""
    wording = phrases_of(assignment).refusals[refused.why]
    asked = wording.asked.replace("{operator}", quoted(_called(refused.operator)))
    where = f"Line {refused.line}" if refused.line else "The function"
    return Detail(
        kind="policy",
        message=f"{where} {asked}{wording.why}.",
        hint=wording.instead.replace("{out}", assignment.output.name),
        place=place(assignment, source, refused.line),
        traceback=refused.traceback,
    )


def explain_missing(assignment: Assignment, elsewhere: Sequence[str]) -> Detail:
    """Why there is no file. `elsewhere` are other files that seem to be meant for it."""
    file = " or ".join(dict.fromkeys(one.file for one in assignment.in_languages()))
    if not elsewhere:
        return explain_failure(assignment, "missing_file", f"{file} is not in the submission.")
    first = elsewhere[0].casefold()
    if first.endswith(".ipynb"):
        hint = (f"Put the kernel and its function into {file}, and hand that in. Of a notebook a cell that begins with "
                f"%%kernelmark {assignment.name} is taken, and the cell that defines the function, where your course "
                "takes in notebooks.")
    elif first.endswith(ARCHIVES):
        hint = f"An archive is not unpacked: hand in {file} itself."
    else:
        hint = f"Hand it in as {file}, spelt exactly so, in the submission's folder itself."
    return Detail(kind="missing_file", message=found_instead(elsewhere, file), hint=hint)


def explain_absent(assignment: Assignment, source: str, absent: Absent) -> Detail:
    """The name that is missing, the skipped line that would have made it, and what to do. `source` is the student's
    file."""
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
        message=f"{quoted(absent.name)} is not there: line {left.line}, which would make it, was skipped, since "
                f"{skip.why}{said}.")


def _called(operator: str) -> str:
    """An operator's name as a student knows it: `mul` for `aten::mul.Tensor`."""
    if not operator.startswith("aten::"):
        return operator
    name = operator.removeprefix("aten::").partition(".")[0]
    return {"_to_copy": "to"}.get(name, name)


def explain_library(kernel: str, found: Sequence[str], front_end: FrontEnd) -> Detail:
    """A kernel that a library brings, for courses that refuse them."""
    return Detail(
        kind="policy", message=f"The kernel {quoted(kernel)} is one of the library {' and '.join(map(quoted, found))}.",
        hint=front_end.phrases.calls.library)


def explain_assembly(kernel: str, found: Sequence[str], front_end: FrontEnd) -> Detail:
    """The inline assembly and foreign functions of a kernel, for courses that refuse them."""
    listed = ", ".join(quoted(one) for one in found)
    return Detail(
        kind="policy", message=f"The kernel {quoted(kernel)} uses inline assembly or a foreign function: {listed}.",
        hint=front_end.phrases.calls.assembly)
