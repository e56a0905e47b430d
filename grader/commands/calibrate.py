"""The command `kernelmark calibrate`."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from grader import home
from grader.console import COURSE, INFRASTRUCTURE_ERROR, complain, course_option, names_in, say, usage
from grader.course import catalogue
from grader.course.course import Course, read_course
from grader.results.result import REFERENCE

if TYPE_CHECKING:
    from grader.course.assignment import Assignment
    from grader.grading.calibrate import RungTimes


def calibrate(
    only: Annotated[str, typer.Option(
        help="Assignments to measure, e.g. silu,gemm; others than the course's are allowed. Default: the course's."
    )] = "",
    course: Annotated[Path, course_option("The course file, for its limits.")] = COURSE,
    stages: Annotated[bool, typer.Option(help="Measure the stages that the course teaches, too.")] = True,
    out: Annotated[Path | None, typer.Option(
        help="The file to write. Default: calibration/<device>.json, where grading looks for it.")] = None,
) -> None:
    """Measure the reference kernels, the stages of the course and the baselines on this machine's GPU.

    Writes their speeds for the ladder in students' reports, and proposes thresholds for course.toml.
    """
    assignments, rules, names = _select(only, course)
    # Late, as below: torch is slow to import, and a usage error needs none of it.
    from grader.judging.running.device import no_gpu

    if trouble := no_gpu():
        usage(f"calibrate: {trouble}; run it on a machine with a GPU")
    import torch

    from grader.course import calibration
    from grader.errors import InfrastructureError
    from grader.grading import calibrate as measuring

    path = out or calibration.folder() / f"{calibration.slug(torch.cuda.get_device_name())}.json"
    words = ["kernelmark", "calibrate", *(["--only", ",".join(names_in(only))] if only else []),
             *home.here().words(course), *([] if stages else ["--no-stages"])]
    taught = {name: [rung.name for rung in measuring.rungs_of(assignment)] for name, assignment in assignments.items()}
    measured: list[RungTimes] = []
    failed = False
    try:
        # Before an hour of measuring, fail if the file cannot be written.
        earlier = calibration.prepare(path)
        for times in measuring.calibrate(names, rules, stages=stages):
            if isinstance(times, measuring.UnmeasuredRung):
                failed = True
                complain(times.message)
                continue
            measured.append(times)
            # Written after each rung, so that an interruption loses nothing.
            new = measuring.gather(measured, shlex.join(words))
            calibration.write(calibration.joined(earlier, new, taught) if earlier else new, path)
            _print_times(times)
    except InfrastructureError as error:
        complain(str(error))
        raise typer.Exit(INFRASTRUCTURE_ERROR) from None
    say(f"\n{measuring.table(measured)}")
    say(f"{path}: {len(measured)} stages measured")
    if failed:
        raise typer.Exit(INFRASTRUCTURE_ERROR)


def _select(only: str, course: Path) -> tuple[dict[str, Assignment], Course, list[str]]:
    """Return all assignments, the course, and the names of the assignments to measure."""
    assignments = catalogue.assignments()
    rules = read_course(course, frozenset(assignments))
    return assignments, rules, rules.select(assignments, names_in(only), "--only: ")


def _print_times(times: RungTimes) -> None:
    name = times.assignment if times.rung.name == REFERENCE else f"{times.assignment} {times.rung.name}"
    for timing in times.timings:
        roof = "" if timing.roof_fraction is None else f", {timing.roof_fraction:.0%} of {timing.roof}"
        say(f"{name} {timing.case}: {timing.student_us:.1f} µs against {timing.baseline_us:.1f}, "
            f"ratio {timing.speedup.median:.3g}{roof}")
