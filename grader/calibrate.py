"""What our reference kernels, and the stages that the course teaches, reach on the machine at hand; and the thresholds
that follow from it."""

from __future__ import annotations

import dataclasses
import datetime
import math
import re
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

import torch

from grader import calibration, catalogue, scoring
from grader.assignment import Assignment, TimedCase
from grader.calibration import Calibration, CaseRatio, MeasuredRung
from grader.course import Course, Threshold
from grader.forkserver.handle import InfrastructureError
from grader.judge import health, speed
from grader.judge.buffers import BufferError
from grader.judge.device import Memory, memory
from grader.judge.lane import lane_baselines, lane_zygote
from grader.judge.session import Lost, Session
from grader.judge.speed import Speed
from grader.plan import wire
from grader.result import REFERENCE, Timing

# Full marks at this share of what our reference reaches: a good kernel, not only the best one.
TARGET_SHARE = 0.7
# Nothing below this share of the target: a plain first version that works earns something, a very slow one does not.
FLOOR_SHARE = 0.25
# Our own kernels may try many configurations.
SECONDS = 600.0


@dataclass(frozen=True)
class Rung:
    """A kernel of ours to be measured: its name as the report shows it, what it teaches, its file."""

    name: str
    title: str
    source: Path


@dataclass(frozen=True)
class Found:
    """One rung: its times, and its ratio to the baseline in each case and over all of them."""

    assignment: str
    timings: list[Timing]
    rung: MeasuredRung


@dataclass(frozen=True)
class Trouble:
    """A rung that could not be measured, and why, in one line."""

    assignment: str
    message: str


def calibrate(
    names: list[str], course: Course, device: str = "cuda", stages: bool = True
) -> Iterator[Found | Trouble]:
    """Measures the reference kernels of `names`, and their stages, against their baselines, one after another.

    What one of them fails by keeps no other from being measured. Raises InfrastructureError if nothing can be.
    """
    lane_zygote(device)
    for name in names:
        assignment = catalogue.assignments()[name]
        for rung in rungs_of(assignment) if stages else rungs_of(assignment)[:1]:
            try:
                timings = _timings(assignment, course, device, rung.source)
            except InfrastructureError as error:
                yield Trouble(name, str(error))
            else:
                yield Found(name, timings, MeasuredRung(
                    name=rung.name, title=rung.title, ratio=scoring.speedup(timings),
                    cases=[CaseRatio(case=timing.case, ratio=timing.speedup) for timing in timings]))


def rungs_of(assignment: Assignment, root: Path = catalogue.ROOT) -> list[Rung]:
    """The reference, then the stages `v0_…`, `v1_…` of `reference/stages/<assignment>` in order.

    A stage's title is the idea that `reference/stages/README.md` gives for it, in the table under the assignment's
    title; "" if there is none.
    """
    found = [Rung(REFERENCE, "the finished kernel of the course", root / "reference" / assignment.file)]
    stages = root / "reference" / "stages"
    numbered = [(int(match[1]), folder) for folder in (stages / assignment.name).glob("v*")
                if (match := re.match(r"v(\d+)_", folder.name))]
    table = (stages / "README.md").read_text(encoding="utf-8") if numbered else ""
    section = table.partition(f"\n## {assignment.title}\n")[2].partition("\n## ")[0]
    ideas = dict(re.findall(r"^\| `(\w+)` \| (.*?) \|", section, flags=re.MULTILINE))
    return found + [Rung(folder.name.replace("_", " ").capitalize(), ideas.get(folder.name, ""),
                         folder / assignment.file) for _, folder in sorted(numbered)]


def gathered(found: Sequence[Found], device: str, command: str) -> Calibration:
    """What was found, as a calibration file of this machine; `command` is what measured it."""
    assignments: dict[str, list[MeasuredRung]] = {}
    for one in found:
        assignments.setdefault(one.assignment, []).append(one.rung)
    versions = lane_zygote(device).versions
    return Calibration(
        schema=calibration.SCHEMA, device=torch.cuda.get_device_name() if device == "cuda" else device,
        driver=health.driver_version() if device == "cuda" else "", torch=versions.torch, triton=versions.triton,
        kernelmark=metadata.version("kernelmark"), command=command, assignments=assignments,
        measured_at=datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"))


def proposal(ratio: float) -> Threshold:
    """Thresholds for a reference that reaches `ratio`, to two significant digits, the target rounded down."""
    target = _round(TARGET_SHARE * ratio)
    return Threshold(floor=_round(FLOOR_SHARE * target), target=target)


def table(found: Sequence[Found]) -> str:
    """What to put into course.toml: it follows from the references alone."""
    lines = []
    for one in found:
        if one.rung.name != REFERENCE:
            continue
        cases = ", ".join(f"{t.case} {t.speedup.median:.3g}" for t in one.timings)
        threshold = proposal(one.rung.ratio.median)
        lines += [f"# The reference reaches {one.rung.ratio.median:.3g} times the baseline: {cases}.",
                  f"[thresholds.assignments.{one.assignment}]",
                  f"floor = {threshold.floor:g}", f"target = {threshold.target:g}", ""]
    return "\n".join(lines)


def _timings(assignment: Assignment, course: Course, device: str, path: Path) -> list[Timing]:
    """Every timed case of the kernel in the file `path`, in one worker: what it compiles for a case serves the next.

    Raises InfrastructureError for the first that fails.
    """
    cuda = device == "cuda"
    who = str(path.relative_to(catalogue.ROOT) if path.is_relative_to(catalogue.ROOT) else path)
    try:
        source = path.read_bytes()
    except OSError as error:
        raise InfrastructureError(f"{who}: {error.strerror}") from None
    seconds = SECONDS * len(assignment.timed)
    limits = wire.Limits(
        memory_mb=course.limits.memory_mb, cuda=cuda, file_mb=course.limits.cuda_file_mb,
        processes=course.limits.processes, cpu_seconds=int(seconds))
    session = Session(
        lane_zygote(device), assignment, source, limits, course.limits.max_programs, SECONDS,
        time.monotonic() + seconds, cuda)
    try:
        free = memory(cuda)
        lost = session.load()
        if lost is not None:
            raise InfrastructureError(f"{who}: {lost.message}")
        return [_timing(assignment, case, session, course, device, free, f"{who}, {case.name}")
                for case in assignment.timed]
    finally:
        session.close()


def _timing(
    assignment: Assignment, case: TimedCase, session: Session, course: Course, device: str, free: Memory, who: str
) -> Timing:
    try:
        found = speed.measure(
            assignment, case, session, lane_baselines(device), course.threshold_of(assignment.name), free=free,
            until=time.monotonic() + SECONDS, cuda=device == "cuda")
    except (BufferError, torch.OutOfMemoryError) as error:
        raise InfrastructureError(f"{who}: {error}") from None
    if isinstance(found, Speed):
        return found.timing
    what = found.message if isinstance(found, Lost) else f"a timed call's {dataclasses.asdict(found)['what']} is wrong"
    raise InfrastructureError(f"{who}: {what}")


def _round(value: float) -> float:
    """Two significant digits, downwards."""
    step = 10.0 ** (math.floor(math.log10(value)) - 1)
    return round(math.floor(value / step + 1e-9) * step, 12)
