"""What our reference kernels reach on the machine at hand, and the thresholds that follow from it."""

from __future__ import annotations

import dataclasses
import math
import time
from collections.abc import Iterator
from dataclasses import dataclass

import torch

from grader import catalogue, scoring
from grader.assignment import Assignment
from grader.course import Course, Threshold
from grader.judge import speed, wire
from grader.judge.buffers import BufferError
from grader.judge.device import memory
from grader.judge.lane import lane_baselines, lane_zygote
from grader.judge.session import Lost, Session
from grader.judge.speed import Speed
from grader.judge.zygote import InfrastructureError
from grader.result import Interval, Timing

# Full marks at this share of what our reference reaches: a good kernel, not only the best one.
TARGET_SHARE = 0.7
# Nothing below this share of the target: a plain first version that works earns something, a very slow one does not.
FLOOR_SHARE = 0.25
# Our own kernels may try many configurations.
SECONDS = 600.0


@dataclass(frozen=True)
class Calibration:
    """One assignment: the reference's times, its ratio to the baseline over all cases, and what follows."""

    name: str
    timings: list[Timing]
    ratio: Interval
    threshold: Threshold


def calibrate(names: list[str], course: Course, device: str = "cuda") -> Iterator[Calibration]:
    """Measures the reference kernels of `names` against their baselines. Raises InfrastructureError."""
    for name in names:
        assignment = catalogue.assignments()[name]
        timings = [_timing(assignment, index, course, device) for index in range(len(assignment.timed))]
        ratio = scoring.speedup(timings)
        yield Calibration(name, timings, ratio, proposal(ratio.median))


def proposal(ratio: float) -> Threshold:
    """Thresholds for a reference that reaches `ratio`, to two significant digits, the target rounded down."""
    target = _round(TARGET_SHARE * ratio)
    return Threshold(floor=_round(FLOOR_SHARE * target), target=target)


def table(found: list[Calibration]) -> str:
    """What to put into course.toml."""
    lines = []
    for one in found:
        cases = ", ".join(f"{t.case} {t.speedup.median:.3g}" for t in one.timings)
        lines += [f"# The reference reaches {one.ratio.median:.3g} times the baseline: {cases}.",
                  f"[thresholds.assignments.{one.name}]",
                  f"floor = {one.threshold.floor:g}", f"target = {one.threshold.target:g}", ""]
    return "\n".join(lines)


def _timing(assignment: Assignment, index: int, course: Course, device: str) -> Timing:
    case = assignment.timed[index]
    cuda = device == "cuda"
    source = (catalogue.ROOT / "reference" / assignment.file).read_bytes()
    limits = wire.Limits(
        memory_mb=course.limits.memory_mb, cuda=cuda, file_mb=course.limits.cuda_file_mb,
        processes=course.limits.processes, cpu_seconds=int(SECONDS))
    session = Session(
        lane_zygote(device), assignment, source, limits, course.limits.max_programs, SECONDS,
        time.monotonic() + SECONDS, cuda)
    try:
        free = memory(cuda)
        lost = session.load()
        found = lost if lost is not None else speed.measure(
            assignment, case, session, lane_baselines(device), course.threshold_of(assignment.name), free=free,
            until=time.monotonic() + SECONDS, cuda=cuda)
    except (BufferError, torch.OutOfMemoryError) as error:
        raise InfrastructureError(f"{case.name}: {error}") from None
    finally:
        session.close()
    if isinstance(found, Speed):
        return found.timing
    what = found.message if isinstance(found, Lost) else f"a timed call's {dataclasses.asdict(found)['what']} is wrong"
    raise InfrastructureError(f"reference/{assignment.file}, {case.name}: {what}")


def _round(value: float) -> float:
    """Two significant digits, downwards."""
    step = 10.0 ** (math.floor(math.log10(value)) - 1)
    return round(math.floor(value / step + 1e-9) * step, 12)
