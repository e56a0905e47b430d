"""A kernel's times at many sizes, as a grading takes them, beside eager and compiled PyTorch and the course's own
kernel."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Sequence
from contextlib import closing
from itertools import islice
from typing import Literal, NamedTuple

from grader.course.assignment import Assignment
from grader.course.cases import Case, TimedCase
from grader.course.catalogue import reference
from grader.course.course import Course, Threshold, Thresholds
from grader.course.submission import Source
from grader.judging.checks import SOURCE, results, speed_checks
from grader.judging.judge import judge
from grader.judging.prepared import Prepared, Task
from grader.judging.speed.pool import slot_bytes
from grader.results.result import Sweep, SweepPoint, Timing
from grader.sandbox.forkserver.handle import InfrastructureError

# The fewest bytes of a call. A smaller call ends before its launch does, so its time says nothing about the kernel.
LEAST_BYTES = 1 << 20
MOST_POINTS = 16
# Far from any ratio: no case is then timed longer to decide on which side of a threshold its ratio lies.
NO_THRESHOLD = Threshold(floor=1e-6, target=1000)


class Amount(NamedTuple):
    """The least that a call must move or compute, and the unit of its rate."""

    much: float
    unit: Literal["GB/s", "TFLOP/s"]


def amount(assignment: Assignment, case: Case) -> Amount:
    """Return the amount of what bounds the assignment: arithmetic of matrix products, bytes from the host, or bytes
    that the device moves."""
    assert assignment.work is not None
    work = assignment.work(case)
    if work.flop:
        return Amount(work.flop, "TFLOP/s")
    return Amount(work.host_bytes or work.bytes, "GB/s")


def cases(assignment: Assignment) -> list[TimedCase]:
    """Return the largest timed case at its own size, at three quarters, a half, three eighths of it, and so on, the
    smallest first. Empty for an assignment without timed cases or without `work`."""
    if assignment.work is None or not assignment.timed:
        return []
    top = max(assignment.timed, key=lambda case: amount(assignment, case).much)
    swept: list[TimedCase] = []
    for step in range(MOST_POINTS):
        share = (3 if step % 2 else 4, 4 << step // 2)
        sizes = {name: size if name in assignment.choices else size * share[0] // share[1]
                 for name, size in top.sizes.items()}
        case = TimedCase(name="x".join(map(str, sizes.values())), sizes=sizes, values=top.values, dtypes=top.dtypes,
                         strides=top.strides)
        if min(sizes.values()) < 1 or slot_bytes(assignment, case) < LEAST_BYTES:
            break
        swept.append(case)
    return swept[::-1]


def sweep(
    assignment: Assignment, source: Source, course: Course, say: Callable[[str], None] = lambda case: None
) -> Sweep:
    """Return the times of a kernel and, if there is one, of the course's kernel. `say` is called with each case's name
    before it is timed. `cases` must not be empty for the assignment.

    Raises InfrastructureError if a case cannot be timed because the grader fails.
    """
    sizes = cases(assignment)
    points = [SweepPoint(sizes=case.sizes, amount=amount(assignment, case).much) for case in sizes]
    for number, (timing, trouble) in enumerate(_timed(assignment, source, course, sizes, say)):
        points[number] = _with(points[number], timing).model_copy(update={
            "student_us": timing.student_us if timing else None, "trouble": trouble})
    ours = reference(assignment)
    # A students' kit has no reference.
    if ours.is_file():
        timings = _timed(assignment, Source(content=ours.read_bytes()), course, sizes, say)
        for number, (timing, _) in enumerate(timings):
            if timing is not None:
                points[number] = _with(points[number], timing).model_copy(update={"reference_us": timing.student_us})
    return Sweep(unit=amount(assignment, sizes[-1]).unit, points=points)


def _with(point: SweepPoint, timing: Timing | None) -> SweepPoint:
    """Add the times of the baselines and the roof to a point, if a timing has them."""
    if timing is None or point.baseline_us is not None:
        return point
    return point.model_copy(update={
        "baseline_us": timing.baseline_us, "compiled_us": timing.compiled_us, "roof_us": timing.roof_us})


def _timed(
    assignment: Assignment, source: Source, course: Course, sizes: Sequence[TimedCase], say: Callable[[str], None]
) -> list[tuple[Timing | None, str]]:
    """Return the timing of each case, or None and the reason."""
    # One ordinary case is planned together with the timed ones; a grading has others, which are left out.
    swept = assignment.model_copy(update={"cases": assignment.cases[:1], "timed": tuple(sizes)})
    free = course.model_copy(update={"thresholds": Thresholds(**NO_THRESHOLD.model_dump())})
    prepared = Prepared(Task(swept, source, free, secrets.token_bytes(32), "cuda"))
    checks = judge(prepared, (SOURCE, *speed_checks(swept)))
    with closing(checks):
        (read,) = results(islice(checks, 1))
        if read.outcome != "passed":
            return [(None, read.detail.message if read.detail else read.outcome)] * len(sizes)
        timings: list[tuple[Timing | None, str]] = []
        for case in sizes:
            say(case.name)
            judged = next(checks)
            if judged.error is not None and not isinstance(judged.error, InfrastructureError):
                raise judged.error
            check = judged.check
            trouble = str(judged.error) if judged.error else check.detail.message if check.detail else ""
            timings.append((check.timing, "" if check.timing else trouble))
        return timings
