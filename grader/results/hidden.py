"""The part of a result that a student may see: the number of hidden cases, the kind of each failure and what to try; as
much of a repair as the course shows; the marks for the whole group.

Host code that chooses by its sizes how to fail can learn sizes from the kind; docs/grading.md says so.

`for_student` is applied to every result before a student gets it, as JSON, page or text. The complete result is for
those who grade, and lies in a separate folder beside the students'.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from grader.results.result import AssignmentResult, CheckResult, Detail, Result
from grader.results.text import plural
from grader.results.verdicts import VERDICT_OF_KIND

STAFF = ".staff"
"""The name of the folder in which a folder of results has everything that is for staff alone."""
RECORDS = ".attempts"
"""The name of the folder in which a folder of results has its attempts."""

_STOPS = ("it stops with an error", "Call the function with sizes of your own, and look at what it assumes of them.")
_SIZES = ("Try sizes of your own: one row, one column, primes, one more than a multiple of a block; and numbers that "
          "are very large, very small or far from zero.")
_IDLE = ("nothing was run", "")
WORDS: dict[str, tuple[str, str]] = {
    "wrong_values": ("the answer is wrong", _SIZES),
    "unwritten": ("elements of the output are never written",
                  "Count what the grid covers for sizes of your own, and what each mask or condition leaves out."),
    "not_finite": ("the answer holds NaN or infinity where numbers are right",
                   "Look at what can overflow, and at each division, for very large and very small numbers."),
    "input_changed": ("an input is changed", "Look at every store: only the output may be written."),
    "race": ("different values are written to one element",
             "Look at which program, or which block and thread, owns which elements."),
    "undefined": ("the answer rests on what is left undefined",
                  "Look at what relies on an order: of programs or blocks, of lanes or threads, of elements."),
    "out_of_bounds": ("a load or store lies outside its tensor",
                      "Look at every mask or condition: rows and columns each have their own size."),
    "condition": ("a condition of the course is not met", ""),
    "compile_error": ("a kernel does not compile",
                      "Look at what follows from sizes when the kernel is compiled, such as the size of a block."),
    "time_out": ("it takes too long", "Look at loops whose length follows from the sizes."),
    "out_of_memory": ("it takes too much memory", "Look at what is allocated, and how it grows with the sizes."),
    "policy": ("host code asks for what only kernels may do", "Look at branches that depend on the sizes."),
    "unsupported": ("it does what the grader does not support",
                    "Look at branches that depend on the sizes: one may launch what the others do not."),
    "needs_gpu": ("only a GPU can judge it", ""),
    "infrastructure": ("the grader failed, through no fault of yours", ""),
}

WITHHELD: dict[str, dict[str, str]] = {"place": {"kind": "", "diff": ""}, "kind": {"diff": ""}, "edit": {}}
"""The parts of a repair that a student does not get, by the level that the course sets."""


def staff(folder: Path) -> Path:
    """Return the folder with the complete result of the student whose own files are in `folder`."""
    return folder.parent / STAFF / folder.name


def any_hidden(result: Result) -> bool:
    return any(check.hidden for a in result.assignments.values() for check in a.correctness.checks)


def for_student(result: Result) -> Result:
    """Return the part of a result that its student may see. A result without hidden parts is returned unchanged."""
    shown = {name: _shown(a) for name, a in result.assignments.items()}
    if not any_hidden(result):
        whole = all(a is shown[name] for name, a in result.assignments.items())
        return result if whole else result.model_copy(update={"assignments": shown})
    assignments = {name: _assignment(a) for name, a in shown.items()}
    # Seconds would reveal the sizes of hidden cases.
    return result.model_copy(update={
        "assignments": assignments, "seconds": round(sum(a.seconds for a in assignments.values()), 3)})


def in_words(checks: Sequence[CheckResult]) -> tuple[str, str]:
    """Return a sentence and a hint about all hidden checks; both "" if there are none."""
    cases = [check for check in checks if check.hidden and _words(check) != _IDLE]
    if not cases:
        return "", ""
    failed = [check for check in cases if check.outcome != "passed"]
    many = plural(len(cases), "hidden check")
    if not failed:
        return f"Right in {many}, too.", ""
    kinds = Counter(_words(check)[0] for check in failed)
    said = "; ".join(words + f" ({count})" * (len(kinds) > 1) for words, count in kinds.items())
    return f"{len(failed)} of {many} did not pass: {said}.", _words(failed[0])[1]


def _shown(assignment: AssignmentResult) -> AssignmentResult:
    """Return the assignment with the part of its repair that the repair's level allows, and without marks for one
    member, since a group shares the result."""
    repair = assignment.repair and assignment.repair.model_copy(update=WITHHELD[assignment.repair.level])
    marks = [mark for mark in assignment.marks if not mark.student]
    if (repair, marks) == (assignment.repair, assignment.marks):
        return assignment
    return assignment.model_copy(update={"repair": repair, "marks": marks})


def _assignment(assignment: AssignmentResult) -> AssignmentResult:
    checks = assignment.correctness.checks
    public = [check for check in checks if not check.hidden]
    said = {check.detail.message for check in checks if check.hidden and check.detail}
    said -= {check.detail.message for check in public if check.detail}
    numbers = iter(range(1, len(checks) + 1))
    return assignment.model_copy(update={
        "correctness": assignment.correctness.model_copy(update={
            "checks": [_check(check, numbers) if check.hidden else check for check in checks]}),
        "flags": [flag.model_copy(update={"evidence": _sentence(WORDS[flag.what][0]), "place": None})
                  if flag.evidence in said else flag for flag in assignment.flags],
        "seconds": round(sum(check.seconds or 0 for check in public), 3)})


def _check(check: CheckResult, numbers: Iterator[int]) -> CheckResult:
    """Return a hidden check with only its stage, outcome and kind."""
    name, case = check.id, ""
    if check.stage == "case":
        number = next(numbers)
        name, case = f"hidden-{number}", f"hidden {number}"
    detail = None
    if check.detail is not None:
        words, hint = _words(check)
        detail = Detail(kind=check.detail.kind, message=_sentence(words), hint=hint)
    return CheckResult(id=name, case=case, stage=check.stage, outcome=check.outcome, hidden=True, detail=detail)


def _words(check: CheckResult) -> tuple[str, str]:
    kind = check.detail.kind if check.detail else "infrastructure"
    if check.outcome == "not_run" and VERDICT_OF_KIND[kind].fault != "machine":
        return _IDLE
    return WORDS.get(kind, _STOPS)


def _sentence(words: str) -> str:
    return f"In a hidden case {words}."
