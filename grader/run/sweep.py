"""One kernel at many sizes, beside eager and compiled PyTorch and the course's own, each timed as in a grading."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from itertools import islice
from typing import Literal, NamedTuple

from grader.engine.forkserver.handle import InfrastructureError
from grader.judge.checks import SOURCE, results, speed_checks
from grader.judge.judge import judge
from grader.judge.prepared import Prepared, Task
from grader.judge.timing.pool import slot_bytes
from grader.model.assignment import Assignment, TimedCase
from grader.model.catalogue import ROOT
from grader.model.course import Course, Threshold, Thresholds
from grader.model.result import Sweep, SweepPoint, Timing
from grader.model.submission import Source

# A call that touches less is over before its launch is: its time says nothing of the kernel.
LEAST_BYTES = 1 << 20
MOST_POINTS = 16
# What no ratio comes near to, so that no case is timed longer to tell on which side of it a ratio lies.
NO_THRESHOLD = Threshold(floor=1e-6, target=1000)


class Amount(NamedTuple):
    """What a call must move or compute at the least, and the unit of a rate of it."""

    much: float
    unit: Literal["GB/s", "TFLOP/s"]


def amount(assignment: Assignment, sizes: Mapping[str, int]) -> Amount:
    """Of what bounds the assignment: products, what comes from the host, or what the device moves."""
    assert assignment.work is not None
    work = assignment.work(sizes)
    if work.flop:
        return Amount(work.flop, "TFLOP/s")
    return Amount(work.host_bytes or work.bytes, "GB/s")


def cases(assignment: Assignment) -> list[TimedCase]:
    """The largest timed case at its size, three quarters, a half, three eighths of it, and so on, the smallest first.
    None without timed cases, or where nothing says what their work is."""
    if assignment.work is None or not assignment.timed:
        return []
    top = max(assignment.timed, key=lambda case: amount(assignment, case.sizes).much)
    found: list[TimedCase] = []
    for step in range(MOST_POINTS):
        share = (3 if step % 2 else 4, 4 << step // 2)
        sizes = {name: size * share[0] // share[1] for name, size in top.sizes.items()}
        case = TimedCase(name="x".join(map(str, sizes.values())), sizes=sizes, values=top.values)
        if min(sizes.values()) < 1 or slot_bytes(assignment, case) < LEAST_BYTES:
            break
        found.append(case)
    return found[::-1]


def sweep(
    assignment: Assignment, source: Source, course: Course, tell: Callable[[str], None] = lambda case: None
) -> Sweep:
    """The times of a kernel and, where there is one, of the course's. `tell` hears which case comes next. The
    assignment has `cases`.

    Raises InfrastructureError if neither can be timed for a reason of ours.
    """
    found = cases(assignment)
    points = [SweepPoint(sizes=case.sizes, amount=amount(assignment, case.sizes).much) for case in found]
    for number, (timing, trouble) in enumerate(_timed(assignment, source, course, found, tell)):
        points[number] = _with(points[number], timing).model_copy(update={
            "student_us": timing.student_us if timing else None, "trouble": trouble})
    ours = ROOT / "reference" / assignment.file
    # A student's kit has none.
    if ours.is_file():
        timings = _timed(assignment, Source(content=ours.read_bytes()), course, found, tell)
        for number, (timing, _) in enumerate(timings):
            if timing is not None:
                points[number] = _with(points[number], timing).model_copy(update={"reference_us": timing.student_us})
    return Sweep(unit=amount(assignment, found[-1].sizes).unit, points=points)


def _with(point: SweepPoint, timing: Timing | None) -> SweepPoint:
    """A point with what any kernel's timing says of it beside the kernel."""
    if timing is None or point.baseline_us is not None:
        return point
    return point.model_copy(update={
        "baseline_us": timing.baseline_us, "compiled_us": timing.compiled_us, "roof_us": timing.roof_us})


def _timed(
    assignment: Assignment, source: Source, course: Course, found: Sequence[TimedCase], tell: Callable[[str], None]
) -> list[tuple[Timing | None, str]]:
    """Of each case the timing, or why there is none."""
    # The first case is planned with them; the others of a grading are not run.
    swept = assignment.model_copy(update={"cases": assignment.cases[:1], "timed": tuple(found)})
    free = course.model_copy(update={"thresholds": Thresholds(**NO_THRESHOLD.model_dump())})
    prepared = Prepared(Task(swept, source, free, secrets.token_bytes(32), "cuda"))
    checks = judge(prepared, (SOURCE, *speed_checks(swept)))
    with closing(checks):
        (read,) = results(islice(checks, 1))
        if read.outcome != "passed":
            return [(None, read.detail.message if read.detail else read.outcome)] * len(found)
        timings: list[tuple[Timing | None, str]] = []
        for case in found:
            tell(case.name)
            judged = next(checks)
            if judged.error is not None and not isinstance(judged.error, InfrastructureError):
                raise judged.error
            check = judged.check
            trouble = str(judged.error) if judged.error else check.detail.message if check.detail else ""
            timings.append((check.timing, "" if check.timing else trouble))
        return timings
