"""A kernel's times at many sizes, as a grading takes them, beside eager and compiled PyTorch and the course's own
kernel; and the kernels that a baseline launches, found with PyTorch's profiler in our executor."""

from __future__ import annotations

import re
import secrets
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import islice
from typing import Literal, NamedTuple

from grader.course.assignment import Assignment
from grader.course.cases import Case, TimedCase
from grader.course.catalogue import reference
from grader.course.course import Course, Threshold, Thresholds
from grader.course.submission import Source
from grader.errors import InfrastructureError
from grader.judging.checks import SOURCE, results, speed_checks
from grader.judging.judge import judge
from grader.judging.prepared import PreparedTask, Task
from grader.judging.running.buffers import NoRoomError
from grader.judging.running.execution import GpuFailure
from grader.judging.running.lane import LANE
from grader.judging.speed import baselines as baseline_programs
from grader.judging.speed.pool import Pool, slot_bytes
from grader.results.result import Sweep, SweepPoint, Timing

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
    """Return the amount of work that bounds the assignment: arithmetic of matrix products, bytes from the host, or
    bytes that the device moves."""
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
    for number, (timing, trouble) in enumerate(_time_cases(assignment, source, course, sizes, say)):
        points[number] = _with(points[number], timing).model_copy(update={
            "student_us": timing.student_us if timing else None, "trouble": trouble})
    kernel = reference(assignment)
    # A students' kit has no reference.
    if kernel.is_file():
        timings = _time_cases(assignment, Source(content=kernel.read_bytes()), course, sizes, say)
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


def _time_cases(
    assignment: Assignment, source: Source, course: Course, sizes: Sequence[TimedCase], say: Callable[[str], None]
) -> list[tuple[Timing | None, str]]:
    """Return the timing of each case, or None and the reason."""
    # Plan one ordinary case together with the timed ones. A grading has more of them, which are left out here.
    swept = assignment.model_copy(update={"cases": assignment.cases[:1], "timed": tuple(sizes)})
    free = course.model_copy(update={"thresholds": Thresholds(**NO_THRESHOLD.model_dump())})
    prepared = PreparedTask(Task(swept, source, free, secrets.token_bytes(32), "cuda"))
    checks = judge(prepared, (SOURCE, *speed_checks(swept)))
    with closing(checks):
        (read,) = results(islice(checks, 1))
        if read.outcome != "passed":
            return [(None, read.detail.message if read.detail else read.outcome)] * len(sizes)
        timings: list[tuple[Timing | None, str]] = []
        for case in sizes:
            say(case.name)
            outcome = next(checks)
            if outcome.error is not None and not isinstance(outcome.error, InfrastructureError):
                raise outcome.error
            check = outcome.check
            trouble = str(outcome.error) if outcome.error else check.detail.message if check.detail else ""
            timings.append((check.timing, "" if check.timing else trouble))
        return timings


SECONDS = 60.0
# A pool needs a slot for the profiled call, and a slot for calls that do not count.
SLOTS = 2


@dataclass(frozen=True)
class LaunchedKernel:
    """A kernel by its short name, with its share of a call's time and its launches in a call."""

    name: str
    share: float
    count: float


def launched_kernels(assignment: Assignment, case: Case, function: str) -> list[LaunchedKernel]:
    """Return the kernels of a baseline ("eager" or "compiled") on a case, the slowest first. Raises
    InfrastructureError."""
    baselines = LANE.baselines
    executor, program = baselines.executor(), baselines.program(assignment, case, function)
    try:
        pool = Pool(assignment, case, SLOTS, cuda=True)
    except NoRoomError as error:
        raise InfrastructureError(str(error)) from None
    try:
        pool.draw(SLOTS, baseline_programs.scalars(assignment, case), expect=False)
        lost = executor.bind(pool.slots(), pool.sample)
        events = lost if lost is not None else executor.profile(program, 0, seconds=SECONDS)
    finally:
        executor.unbind()
        pool.close()
    if isinstance(events, GpuFailure):
        raise InfrastructureError(f"the profiler failed: {events.message}")
    whole = sum(event.seconds for event in events)
    seconds, counts = Counter[str](), Counter[str]()
    for event in events:
        seconds[short(event.name)] += event.seconds  # type: ignore[assignment]
        counts[short(event.name)] += event.count  # type: ignore[assignment]
    return [LaunchedKernel(name, took / whole, counts[name]) for name, took in seconds.most_common()] if whole else []


def short(name: str) -> str:
    """Shorten `void at::native::reduce_kernel<512, …>(…)` to `at::native::reduce_kernel`."""
    name = re.sub(r"^(void|static) ", "", name)
    depth, kept = 0, []
    for sign in name.replace("(anonymous namespace)::", ""):
        depth -= sign == ">" and depth > 0
        if sign == "(" and not depth:
            break
        if not depth and sign not in "<>":
            kept.append(sign)
        depth += sign == "<"
    return "".join(kept).strip() or name[:80]
