"""A class from start to end: what is to be graded, progress, pages, what went wrong."""

from __future__ import annotations

import contextlib
import os
import shlex
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from grader import calibration, catalogue, preflight, store
from grader.calibration import Calibration, CalibrationError
from grader.course import Course
from grader.forkserver import isolation
from grader.forkserver.handle import InfrastructureError
from grader.forkserver.isolation import Isolation
from grader.judge.lane import on_interruption
from grader.lanes import Graded, Job, Lanes, draw_seed
from grader.preflight import PlanError
from grader.report.load import Failure, load_results
from grader.report.pages import write_class
from grader.submission import Submission


@dataclass(frozen=True)
class Plan:
    """What will be graded, and how. `started` is when the command began (time.monotonic)."""

    started: float
    jobs: list[Job]
    lanes: Lanes
    side_by_side: int
    out: Path
    course: Course
    isolation: Isolation


@contextlib.contextmanager
def planned(
    submissions: list[Submission], course: Course, *, out: Path, only: Sequence[str], device: str, jobs: int,
    seed: int | None, speed: bool = True, minimum: int | None = None, allow_degraded: bool = False,
    options: Sequence[str] = (), console: Console | None = None,
) -> Iterator[Plan]:
    """Checks everything that can be known before a student's code runs. Raises PlanError. The lanes end with the block.

    `minimum` is the isolation level expected, by default the course's; with `allow_degraded` a weaker one will do.
    `options` are words of the command line that grading a student again needs as well. A terminal's `console` shows
    that lanes are starting, which takes seconds.
    """
    started = time.monotonic()
    try:
        chosen = course.select(catalogue.files(), only)
    except ValueError as error:
        raise PlanError(f"--only: {error}") from None
    preflight.device(device)
    preflight.installed()
    preflight.temporary()
    preflight.results(out, submissions, len(chosen))
    measured = _isolation(course.isolation.minimum if minimum is None else minimum, allow_degraded)
    side_by_side = min(jobs or len(os.sched_getaffinity(0)), len(submissions))
    # Lanes that are starting are ended, too.
    on_interruption(signal.default_int_handler)
    with Lanes(side_by_side, measured) as lanes:
        with console.status("starting") if console else contextlib.nullcontext():
            device = choose_device(lanes, device, chosen)
        # On a GPU one after another: a neighbour would be in the way of its memory and its clock.
        side_by_side = 1 if device == "cuda" else side_by_side
        calibrations = _calibrations() if device == "cuda" and speed else ()
        found = []
        for submission in submissions:
            number = draw_seed() if seed is None else seed
            command = ["kernelmark", "grade", str(submission.folder.absolute()), "--device", device,
                       "--seed", str(number), *(["--only", ",".join(only)] if only else []), *options]
            found.append(Job(
                submission, course, tuple(chosen), device, speed, number,
                os.fsencode(shlex.join(command)).decode("utf-8", "replace"), calibrations,
                store.earlier(out, submission) if speed else {}))
        yield Plan(started, found, lanes, side_by_side, out, course, measured)


def choose_device(lanes: Lanes, asked: str, names: Sequence[str]) -> str:
    """The device to grade on, as the first lane finds it, which looks at the assignments `names` as well: importing
    torch is its work. Raises PlanError."""
    looking = lanes.ask(look, asked, names)
    # Meanwhile.
    preflight.pages()
    try:
        no_gpu = looking.result()
    except InfrastructureError as error:
        raise PlanError(f"{error}; a process to grade in expected, kernelmark doctor says more") from None
    except BrokenProcessPool:
        raise PlanError("no process to grade in could be started; kernelmark doctor says more") from None
    if asked == "cuda" and no_gpu:
        raise PlanError(f"--device cuda: {no_gpu}")
    return "cpu" if no_gpu else "cuda"


def look(asked: str, names: Sequence[str]) -> str:
    """Why a lane grades without a GPU, "" if it has one. Raises PlanError if an assignment is not as expected, and
    InfrastructureError if the lane has no fork server."""
    from grader import grading  # noqa: F401  # which the first grading does not have to wait for
    from grader.judge.device import no_gpu
    from grader.judge.lane import lane_zygote

    preflight.assignments(names)
    # Asked for, it is waited for.
    _ = lane_zygote().versions
    return "not asked for" if asked == "cpu" else no_gpu()


def _calibrations() -> tuple[Calibration, ...]:
    """All of them: this process has nothing to do with the device, whose name a lane asks for."""
    try:
        return calibration.read_folder(calibration.FOLDER)
    except CalibrationError as error:
        raise PlanError(str(error)) from None


def _isolation(minimum: int, allow_degraded: bool) -> Isolation:
    try:
        measured = isolation.measure()
    except InfrastructureError as error:
        raise PlanError(str(error)) from None
    if measured.level < minimum and not allow_degraded:
        raise PlanError(
            f"isolation level {measured} on this machine, {minimum} {isolation.NAMES[minimum]} expected "
            f"({'; '.join(measured.missing)}); --allow-degraded grades code that you trust all the same")
    return measured


def grade_class(plan: Plan, console: Console, errors: Console) -> int:
    """Grades, writes every student's files as they come, then the class page, also when it is interrupted.

    Returns how many things of ours failed.
    """
    failures: list[Failure] = []
    if plan.isolation.level < isolation.ADVISED:
        errors.print(f"kernelmark: isolation level {plan.isolation} only: {'; '.join(plan.isolation.missing)}; "
                     "grade nobody's code that you do not trust", markup=False)
    interrupted, done = False, 0

    def interrupt(number: int, frame: FrameType | None) -> None:
        # Raising here could leave a lock of the executor's taken for ever.
        nonlocal interrupted
        interrupted = True

    # What is graded is kept, and the class page is written.
    on_interruption(interrupt)
    try:
        with _progress(plan, console) as tell:
            for graded in plan.lanes.grade(plan.jobs, plan.side_by_side, lambda: interrupted):
                trouble = store.keep(graded, plan.out, plan.course.limits.source_kb * 1024)
                done += 1
                tell(graded)
                for line in trouble:
                    errors.print(f"kernelmark: {line}", markup=False)
                failures.extend(Failure(graded.submission.slug, line) for line in trouble)
    finally:
        count = f"Interrupted: {done} of {len(plan.jobs)} graded" if interrupted else f"{done} graded"
        _write_class(plan, count, failures, console, errors, time.monotonic() - plan.started)
    return len(failures)


def _write_class(
    plan: Plan, count: str, failures: list[Failure], console: Console, errors: Console, seconds: float
) -> None:
    """Draws the class page and the gradebook from all that lies in the results folder."""
    told = {failure.folder for failure in failures}
    try:
        loaded = load_results(plan.out)
        write_class(
            loaded.entries, plan.out, failures=failures + [f for f in loaded.failures if f.folder not in told])
    except OSError as error:
        failures.append(Failure("", f"class page not written: {error.strerror} ({plan.out})"))
        errors.print(f"kernelmark: {failures[-1].message}", markup=False)
        return
    console.print(f"{count} in {seconds:.0f} s: {plan.out / 'index.html'}", markup=False, soft_wrap=True)
    if earlier := {entry.folder for entry in loaded.entries} - {job.submission.slug for job in plan.jobs}:
        line = f"The page also lists {len(earlier)} graded earlier into {plan.out}."
        console.print(line, markup=False, soft_wrap=True)


@contextlib.contextmanager
def _progress(plan: Plan, console: Console) -> Iterator[Callable[[Graded], None]]:
    total = len(plan.jobs)
    if console.is_terminal:
        columns = (TextColumn("grading"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(),
                   TextColumn("left"), TimeRemainingColumn())
        with Progress(*columns, console=console, transient=True) as bar:
            task = bar.add_task("", total=total)

            def tell(graded: Graded) -> None:
                bar.console.print(_line(graded), markup=False)
                bar.update(task, advance=1)

            yield tell
        return
    done = 0
    started = time.monotonic()

    def tell_line(graded: Graded) -> None:
        nonlocal done
        done += 1
        left = (time.monotonic() - started) / done * (total - done)
        console.print(f"[{done}/{total}] {_line(graded)}  (about {left:.0f} s left)", markup=False, soft_wrap=True)

    yield tell_line


def _line(graded: Graded) -> str:
    result = graded.result
    if result is None:
        return f"{graded.submission.student}: not graded"
    right = sum(a.verdict == "accepted" for a in result.assignments.values())
    return (f"{result.student}: {result.score:g} of {result.measured_max:g} points, {right} of "
            f"{len(result.assignments)} right, {result.seconds:.1f} s")
