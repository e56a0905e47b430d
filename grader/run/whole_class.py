"""A class from start to end: what is to be graded, progress, pages, what went wrong."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType

from rich.console import Console

from grader.engine.forkserver import isolation
from grader.engine.forkserver.handle import InfrastructureError
from grader.engine.forkserver.isolation import Isolation
from grader.intake.manifest import ManifestError
from grader.judge.lane import on_interruption
from grader.model import calibration, catalogue
from grader.model.calibration import Calibration, CalibrationError
from grader.model.course import Course
from grader.model.job import Graded, Job, draw_seed
from grader.model.result import Environment
from grader.model.submission import Submission, named
from grader.records.attempt import hash_of_environment
from grader.records.choice import Choice, Delivery, choose, deliveries
from grader.records.draw import beside, refresh, under_another_course_file
from grader.records.keep import earlier, keep
from grader.records.lock import LockedError, locked
from grader.records.standing import Standing, standing
from grader.records.store import FOLDER, Store, StoreError
from grader.report import leaderboard
from grader.report.load import Failure, load_results
from grader.report.pages import write_class
from grader.run import preflight
from grader.run.asked import Asked
from grader.run.gpus import Gpu, unlike
from grader.run.gpus import chosen as chosen_gpus
from grader.run.lanes import Lanes, LanesLostError, LocalLanes
from grader.run.preflight import PlanError
from grader.run.progress import LivePage, Watch, shown, tell_end


@dataclass(frozen=True)
class Plan:
    """What will be graded, and how. `started` is when the command began (time.monotonic). Lanes on other machines have
    each their own `isolation`."""

    started: float
    asked: Asked
    jobs: list[Job]
    lanes: Lanes
    side_by_side: int
    course: Course
    isolation: Isolation | None
    store: Store
    choice: Choice


@contextlib.contextmanager
def planned(
    submissions: list[Submission], course: Course, asked: Asked, *, console: Console | None = None,
    far: Callable[[int], Lanes] | None = None,
) -> Iterator[Plan]:
    """Checks everything that can be known before a student's code runs, and what is graded already. Raises PlanError,
    StoreError and LanesLostError. The lanes end with the block, and until then no other process grades into `out`.

    A terminal's `console` shows that lanes are starting, which takes seconds. `far` opens lanes on other machines, of
    at least an isolation level.
    """
    started = time.monotonic()
    names, cards = _looked_at(submissions, course, asked, far=far is not None)
    measured = None if far else _isolation(asked.level(course))
    # Lanes that are starting are ended, too.
    on_interruption(signal.default_int_handler)
    with contextlib.ExitStack() as open_:
        store = open_.enter_context(_opened(asked.out))
        recorded = store.attempts()
        if asked.kind != "grade" and not recorded:
            raise PlanError(f"--out {asked.out}: nothing was graded there yet; kernelmark grade first expected")
        stands = list(standing(recorded, store.decisions()).values())
        # Whoever has a folder of results keeps it, whoever else is graded along.
        submissions = named([one.folder for one in submissions],
                            dict.fromkeys((one.student, one.slug) for one in recorded))
        delivered = _delivered(submissions)
        side_by_side = min(asked.jobs or (len(submissions) if far else len(os.sched_getaffinity(0))), len(submissions))
        cards = cards[:min(asked.jobs or len(cards), len(submissions))]
        lanes = open_.enter_context(
            far(asked.level(course)) if far else LocalLanes(_places(cards, side_by_side), measured))
        with console.status("starting") if console and console.is_terminal else contextlib.nullcontext():
            device, environment = choose_device(lanes, "cuda" if asked.gpus else asked.device, names)
        if device == "cuda" and not far:
            side_by_side = max(1, len(cards))
            if console and (said := unlike(cards)):
                console.print(said, markup=False, soft_wrap=True)
        here = hash_of_environment(environment, asked.speed and device == "cuda")
        choice = choose(delivered, names, course, here, recorded, stands, kind=asked.kind, force=asked.force)
        jobs = _jobs(delivered, course, asked, device, choice, store, stands)
        yield Plan(started, asked, jobs, lanes, side_by_side, course, measured, store, choice)


def _looked_at(
    submissions: Sequence[Submission], course: Course, asked: Asked, *, far: bool
) -> tuple[list[str], list[Gpu]]:
    """The assignments to grade and the GPUs of this machine to grade on, once nothing stands in the way of either."""
    try:
        names = course.select(catalogue.files(), asked.only)
    except ValueError as error:
        raise PlanError(f"--only: {error}") from None
    preflight.device(asked.device)
    here = not far and asked.device != "cpu"
    if asked.gpus and not here:
        raise PlanError(f"--gpus: {'--lanes' if far else '--device cpu'} uses no GPU of this machine; either expected")
    cards = chosen_gpus(asked.gpus or "all") if here else []
    preflight.installed()
    preflight.temporary()
    preflight.results(asked.out, submissions, len(names))
    return names, cards


def _places(cards: Sequence[Gpu], lanes: int) -> list[dict[str, str]]:
    """The environments of so many lanes, of one a GPU at least."""
    places = [card.environment for card in cards]
    # Those beyond the GPUs are for a machine whose GPUs cannot be graded on: a neighbour on the same GPU would be in
    # the way of its memory and its clock.
    return places + [{}] * (lanes - len(places))


def _delivered(submissions: Sequence[Submission]) -> dict[Submission, Delivery]:
    try:
        return deliveries(submissions)
    except ManifestError as error:
        raise PlanError(str(error)) from None


def _jobs(
    delivered: Mapping[Submission, Delivery], course: Course, asked: Asked, device: str, choice: Choice, store: Store,
    stands: Sequence[Standing],
) -> list[Job]:
    """A job for each submission of which something was chosen."""
    speed = asked.speed and device == "cuda"
    calibrations = _calibrations() if speed else ()
    found = []
    for submission, delivery in delivered.items():
        drafts = choice.drafts.get(submission.slug)
        if drafts is None:
            continue
        seed = draw_seed() if asked.seed is None else asked.seed
        found.append(Job(
            submission, choice.handed_in[submission.slug], course, tuple(drafts), device, speed, seed,
            asked.again(submission.folder, device, seed), calibrations,
            earlier(store, stands, drafts) if speed else {}, delivery.problems, sweep=asked.sweep and speed))
    return found


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


def grade_class(plan: Plan, console: Console, errors: Console) -> int:
    """Grades, writes every student's files as they come, and the class page meanwhile and at the end, also when it is
    interrupted. Returns how many things of ours failed."""
    run = _Run(plan, console, errors, Watch(len(plan.jobs), plan.lanes.running, plan.lanes.told))
    if plan.isolation and plan.isolation.level < isolation.ADVISED:
        errors.print(f"kernelmark: isolation level {plan.isolation} only: {'; '.join(plan.isolation.missing)}; "
                     "grade nobody's code that you do not trust", markup=False)
    # What is graded is kept, and the class page is written.
    on_interruption(run.interrupt)
    if line := plan.choice.skipped_line():
        console.print(line, markup=False, soft_wrap=True)
    try:
        run.begin()
        with shown(run.watch, console, plan.asked.as_json) as tell:
            for graded in plan.lanes.grade(plan.jobs, plan.side_by_side, run.stopped):
                run.add(graded, tell)
    except LanesLostError as error:
        run.interrupted = True
        run.failed(str(error))
    finally:
        run.end()
    return len(run.failures)


@dataclass
class _Run:
    """A class while it is graded: what has failed, how far it is, and the page that shows it."""

    plan: Plan
    console: Console
    errors: Console
    watch: Watch
    failures: list[Failure] = field(default_factory=list)
    page: LivePage | None = None
    interrupted: bool = False

    def interrupt(self, number: int, frame: FrameType | None) -> None:
        # Raising here could leave a lock of the executor's taken for ever.
        self.interrupted = True

    def stopped(self) -> bool:
        if self.page:
            self.page.beat()
        return self.interrupted

    def failed(self, line: str) -> None:
        """Tells of a failure of ours, once, and goes on: what can be graded, recorded and drawn is."""
        if line not in [failure.message for failure in self.failures]:
            self.errors.print(f"kernelmark: {line}", markup=False)
            self.failures.append(Failure("", line))

    @contextlib.contextmanager
    def _told(self) -> Iterator[None]:
        """What the store cannot do is a failure of ours, and stops nothing else."""
        try:
            yield
        except StoreError as error:
            self.failed(str(error))

    def begin(self) -> None:
        if self.plan.asked.leaderboard:
            # Before the first report, which tells its student the pseudonym.
            with contextlib.suppress(OSError):  # the class page tells of it
                leaderboard.begin(self.plan.asked.out)
        store, again = self.plan.store, self.plan.choice.again
        with self._told():
            if again:
                store.add([(one, store.result(one)) for one in again])
        if self.plan.jobs:
            self.page = LivePage(self.plan.asked.out, store, self.watch)

    def add(self, graded: Graded, tell: Callable[[Graded, Sequence[str]], None]) -> None:
        """Records what became of a job, draws the student's files, and tells of it."""
        slug = graded.submission.slug
        trouble = keep(self.plan.store, self.plan.asked.out, self.plan.choice.drafts[slug], graded.result, graded.log,
                       graded.error)
        self.watch.add(graded)
        tell(graded, trouble)
        for line in trouble:
            self.errors.print(f"kernelmark: {line}", markup=False)
        self.failures.extend(found := [Failure(slug, line) for line in trouble])
        if self.page:
            self.page.add(graded, found)

    def end(self) -> None:
        """Draws what is not drawn yet, and says what it comes to: whatever has failed, and for a program at the end."""
        plan, watch, out = self.plan, self.watch, self.plan.asked.out
        with self._told():
            # What a run drew that was killed, or other grades than this run's have changed.
            for line in refresh(plan.store, out):
                self.failed(line)
        seconds = time.monotonic() - plan.started
        listed = self._write_class()
        if listed is not None:
            count = f"Interrupted: {watch.done} of {watch.total} graded" if self.interrupted else f"{watch.done} graded"
            self.console.print(f"{count} in {seconds:.0f} s: {out / 'index.html'}", markup=False, soft_wrap=True)
            if before := listed - {job.submission.slug for job in plan.jobs}:
                line = f"The page also lists {len(before)} graded earlier into {out}."
                self.console.print(line, markup=False, soft_wrap=True)
        with self._told():
            for line in beside(plan.store, plan.course):
                self.console.print(line, markup=False, soft_wrap=True)
        if plan.asked.as_json:
            tell_end(watch, interrupted=self.interrupted, skipped=dict(plan.choice.skipped), seconds=round(seconds, 3),
                     failures=[failure.message for failure in self.failures], page=str(out / "index.html"))

    def _write_class(self) -> set[str] | None:
        """Draws the class page and the gradebook from all that lies in the results folder, and returns whose results
        these are, by folder; None if they could not be written."""
        out = self.plan.asked.out
        progress = self.page.progress(ended=True) if self.page and self.interrupted else None
        # As the results themselves say, where the store does not.
        others = None
        with self._told():
            others = under_another_course_file(self.plan.store)
        told = {failure.folder for failure in self.failures}
        try:
            loaded = load_results(out)
            if self.plan.asked.leaderboard:
                leaderboard.begin(out)
            write_class(
                loaded.entries, out, failures=self.failures + [f for f in loaded.failures if f.folder not in told],
                others=others, progress=progress)
        except OSError as error:
            self.failed(f"class page not written: {error.strerror} ({out})")
            return None
        return {entry.folder for entry in loaded.entries}
