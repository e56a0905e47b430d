"""The grading of a class from start to end: choice, jobs, progress, pages, failures."""

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

from grader.classroom.attempts.attempt import hash_of_environment
from grader.classroom.attempts.choice import Choice, Delivery, absent, choose, deliveries
from grader.classroom.attempts.lock import LockedError, locked
from grader.classroom.attempts.recording import earlier, record
from grader.classroom.attempts.selected import SelectedAttempt, select_attempts
from grader.classroom.attempts.sharing import SharingError, share
from grader.classroom.attempts.store import FOLDER, Store, StoreError
from grader.classroom.attempts.student_files import beside, refresh, under_another_course_file
from grader.classroom.intake.manifest import ManifestError, Member
from grader.classroom.intake.people import Register
from grader.console import failed
from grader.course import calibration, catalogue
from grader.course.calibration import Calibration, CalibrationError
from grader.course.course import Course
from grader.course.roster import RosterError, read_roster
from grader.course.submission import Submission, named
from grader.grading import preflight
from grader.grading.asked import Asked
from grader.grading.gpus import GpuCard, unlike, unused
from grader.grading.gpus import chosen as chosen_gpus
from grader.grading.job import Graded, Job, draw_seed
from grader.grading.lanes import Lanes, LanesLostError, LocalLanes, spare_lanes
from grader.grading.preflight import PlanError
from grader.grading.progress import LivePage, RunState, report_end, shown
from grader.judging.running.lane import on_interruption
from grader.pages import leaderboard
from grader.pages.load import Failure, load_results
from grader.pages.pages import write_class
from grader.pages.people import Person, write_people
from grader.results.mark import Mark
from grader.results.result import Environment
from grader.sandbox.confine import surroundings
from grader.sandbox.forkserver import isolation
from grader.sandbox.forkserver.handle import InfrastructureError
from grader.sandbox.forkserver.isolation import Isolation

AGAIN = " and give the same command again, which skips what is graded"
"""The end of the error about lost lanes; a server grades again by itself."""


@dataclass(frozen=True)
class GradingPlan:
    """The plan of a grading: what is graded, and how. `started` is when the command began (time.monotonic). `isolation`
    is None for lanes on other machines, which have their own. `owners` are the people of each folder of results.
    `roster` are all people who were to hand in, as far as they are known."""

    started: float
    asked: Asked
    jobs: list[Job]
    lanes: Lanes
    side_by_side: int
    course: Course
    isolation: Isolation | None
    store: Store
    choice: Choice
    owners: Mapping[str, Sequence[Person]]
    roster: Sequence[Person]


@contextlib.contextmanager
def planned(
    submissions: list[Submission], course: Course, asked: Asked, *, console: Console | None = None,
    far: Callable[[int], Lanes] | None = None,
) -> Iterator[GradingPlan]:
    """Check everything that can be checked before a student's code runs, and choose what to grade. Raises PlanError,
    StoreError and LanesLostError. The lanes end with the block; until then no other process grades into `out`.

    If `console` is a terminal, it shows that lanes are starting, which takes seconds. `far` is a function of the least
    isolation level that opens lanes on other machines.
    """
    started = time.monotonic()
    names, cards = _scope(submissions, course, asked, far=far is not None)
    folders = [submission.folder for submission in submissions]
    surroundings.withhold([asked.out, *(path for folder in folders for path in (folder, folder.parent))])
    measured = None if far else preflight.least_isolation(asked.level(course))
    # An interruption must also end lanes that are only starting.
    on_interruption(signal.default_int_handler)
    with contextlib.ExitStack() as open_:
        store = open_.enter_context(_opened(asked.out, course.records.group))
        recorded = store.attempts()
        if asked.kind != "grade" and not recorded:
            raise PlanError(f"--out {asked.out}: nothing was graded there yet; run kernelmark grade first")
        selected = list(select_attempts(recorded, store.decisions()).values())
        # Students who already have a folder of results get the same one.
        submissions = named([submission.folder for submission in submissions],
                            dict.fromkeys((submission.student, submission.slug) for submission in recorded))
        delivered, missing = _delivered(submissions)
        owners, roster = _people(delivered, missing, asked.roster)
        side_by_side = min(asked.jobs or (len(submissions) if far else len(os.sched_getaffinity(0))), len(submissions))
        cards = cards[:min(asked.jobs or len(cards), len(submissions))]
        lanes: Lanes
        if far:
            near, lanes = None, open_.enter_context(far(asked.level(course)))
        else:
            lanes = near = open_.enter_context(
                LocalLanes(_places(cards, side_by_side), measured, spare=spare_lanes(len(cards))))
        with console.status("starting") if console and console.is_terminal else contextlib.nullcontext():
            device, environment = choose_device(lanes, "cuda" if asked.gpus else asked.device, names)
        warning = preflight.handed_in(submissions, course, names)
        if device == "cuda" and near:
            side_by_side, warning = max(1, len(cards)), warning or unlike(cards)
        elif near:
            # The GPUs cannot be used, so every processor has a lane.
            near.leave_out_spare()
            warning = warning or (unused() if asked.device == "auto" else "")
        if console and warning:
            console.print(warning, markup=False, soft_wrap=True)
        here = hash_of_environment(environment, asked.speed and device == "cuda")
        choice = choose(delivered, names, course, here, recorded, selected, kind=asked.kind, force=asked.force)
        jobs = _jobs(delivered, course, asked, device, choice, store, selected)
        yield GradingPlan(started, asked, jobs, lanes, side_by_side, course, measured, store, choice, owners, roster)


def _scope(
    submissions: Sequence[Submission], course: Course, asked: Asked, *, far: bool
) -> tuple[list[str], list[GpuCard]]:
    """Return the assignments to grade, and the GPUs of this machine to grade on. Raises PlanError."""
    try:
        names = course.select(catalogue.files(), asked.only)
    except ValueError as error:
        raise PlanError(f"--only: {error}") from None
    preflight.device(asked.device)
    here = not far and asked.device != "cpu"
    if asked.gpus and not here:
        raise PlanError(f"--gpus: {'--lanes' if far else '--device cpu'} uses no GPU of this machine; pass one of them")
    cards = chosen_gpus(asked.gpus or "all") if here else []
    preflight.installed()
    preflight.temporary()
    if not far:
        preflight.tools((submission.folder / name for submission in submissions for name in course.counted.present(
            submission.folder, names)), course.languages)
    preflight.results(asked.out, submissions, len(names))
    return names, cards


def _places(cards: Sequence[GpuCard], lanes: int) -> list[dict[str, str]]:
    """Return the environments of this many lanes, at least one for each GPU."""
    places = [card.environment for card in cards]
    # The lanes beyond the GPUs are used only if the GPUs cannot be: two lanes on one GPU would disturb each other's
    # memory and clock.
    return places + [{}] * (lanes - len(places))


def _delivered(submissions: Sequence[Submission]) -> tuple[dict[Submission, Delivery], list[Member]]:
    """Return the delivery of each submission, and the people who were missing in their intakes. Raises PlanError."""
    try:
        return deliveries(submissions), absent(submissions)
    except ManifestError as error:
        raise PlanError(str(error)) from None


def _people(
    delivered: Mapping[Submission, Delivery], missing: Sequence[Member], roster: Path | None
) -> tuple[dict[str, list[Person]], list[Person]]:
    """Return the people of each folder of results, named as in the roster or else as in the download; and the people
    who were to hand in: all of the roster, or else only those whom an intake found `missing`. Raises PlanError."""
    try:
        students = read_roster(roster) if roster else []
    except RosterError as error:
        raise PlanError(f"--roster {error}") from None
    register = Register(students, {})
    owners = {}
    for submission, delivery in delivered.items():
        named = delivery.people or [Member(id=submission.student, source_id=submission.student)]
        members = [register.known(member) or member for member in named]
        owners[submission.slug] = [Person(id=member.id, name=member.name, section=member.section)
                                   for member in members]
    return owners, [Person(id=student.id, name=student.name, section=student.section)
                    for student in students or missing]


def _jobs(
    delivered: Mapping[Submission, Delivery], course: Course, asked: Asked, device: str, choice: Choice, store: Store,
    selected: Sequence[SelectedAttempt],
) -> list[Job]:
    """Return a job for each submission with a chosen assignment."""
    speed = asked.speed and device == "cuda"
    calibrations = _calibrations() if speed else ()
    jobs = []
    for submission, delivery in delivered.items():
        drafts = choice.drafts.get(submission.slug)
        if drafts is None:
            continue
        seed = draw_seed() if asked.seed is None else asked.seed
        jobs.append(Job(
            submission, choice.handed_in[submission.slug], course, tuple(drafts), device, speed, seed,
            asked.again(submission.folder, device, seed), calibrations,
            earlier(store, selected, drafts) if speed else {}, delivery.problems + delivery.notes,
            sweep=asked.sweep and speed))
    return jobs


@contextlib.contextmanager
def _opened(out: Path, group: str | None) -> Iterator[Store]:
    """Hold the attempts in `out`, locked for this process alone, and share `out` with the group. Raises PlanError."""
    with contextlib.ExitStack() as stack:
        try:
            store = stack.enter_context(Store.create(out))
            if group is not None:
                share(out, out / FOLDER, group)
            stack.enter_context(locked(out / FOLDER))
        except SharingError as error:
            raise PlanError(str(error)) from None
        except LockedError as error:
            raise PlanError(f"--out {error}") from None
        except OSError as error:
            raise PlanError(f"--out {error.filename or out}: {error.strerror}; choose a writable folder") from None
        yield store


def choose_device(lanes: Lanes, asked: str, names: Sequence[str]) -> tuple[str, Environment]:
    """Return the device to grade on, and the environment. The first lane finds both and checks the assignments `names`,
    since this process does not import torch. Raises PlanError, LanesLostError."""
    surveyed = lanes.survey(survey, asked, names)
    # Check the pages while the lane starts.
    preflight.pages()
    try:
        no_gpu, environment = surveyed.result()
    except InfrastructureError as error:
        raise PlanError(f"{error}; run kernelmark doctor") from None
    except BrokenProcessPool:
        raise PlanError("no lane could be started; run kernelmark doctor") from None
    if asked == "cuda" and no_gpu:
        raise PlanError(f"--device cuda: {no_gpu}; run kernelmark doctor, or leave --device out")
    return "cpu" if no_gpu else "cuda", environment


def survey(asked: str, names: Sequence[str]) -> tuple[str, Environment]:
    """Return the reason why a lane grades without a GPU ("" if it has one), and its environment. Raises PlanError if an
    assignment has a problem, and InfrastructureError if the lane has no fork server."""
    # Late: only lanes import torch. It is imported here, so that the first grading does not wait for it.
    from grader.grading.grading import environment
    from grader.judging.running.device import no_gpu

    preflight.assignments(names)
    without = "not asked for" if asked == "cpu" else no_gpu()
    return without, environment("cpu" if without else "cuda")


def _calibrations() -> tuple[Calibration, ...]:
    """Return all calibrations, since only a lane knows the name of the device."""
    try:
        return calibration.read_folder()
    except CalibrationError as error:
        raise PlanError(str(error)) from None


def grade_class(plan: GradingPlan, console: Console, errors: Console) -> int:
    """Grade a class, and return the number of failures of the grader. A student's files are written once the student is
    graded; the class page is written during the run and at its end, even after an interruption."""
    run = _ClassRun(plan, console, errors, RunState(len(plan.jobs), plan.lanes.running, plan.lanes.words))
    if plan.isolation and plan.isolation.level < isolation.ADVISED:
        errors.print(f"kernelmark: isolation level {plan.isolation} only: {'; '.join(plan.isolation.missing)}; "
                     "grade only code that you trust", markup=False)
    # From here on, an interruption keeps finished grades and writes the class page.
    on_interruption(run.interrupt)
    if line := plan.choice.skipped_line():
        console.print(line, markup=False, soft_wrap=True)
    try:
        run.begin()
        with shown(run.watch, console, plan.asked.as_json) as report:
            for graded in plan.lanes.grade(plan.jobs, plan.side_by_side, run.stopped):
                run.add(graded, report)
    except LanesLostError as error:
        run.interrupted = True
        run.failed(f"{error}{AGAIN}")
    finally:
        run.end()
    return len(run.failures)


@dataclass
class _ClassRun:
    """The state of grading a class: failures, progress, and the class page."""

    plan: GradingPlan
    console: Console
    errors: Console
    watch: RunState
    failures: list[Failure] = field(default_factory=list)
    page: LivePage | None = None
    interrupted: bool = False

    def interrupt(self, number: int, frame: FrameType | None) -> None:
        # An exception here could leave a lock of the executor taken for ever.
        self.interrupted = True

    def stopped(self) -> bool:
        if self.page:
            self.page.beat()
        return self.interrupted

    def failed(self, line: str) -> None:
        """Report a failure of the grader, once. Everything else goes on."""
        if line not in [failure.message for failure in self.failures]:
            self.errors.print(f"kernelmark: {line}", markup=False)
            self.failures.append(Failure("", line))

    @contextlib.contextmanager
    def _reporting(self) -> Iterator[None]:
        """Report an error of the store as a failure of the grader. The run goes on after the block."""
        try:
            yield
        except StoreError as error:
            self.failed(str(error))

    def begin(self) -> None:
        asked = self.plan.asked
        with contextlib.suppress(OSError):  # writing the class page reports it
            write_people(asked.out, asked.names or self.plan.course.page.names, self.plan.owners,
                         self.plan.course.assignments, self.plan.roster)
            if asked.leaderboard:
                # Begin it before the first report, which tells its student the pseudonym.
                leaderboard.begin(asked.out)
        store, again = self.plan.store, self.plan.choice.again
        with self._reporting():
            if again:
                store.add([(attempt, store.result(attempt)) for attempt in again])
        if self.plan.jobs:
            self.page = LivePage(self.plan.asked.out, store, self.plan.course.late, self.watch)

    def add(self, graded: Graded, report: Callable[[Graded, Sequence[str]], None]) -> None:
        """Record a job's result, write the student's files, and show the progress."""
        slug = graded.submission.slug
        trouble = record(self.plan.store, self.plan.asked.out, self.plan.course.late, self.plan.choice.drafts[slug],
                         graded.result, graded.log, graded.error)
        self.watch.add(graded)
        report(graded, trouble)
        for line in trouble:
            self.errors.print(f"kernelmark: {line}", markup=False)
        self.failures.extend(failures := [Failure(slug, line) for line in trouble])
        if self.page:
            self.page.add(graded, failures)

    def end(self) -> None:
        """Write all files that are out of date, even after failures, and print the summary."""
        plan, watch, out = self.plan, self.watch, self.plan.asked.out
        with self._reporting():
            # A killed run may have left files out of date, or may have changed how they compare with others.
            for line in refresh(plan.store, out, plan.course.late):
                self.failed(line)
        seconds = time.monotonic() - plan.started
        listed = self._write_class()
        if listed is not None:
            count = f"Interrupted: {watch.done} of {watch.total} graded" if self.interrupted else f"{watch.done} graded"
            self.console.print(f"{count} in {seconds:.0f} s: {out / 'index.html'}", markup=False, soft_wrap=True)
            if before := listed - {job.submission.slug for job in plan.jobs}:
                line = f"The page also lists {len(before)} graded earlier into {out}."
                self.console.print(line, markup=False, soft_wrap=True)
        with self._reporting():
            for line in beside(plan.store, plan.course):
                self.console.print(line, markup=False, soft_wrap=True)
        if plan.asked.as_json:
            report_end(
                watch, interrupted=self.interrupted, skipped=dict(plan.choice.skipped), seconds=round(seconds, 3),
                failures=[failure.message for failure in self.failures], page=str(out / "index.html"))

    def _write_class(self) -> set[str] | None:
        """Write the class page and the gradebook from all results in the folder. Return the folders of these results;
        None if the page could not be written."""
        out = self.plan.asked.out
        progress = self.page.progress(ended=True) if self.page and self.interrupted else None
        # None: if the store cannot be read, the results themselves decide.
        others, marks = None, list[Mark]()
        with self._reporting():
            store, late = self.plan.store, self.plan.course.late
            others, marks = under_another_course_file(store, late), store.marks()
        reported = {failure.folder for failure in self.failures}
        try:
            loaded = load_results(out)
            if self.plan.asked.leaderboard:
                leaderboard.begin(out)
            write_class(
                loaded.entries, out, failures=self.failures + [f for f in loaded.failures if f.folder not in reported],
                others=others, progress=progress, marks=marks)
        except OSError as error:
            self.failed(f"class page not written: {failed(error, out)}")
            return None
        return {entry.folder for entry in loaded.entries}
