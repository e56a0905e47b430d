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

from grader.forkserver import isolation
from grader.forkserver.handle import InfrastructureError
from grader.forkserver.isolation import Isolation
from grader.intake.manifest import ManifestError
from grader.judge.lane import on_interruption
from grader.model import calibration, catalogue
from grader.model.calibration import Calibration, CalibrationError
from grader.model.course import Course
from grader.model.job import Job, draw_seed
from grader.model.result import Environment
from grader.model.submission import Submission, named
from grader.records.choice import Choice, Kind, choose, deliveries
from grader.records.draw import beside, refresh, under_another_course_file
from grader.records.keep import earlier, keep
from grader.records.lock import LockedError, locked
from grader.records.standing import standing
from grader.records.store import FOLDER, Store
from grader.report.leaderboard import begin
from grader.report.load import Failure, load_results
from grader.report.pages import Progress, write_class
from grader.run import preflight
from grader.run.gpus import chosen as chosen_gpus
from grader.run.gpus import unlike
from grader.run.lanes import Lanes, LanesLostError, LocalLanes
from grader.run.preflight import PlanError
from grader.run.progress import LivePage, Watch, shown, tell_end


@dataclass(frozen=True)
class Plan:
    """What will be graded, and how. `started` is when the command began (time.monotonic). Lanes on other machines have
    each their own `isolation`."""

    started: float
    jobs: list[Job]
    lanes: Lanes
    side_by_side: int
    out: Path
    course: Course
    isolation: Isolation | None
    store: Store
    choice: Choice


@contextlib.contextmanager
def planned(
    submissions: list[Submission], course: Course, *, out: Path, only: Sequence[str], device: str, jobs: int,
    seed: int | None, speed: bool = True, minimum: int | None = None, allow_degraded: bool = False,
    options: Sequence[str] = (), console: Console | None = None, kind: Kind = "grade", force: bool = False,
    far: Callable[[int], Lanes] | None = None, gpus: str = "", sweep: bool = False,
) -> Iterator[Plan]:
    """Checks everything that can be known before a student's code runs, and what is graded already. Raises PlanError,
    StoreError and LanesLostError. The lanes end with the block, and until then no other process grades into `out`.

    `minimum` is the isolation level expected, by default the course's; with `allow_degraded` a weaker one will do.
    `options` are words of the command line that grading a student again needs as well. A terminal's `console` shows
    that lanes are starting, which takes seconds. `far` opens lanes on other machines, of at least an isolation level.
    `gpus` are those that are graded on: numbers, or by default all. `sweep`: what is right is timed at many sizes, too.
    """
    started = time.monotonic()
    try:
        chosen = course.select(catalogue.files(), only)
    except ValueError as error:
        raise PlanError(f"--only: {error}") from None
    preflight.device(device)
    if gpus and (far or device == "cpu"):
        raise PlanError(f"--gpus: {'--lanes' if far else '--device cpu'} uses no GPU of this machine; either expected")
    cards = [] if far or device == "cpu" else chosen_gpus(gpus or "all")
    preflight.installed()
    preflight.temporary()
    preflight.results(out, submissions, len(chosen))
    minimum = 0 if allow_degraded else course.isolation.minimum if minimum is None else minimum
    measured = None if far else _isolation(minimum)
    most = len(submissions) if far else len(os.sched_getaffinity(0))
    side_by_side = min(jobs or most, len(submissions))
    cards = cards[:min(jobs or len(cards), len(submissions))]
    # Those beyond the GPUs are for a machine whose GPUs cannot be graded on: a neighbour on the same GPU would be in
    # the way of its memory and its clock.
    places = [card.environment for card in cards]
    places += [{}] * (side_by_side - len(places))
    # Lanes that are starting are ended, too.
    on_interruption(signal.default_int_handler)
    with contextlib.ExitStack() as open_:
        store = open_.enter_context(_opened(out))
        recorded = store.attempts()
        if kind != "grade" and not recorded:
            raise PlanError(f"--out {out}: nothing was graded there yet; kernelmark grade first expected")
        stands = list(standing(recorded, store.decisions()).values())
        # Whoever has a folder of results keeps it, whoever else is graded along.
        submissions = named([one.folder for one in submissions],
                            dict.fromkeys((one.student, one.slug) for one in recorded))
        try:
            delivered = deliveries(submissions)
        except ManifestError as error:
            raise PlanError(str(error)) from None
        lanes = open_.enter_context(far(minimum) if far else LocalLanes(places, measured))
        with console.status("starting") if console and console.is_terminal else contextlib.nullcontext():
            device, environment = choose_device(lanes, "cuda" if gpus else device, chosen)
        speed = speed and device == "cuda"
        choice = choose(
            delivered, chosen, course, environment, speed, recorded, stands, kind=kind, force=force)
        if device == "cuda" and not far:
            side_by_side = max(1, len(cards))
            if console and (said := unlike(cards)):
                console.print(said, markup=False, soft_wrap=True)
        calibrations = _calibrations() if speed else ()
        found = []
        for submission in submissions:
            drafts = choice.drafts.get(submission.slug)
            if drafts is None:
                continue
            number = draw_seed() if seed is None else seed
            command = ["kernelmark", "grade", str(submission.folder.absolute()), "--out", str(out.absolute()),
                       "--device", device, "--force", "--seed", str(number),
                       *(["--only", ",".join(only)] if only else []), *options]
            found.append(Job(
                submission, choice.handed_in[submission.slug], course, tuple(drafts), device, speed, number,
                os.fsencode(shlex.join(command)).decode("utf-8", "replace"), calibrations,
                earlier(store, stands, drafts) if speed else {}, delivered[submission].problems, sweep=sweep and speed))
        yield Plan(started, found, lanes, side_by_side, out, course, measured, store, choice)


@contextlib.contextmanager
def _opened(out: Path) -> Iterator[Store]:
    """The attempts in `out`, which are this process's alone."""
    with contextlib.ExitStack() as stack:
        try:
            store = stack.enter_context(Store.create(out))
            stack.enter_context(locked(out / FOLDER))
        except LockedError as error:
            raise PlanError(f"--out {error}") from None
        except OSError as error:
            raise PlanError(f"--out {error.filename or out}: {error.strerror}; a writable folder expected") from None
        yield store


def choose_device(lanes: Lanes, asked: str, names: Sequence[str]) -> tuple[str, Environment]:
    """The device to grade on, and all else that results depend on, as the first lane finds it, which looks at the
    assignments `names` as well: importing torch is its work. Raises PlanError, LanesLostError."""
    looking = lanes.look(look, asked, names)
    # Meanwhile.
    preflight.pages()
    try:
        no_gpu, environment = looking.result()
    except InfrastructureError as error:
        raise PlanError(f"{error}; a process to grade in expected, kernelmark doctor says more") from None
    except BrokenProcessPool:
        raise PlanError("no process to grade in could be started; kernelmark doctor says more") from None
    if asked == "cuda" and no_gpu:
        raise PlanError(f"--device cuda: {no_gpu}")
    return "cpu" if no_gpu else "cuda", environment


def look(asked: str, names: Sequence[str]) -> tuple[str, Environment]:
    """Why a lane grades without a GPU, "" if it has one, and what it grades on. Raises PlanError if an assignment is
    not as expected, and InfrastructureError if the lane has no fork server."""
    # The first grading does not have to wait for it, either.
    from grader.judge.device import no_gpu
    from grader.run.grading import environment

    preflight.assignments(names)
    without = "not asked for" if asked == "cpu" else no_gpu()
    return without, environment("cpu" if without else "cuda")


def _calibrations() -> tuple[Calibration, ...]:
    """All of them: this process has nothing to do with the device, whose name a lane asks for."""
    try:
        return calibration.read_folder(calibration.FOLDER)
    except CalibrationError as error:
        raise PlanError(str(error)) from None


def _isolation(minimum: int) -> Isolation:
    try:
        measured = isolation.measure()
    except InfrastructureError as error:
        raise PlanError(str(error)) from None
    if measured.level < minimum:
        raise PlanError(
            f"isolation level {measured} on this machine, {minimum} {isolation.NAMES[minimum]} expected "
            f"({'; '.join(measured.missing)}); --allow-degraded grades code that you trust all the same")
    return measured


def grade_class(
    plan: Plan, console: Console, errors: Console, *, as_json: bool = False, leaderboard: bool = False
) -> int:
    """Grades, writes every student's files as they come, and the class page meanwhile and at the end, also when it is
    interrupted. `as_json` tells standard output of it, an object a line; `leaderboard` makes that page, too.

    Returns how many things of ours failed.
    """
    failures: list[Failure] = []
    if plan.isolation and plan.isolation.level < isolation.ADVISED:
        errors.print(f"kernelmark: isolation level {plan.isolation} only: {'; '.join(plan.isolation.missing)}; "
                     "grade nobody's code that you do not trust", markup=False)
    interrupted = False
    watch = Watch(len(plan.jobs), plan.lanes.running, plan.lanes.told)
    page: LivePage | None = None

    def interrupt(number: int, frame: FrameType | None) -> None:
        # Raising here could leave a lock of the executor's taken for ever.
        nonlocal interrupted
        interrupted = True

    # What is graded is kept, and the class page is written.
    on_interruption(interrupt)
    if said := plan.choice.said():
        console.print(said, markup=False, soft_wrap=True)
    try:
        if plan.choice.again:
            plan.store.add([(one, plan.store.result(one)) for one in plan.choice.again])
        if plan.jobs:
            page = LivePage(plan.out, plan.store, watch)

        def stopped() -> bool:
            if page:
                page.beat()
            return interrupted

        with shown(watch, console, as_json) as tell:
            for graded in plan.lanes.grade(plan.jobs, plan.side_by_side, stopped):
                trouble = keep(plan.store, plan.out, plan.choice.drafts[graded.submission.slug], graded.result,
                               graded.log, graded.error)
                watch.add(graded)
                tell(graded, trouble)
                for line in trouble:
                    errors.print(f"kernelmark: {line}", markup=False)
                failures.extend(found := [Failure(graded.submission.slug, line) for line in trouble])
                if page:
                    page.add(graded, found)
    except LanesLostError as error:
        interrupted = True
        failures.append(Failure("", str(error)))
        errors.print(f"kernelmark: {error}", markup=False)
    finally:
        # What a run drew that was killed, or other grades than this run's have changed.
        for line in refresh(plan.store, plan.out):
            if line not in [failure.message for failure in failures]:
                errors.print(f"kernelmark: {line}", markup=False)
                failures.append(Failure("", line))
        seconds = time.monotonic() - plan.started
        so_far = page.progress(ended=True) if page and interrupted else None
        listed = _write_class(plan, failures, errors, so_far, leaderboard)
        if listed is not None:
            count = f"Interrupted: {watch.done} of {watch.total} graded" if interrupted else f"{watch.done} graded"
            console.print(f"{count} in {seconds:.0f} s: {plan.out / 'index.html'}", markup=False, soft_wrap=True)
            if earlier := listed - {job.submission.slug for job in plan.jobs}:
                line = f"The page also lists {len(earlier)} graded earlier into {plan.out}."
                console.print(line, markup=False, soft_wrap=True)
        for line in beside(plan.store, plan.course):
            console.print(line, markup=False, soft_wrap=True)
        if as_json:
            tell_end(watch, interrupted=interrupted, skipped=dict(plan.choice.skipped), seconds=round(seconds, 3),
                     failures=[failure.message for failure in failures], page=str(plan.out / "index.html"))
    return len(failures)


def _write_class(
    plan: Plan, failures: list[Failure], errors: Console, progress: Progress | None, leaderboard: bool
) -> set[str] | None:
    """Draws the class page and the gradebook from all that lies in the results folder, and returns whose results these
    are, by folder; None if they could not be written."""
    told = {failure.folder for failure in failures}
    try:
        loaded = load_results(plan.out)
        if leaderboard:
            begin(plan.out)
        write_class(
            loaded.entries, plan.out, failures=failures + [f for f in loaded.failures if f.folder not in told],
            others=under_another_course_file(plan.store), progress=progress)
    except OSError as error:
        failures.append(Failure("", f"class page not written: {error.strerror} ({plan.out})"))
        errors.print(f"kernelmark: {failures[-1].message}", markup=False)
        return None
    return {entry.folder for entry in loaded.entries}
