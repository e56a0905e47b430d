"""The command `calibrate`."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated

import typer

from grader.console import INFRASTRUCTURE_ERROR, console, errors, names_in, usage
from grader.model import catalogue
from grader.model.catalogue import COURSE
from grader.model.course import CourseError, read_course


def calibrate(
    only: Annotated[str, typer.Option(
        help="Assignments to measure, e.g. silu,gemm, in the course or not. Default: the course's.")] = "",
    course: Annotated[Path, typer.Option(help="Limits to measure under.")] = COURSE,
    stages: Annotated[bool, typer.Option(help="Measure the stages that the course teaches, too.")] = True,
    out: Annotated[Path | None, typer.Option(
        help="The file to write. Default: calibration/<device>.json, where grading looks for it.")] = None,
) -> None:
    """Measure the reference kernels, the stages of the course and the baselines on this machine's GPU.

    Writes what they reach, for the ladder in students' reports, and proposes thresholds for course.toml.
    """
    try:
        found = catalogue.assignments()
        rules = read_course(course, frozenset(found))
    except (CourseError, catalogue.CatalogueError) as error:
        usage(str(error))
    names = names_in(only)
    try:
        chosen = catalogue.select(found, names) if names else rules.select(found, ())
    except ValueError as error:
        usage(f"--only: {error}")
    import torch

    from grader.judge.device import no_gpu

    if trouble := no_gpu():
        usage(f"calibrate: {trouble}")
    from grader.engine.forkserver.handle import InfrastructureError
    from grader.model import calibration
    from grader.model.result import REFERENCE
    from grader.run import calibrate as measuring

    path = out or calibration.FOLDER / f"{calibration.slug(torch.cuda.get_device_name())}.json"
    try:
        # Told now, not after an hour of measuring.
        earlier = calibration.prepare(path)
    except calibration.CalibrationError as error:
        usage(str(error))
    words = ["kernelmark", "calibrate", *(["--only", ",".join(names)] if names else []),
             *(["--course", str(course)] if course != COURSE else []),
             *([] if stages else ["--no-stages"])]
    taught = {name: [rung.name for rung in measuring.rungs_of(one)] for name, one in found.items()}
    measured: list[measuring.Found] = []
    failed = False
    try:
        for one in measuring.calibrate(chosen, rules, stages=stages):
            if isinstance(one, measuring.Trouble):
                failed = True
                errors.print(f"kernelmark: {one.message}", markup=False)
                continue
            measured.append(one)
            # After each, so that an interruption loses nothing.
            new = measuring.gathered(measured, shlex.join(words))
            calibration.write(calibration.joined(earlier, new, taught) if earlier else new, path)
            who = one.assignment if one.rung.name == REFERENCE else f"{one.assignment} {one.rung.name}"
            for timing in one.timings:
                roof = "" if timing.roof_fraction is None else f", {timing.roof_fraction:.0%} of {timing.roof}"
                console.print(f"{who} {timing.case}: {timing.student_us:.1f} µs against {timing.baseline_us:.1f}, "
                              f"ratio {timing.speedup.median:.3g}{roof}", markup=False, soft_wrap=True)
    except InfrastructureError as error:
        errors.print(f"kernelmark: {error}", markup=False)
        raise typer.Exit(INFRASTRUCTURE_ERROR) from None
    except calibration.CalibrationError as error:
        usage(str(error))
    console.print(f"\n{measuring.table(measured)}", markup=False, soft_wrap=True)
    console.print(f"{path}: {len(measured)} rungs measured", markup=False, soft_wrap=True)
    if failed:
        raise typer.Exit(INFRASTRUCTURE_ERROR)
