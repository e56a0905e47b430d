"""Checks of an assignment: the expected ones, and their outcomes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from math import inf

from grader.course.assignment import Assignment
from grader.course.cases import Case
from grader.results.result import CheckResult, Detail, Outcome, Timing
from grader.results.text import clean
from grader.results.verdicts import VERDICT_OF_KIND

# Expected checks, whose outcome is "not_run" until they are made.
SOURCE = CheckResult(id="source", stage="source", outcome="not_run")
TARGET = CheckResult(id="target", stage="target", outcome="not_run")
# Most bytes of each text that a check quotes from the submission: in the first check that quotes any, and in further
# ones.
FIRST_QUOTED = 20_000
QUOTED = 2_000


def case_check(case: Case) -> CheckResult:
    """Return the expected check of a case's answer."""
    return CheckResult(id=f"case-{case.name}", stage="case", case=case.name, sizes=case.sizes, hidden=case.hidden,
                       outcome="not_run")


def expected_checks(assignment: Assignment, device: str) -> tuple[CheckResult, ...]:
    """Return all checks that have to pass for the assignment to be accepted, in the order in which they run."""
    return (SOURCE, *(case_check(case) for case in assignment.cases_for(device)), TARGET)


def speed_checks(assignment: Assignment) -> tuple[CheckResult, ...]:
    """Return the expected checks of the timed cases, which come after all others."""
    return tuple(CheckResult(id=f"speed-{case.name}", stage="speed", case=case.name, sizes=case.sizes,
                             outcome="not_run") for case in assignment.timed)


def structure_checks(names: Iterable[str]) -> tuple[CheckResult, ...]:
    """Return the expected checks of conditions on how kernels work, by the conditions' names."""
    return tuple(CheckResult(id=f"structure-{name}", stage="structure", outcome="not_run") for name in names)


@dataclass(frozen=True)
class CheckOutcome:
    """The outcome of a check. If it is a failure of ours, `error` is its exception."""

    check: CheckResult
    error: BaseException | None = None


def results(outcomes: Iterable[CheckOutcome]) -> Iterator[CheckResult]:
    """Yield the checks alone. Raises the first error among them."""
    for outcome in outcomes:
        if outcome.error is not None:
            raise outcome.error
        yield outcome.check


def our_failure(check: CheckResult, reason: str) -> CheckResult:
    """Return a check that failed through no fault of the submission, or was never made."""
    detail = Detail(kind="infrastructure", message=reason[:2000], hint="The grader failed, not the submission.")
    return check.model_copy(update={"outcome": "failed", "detail": detail})


def not_run(check: CheckResult, why: str) -> CheckResult:
    return check.model_copy(update={"outcome": "not_run", "detail": Detail(kind="exception", message=why)})


def with_outcome(
    check: CheckResult, detail: Detail | None, *, seconds: float | None = None, worst: float | None = None,
    timing: Timing | None = None,
) -> CheckResult:
    """Return the check with its outcome: "passed" without a `detail`, "not_run" if only a GPU can judge it, else
    "failed". `worst` is the largest error over the error allowed, `seconds` is the time of the calls."""
    outcome: Outcome = "passed"
    if detail is not None:
        outcome = "not_run" if VERDICT_OF_KIND[detail.kind].fault == "machine" else "failed"
    return check.model_copy(update={
        "outcome": outcome, "detail": detail, "seconds": seconds, "timing": timing,
        "worst_ratio": worst if worst is not None and worst < inf else None})


def log_lines(check: CheckResult) -> str:
    """Return a check as lines, for a log."""
    detail = check.detail
    if detail is None:
        return check.id
    lines = [detail.message]
    if detail.place:
        lines.append(f"  {detail.place.file}:{detail.place.line}: {detail.place.text}")
    if detail.worst:
        worst = detail.worst
        lines.append(f"  {detail.about}{worst.index}: got {worst.got}, expected {worst.expected} "
                     f"(allowed error {worst.allowed})")
    if detail.hint:
        lines.append(f"  hint: {detail.hint}")
    return "\n".join(lines)


def quotes(check: CheckResult) -> bool:
    """Return whether a check quotes a text of the submission."""
    return check.detail is not None and bool(check.detail.traceback or check.detail.output)


def shorten(check: CheckResult, *, quoted: bool) -> CheckResult:
    """Return the check with its texts cleaned and shortened. Only the first check that quotes the submission does so at
    length, since the next case mostly says the same. `quoted`: an earlier check has quoted it."""
    if check.detail is None:
        return check
    detail, limit = check.detail, QUOTED if quoted else FIRST_QUOTED
    return check.model_copy(update={"detail": detail.model_copy(update={
        "message": clean(detail.message, QUOTED), "traceback": clean(detail.traceback, limit),
        "output": clean(detail.output, limit)})})
