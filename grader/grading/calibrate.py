"""The calibration of this machine. It measures the reference kernels and the stages that the course teaches, and
proposes thresholds."""

from __future__ import annotations

import datetime
import math
import re
import secrets
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

import torch

from grader import home
from grader.course import calibration, catalogue, scoring
from grader.course.assignment import Assignment
from grader.course.calibration import Calibration, CaseRatio, MeasuredRung
from grader.course.course import Course, Threshold
from grader.course.submission import Source
from grader.errors import InfrastructureError
from grader.judging.checks import SOURCE, results, speed_checks
from grader.judging.judge import judge
from grader.judging.prepared import PreparedTask, Task
from grader.judging.running.lane import LANE
from grader.judging.speed.fitness import driver_version
from grader.results.result import REFERENCE, Timing

# The share of our reference's speed that earns full marks: a good kernel should reach it, not only the best one.
TARGET_SHARE = 0.7
# The share of the target below which there are no points: a simple version that works earns some, a very slow one none.
FLOOR_SHARE = 0.25


@dataclass(frozen=True)
class RungSource:
    """A kernel of the course to measure: its name in reports, the idea that it teaches, and its file."""

    name: str
    title: str
    source: Path


@dataclass(frozen=True)
class RungTimes:
    """A measured rung: its times, and its ratios to the baseline in each case and over all cases."""

    assignment: str
    timings: list[Timing]
    rung: MeasuredRung


@dataclass(frozen=True)
class UnmeasuredRung:
    """A rung that could not be measured, and the reason in one line."""

    assignment: str
    message: str


def calibrate(names: list[str], course: Course, stages: bool = True) -> Iterator[RungTimes | UnmeasuredRung]:
    """Measure the reference kernels of `names` and their stages against their baselines, one after another.

    If a kernel fails, the others are still measured. Raises InfrastructureError if none can be measured.
    """
    for name in names:
        assignment = catalogue.assignments()[name]
        for rung in rungs_of(assignment) if stages else rungs_of(assignment)[:1]:
            try:
                timings = time_cases(assignment, course, rung.source)
            except InfrastructureError as error:
                yield UnmeasuredRung(name, str(error))
            else:
                yield RungTimes(name, timings, MeasuredRung(
                    name=rung.name, title=rung.title, ratio=scoring.speedup(timings),
                    cases=[CaseRatio(case=timing.case, ratio=timing.speedup) for timing in timings]))


def rungs_of(assignment: Assignment, root: Path | None = None) -> list[RungSource]:
    """Return the reference, then the stages `v1_…`, `v2_…` of `reference/stages/<assignment>` in order. A stage `v0_…`
    is left out: it uses PyTorch, which is the baseline.

    A stage's title is its idea in `reference/stages/README.md`, taken from the table under the assignment's title; ""
    if the table does not have the stage.
    """
    root = root or home.root()
    rungs = [RungSource(REFERENCE, "the finished kernel of the course", catalogue.reference(assignment, root))]
    stages = root / "reference" / "stages"
    numbered = [(int(match[1]), folder) for folder in (stages / assignment.name).glob("v*")
                if (match := re.match(r"v0*([1-9]\d*)_", folder.name))]
    table = (stages / "README.md").read_text(encoding="utf-8") if numbered else ""
    section = table.partition(f"\n## {assignment.title}\n")[2].partition("\n## ")[0]
    ideas = dict(re.findall(r"^\| `(\w+)` \| (.*?) \|", section, flags=re.MULTILINE))
    return rungs + [RungSource(folder.name.replace("_", " ").capitalize(), ideas.get(folder.name, ""),
                         folder / assignment.file) for _, folder in sorted(numbered)]


def gather(measured: Sequence[RungTimes], command: str) -> Calibration:
    """Return the measured rungs as a calibration of this machine. `command` is the command that made it."""
    assignments: dict[str, list[MeasuredRung]] = {}
    for times in measured:
        assignments.setdefault(times.assignment, []).append(times.rung)
    versions = LANE.fork_server.handle.ready
    return Calibration(
        schema=calibration.SCHEMA, device=torch.cuda.get_device_name(),
        driver=driver_version(), torch=versions.torch, triton=versions.triton,
        kernelmark=metadata.version("kernelmark"), command=command, assignments=assignments,
        measured_at=datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"))


def proposal(ratio: float) -> Threshold:
    """Propose thresholds for a reference that reaches `ratio`, to two significant digits, the target rounded down."""
    target = _round(TARGET_SHARE * ratio)
    return Threshold(floor=_round(FLOOR_SHARE * target), target=target)


def table(measured: Sequence[RungTimes]) -> str:
    """Return the thresholds for course.toml as text. They follow from the references alone."""
    lines = []
    for times in measured:
        if times.rung.name != REFERENCE:
            continue
        cases = ", ".join(f"{t.case} {t.speedup.median:.3g}" for t in times.timings)
        threshold = proposal(times.rung.ratio.median)
        lines += [f"# The reference reaches {times.rung.ratio.median:.3g} times the baseline: {cases}.",
                  f"[thresholds.assignments.{times.assignment}]",
                  f"floor = {threshold.floor:g}", f"target = {threshold.target:g}", ""]
    return "\n".join(lines)


def time_cases(assignment: Assignment, course: Course, path: Path) -> list[Timing]:
    """Return the times of every timed case of the kernel in `path`. Raises InfrastructureError for the first case that
    fails."""
    who = str(path.relative_to(home.root()) if path.is_relative_to(home.root()) else path)
    try:
        source = Source(content=path.read_bytes())
    except OSError as error:
        raise InfrastructureError(f"{who}: {error.strerror}; restore the course's kernel") from None
    prepared = PreparedTask(Task(assignment, source, course, secrets.token_bytes(32), "cuda"))
    timings = []
    with closing(judge(prepared, (SOURCE, *speed_checks(assignment)))) as outcomes:
        for check in results(outcomes):
            if check.outcome != "passed":
                message = check.detail.message if check.detail else check.outcome
                raise InfrastructureError(f"{who}{', ' if check.case else ''}{check.case}: {message}")
            if check.timing is not None:
                timings.append(check.timing)
    return timings


def _round(value: float) -> float:
    """Round down to two significant digits."""
    step = 10.0 ** (math.floor(math.log10(value)) - 1)
    return round(math.floor(value / step + 1e-9) * step, 12)
