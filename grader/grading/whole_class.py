"""The grading of a class from start to end: choice, jobs, progress, pages, failures."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType

from rich.console import Console

from grader import temporary
from grader.classroom.attempts.attempt import hash_of_environment
from grader.classroom.attempts.choice import Choice, Delivery, absent, choose, deliveries
from grader.classroom.attempts.lock import locked, share
from grader.classroom.attempts.recording import earlier, record
from grader.classroom.attempts.selected import SelectedAttempt, select_attempts
from grader.classroom.attempts.store import FOLDER, Store
from grader.classroom.attempts.student_files import notices, refresh, write_class_page
from grader.classroom.intake.manifest import Member
from grader.classroom.intake.people import Register
from grader.console import complain, failed
from grader.course import calibration, catalogue
from grader.course.course import Course
from grader.course.roster import read_roster
from grader.course.submission import Submission, with_slugs
from grader.errors import InfrastructureError, UserError
from grader.grading import gpus, preflight
from grader.grading.gpus import GpuCard
from grader.grading.job import Job, JobOutcome, draw_seed
from grader.grading.lanes import Lanes, LanesLostError, LocalLanes, spare_lanes
from grader.grading.options import GradeOptions
from grader.grading.progress import LivePage, RunState, report_end, shown
from grader.interruption import on_interruption
from grader.pages import leaderboard
from grader.pages.load import Failure
from grader.pages.people import Person, write_people
from grader.results.result import Environment
from grader.sandbox.confine import surroundings
from grader.sandbox.forkserver import isolation
from grader.sandbox.forkserver.isolation import Isolation

AGAIN = " and give the same command again, which skips what is graded"
"""The end of the error about lost lanes; a server grades again by itself."""


MOST_NAMED = 10
"""The most folders that a line names."""


@dataclass(frozen=True)
class GradingPlan:
    """The plan of a grading: what is graded, and how. `started` is when the command began (time.monotonic). `isolation`
    is None for lanes on other machines, which have their own. `owners` are the people of each folder of results.
    `roster` are all people who were to hand in, as far as they are known."""

    started: float
    options: GradeOptions
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
    submissions: list[Submission], course: Course, options: GradeOptions, *, console: Console | None = None,
    far: Callable[[int], Lanes] | None = None,
) -> Iterator[GradingPlan]:
    """Check everything that can be checked before a student's code runs, and choose what to grade. Raises UserError
    and LanesLostError. The lanes end with the block; until then no other process grades into `out`.

    If `console` is a terminal, it shows that lanes are starting, which takes seconds. `far` is a function of the least
    isolation level that opens lanes on other machines.
    """
    started = time.monotonic()
    names, cards = _scope(submissions, course, options, far=far is not None)
    folders = [submission.folder for submission in submissions]
    surroundings.withhold([options.out, *(path for folder in folders for path in (folder, folder.parent))])
    measured = None if far else preflight.least_isolation(options.least_isolation(course))
    with contextlib.ExitStack() as open_:
        store = open_.enter_context(_hold_store(options.out, course.records.group))
        recorded = store.attempts()
        if options.kind != "grade" and not recorded:
            raise UserError(f"--out {options.out}: nothing was graded there yet; run kernelmark grade first")
        selected = list(select_attempts(recorded, store.decisions()).values())
        # Students who already have a folder of results get the same one.
        submissions = with_slugs([submission.folder for submission in submissions],
                                 dict.fromkeys((submission.student, submission.slug) for submission in recorded))
        delivered, missing = deliveries(submissions), absent(submissions)
        owners, roster = _people(delivered, missing, options.roster)
        side_by_side = min(
            options.jobs or (len(submissions) if far else len(os.sched_getaffinity(0))), len(submissions))
        locks = open_.enter_context(temporary.folder("locks"))
        environments = gpus.lanes(cards, locks)[:side_by_side]
        lanes: Lanes
        if far:
            near, lanes = None, open_.enter_context(far(options.least_isolation(course)))
        else:
            # The lanes beyond the GPUs' are used only if the GPUs cannot be.
            without: list[dict[str, str]] = [{}] * (side_by_side - len(environments))
            lanes = near = open_.enter_context(
                LocalLanes(environments + without, measured, spare=spare_lanes(len(environments))))
        with console.status("starting") if console and console.is_terminal else contextlib.nullcontext():
            device, environment = choose_device(lanes, "cuda" if options.gpus else options.device, names)
        warning = preflight.handed_in(submissions, course, names)
        if device == "cuda" and near:
            side_by_side, warning = max(1, len(environments)), warning or gpus.unlike(cards)
        elif near:
            # The GPUs cannot be used, so every processor has a lane.
            near.leave_out_spare()
            warning = warning or (gpus.unused() if options.device == "auto" else "")
        for line in filter(None, (warning, _strangers(owners, roster, options.roster))):
            if console:
                console.print(line, markup=False, soft_wrap=True)
        here = hash_of_environment(environment, options.speed and device == "cuda")
        choice = choose(delivered, names, course, here, recorded, selected, kind=options.kind, force=options.force)
        jobs = _jobs(delivered, course, options, device, choice, store, selected)
        yield GradingPlan(started, options, jobs, lanes, side_by_side, course, measured, store, choice, owners, roster)


def _scope(
    submissions: Sequence[Submission], course: Course, options: GradeOptions, *, far: bool
) -> tuple[list[str], list[GpuCard]]:
    """Return the assignments to grade, and the GPUs of this machine to grade on. Raises UserError."""
    names = course.select(catalogue.files(), options.only, "--only: ")
    preflight.device(options.device)
    here = not far and options.device != "cpu"
    if options.gpus and not here:
        raise UserError(f"--gpus: {'--lanes' if far else '--device cpu'} uses no GPU of this machine; pass one of them")
    cards = gpus.select(options.gpus or "all") if here else []
    preflight.installed()
    preflight.temporary()
    if not far:
        preflight.tools((submission.folder / name for submission in submissions for name in course.counted.present(
            submission.folder, names)), course.languages)
    preflight.results(options.out, submissions, len(names))
    return names, cards


def _people(
    delivered: Mapping[Submission, Delivery], missing: Sequence[Member], roster: Path | None
) -> tuple[dict[str, list[Person]], list[Person]]:
    """Return the people of each folder of results, named as in the roster or else as in the download; and the people
    who were to hand in: all of the roster, or else only those whom an intake found `missing`. Raises UserError."""
    students = read_roster(roster) if roster else []
    register = Register(students, {})
    owners = {}
    for submission, delivery in delivered.items():
        named = delivery.people or [Member(id=submission.student, source_id=submission.student)]
        members = [register.look_up(member) or member for member in named]
        owners[submission.slug] = [Person(id=member.id, name=member.name, section=member.section)
                                   for member in members]
    return owners, [Person(id=student.id, name=student.name, section=student.section)
                    for student in students or missing]


def _strangers(owners: Mapping[str, Sequence[Person]], people: Sequence[Person], roster: Path | None) -> str:
    """Return a line about the folders that nobody in the roster owns; "" if there are none, or no roster was given."""
    ids = {person.id for person in people}
    folders = sorted(folder for folder, members in owners.items()
                     if not ids.intersection(member.id for member in members))
    if not roster or not folders:
        return ""
    return f"Not in {roster}: {', '.join(folders[:MOST_NAMED])}{', …' * (len(folders) > MOST_NAMED)}."


def _jobs(
    delivered: Mapping[Submission, Delivery], course: Course, options: GradeOptions, device: str, choice: Choice,
    store: Store,
    selected: Sequence[SelectedAttempt],
) -> list[Job]:
    """Return a job for each submission with a chosen assignment."""
    speed = options.speed and device == "cuda"
    # All of them, since only a lane knows the name of the device.
    calibrations = calibration.read_folder() if speed else ()
    jobs = []
    for submission, delivery in delivered.items():
        drafts = choice.drafts.get(submission.slug)
        if drafts is None:
            continue
        seed = draw_seed() if options.seed is None else options.seed
        jobs.append(Job(
            submission, choice.handed_in[submission.slug], course, tuple(drafts), device, speed, seed,
            options.repeat_command(submission.folder, device, seed), calibrations,
            earlier(store, selected, drafts) if speed else {}, delivery.problems + delivery.notes,
            sweep=options.sweep and speed))
    return jobs


@contextlib.contextmanager
def _hold_store(out: Path, group: str | None) -> Iterator[Store]:
    """Hold the attempts in `out`, locked for this process alone, and share `out` with the group. Raises UserError."""
    with contextlib.ExitStack() as stack:
        try:
            store = stack.enter_context(Store.create(out))
            if group is not None:
                share(out, out / FOLDER, group)
            stack.enter_context(locked(out / FOLDER))
        except OSError as error:
            raise UserError(f"--out {error.filename or out}: {error.strerror}; choose a writable folder") from None
        yield store


def choose_device(lanes: Lanes, device: str, names: Sequence[str]) -> tuple[str, Environment]:
    """Return the device to grade on, and the environment. The first lane finds both and checks the assignments `names`,
    since this process does not import torch. Raises UserError, LanesLostError."""
    surveyed = lanes.survey(survey, device, names)
    # Check the pages while the lane starts.
    preflight.pages()
    try:
        no_gpu, environment = surveyed.result()
    except InfrastructureError as error:
        raise UserError(f"{error}; run kernelmark doctor") from None
    except BrokenProcessPool:
        raise UserError("no lane could be started; run kernelmark doctor") from None
    if device == "cuda" and no_gpu:
        raise UserError(f"--device cuda: {no_gpu}; run kernelmark doctor, or leave --device out")
    return "cpu" if no_gpu else "cuda", environment


def survey(device: str, names: Sequence[str]) -> tuple[str, Environment]:
    """Return the reason why a lane grades without a GPU ("" if it has one), and its environment. Raises UserError if an
    assignment has a problem, and InfrastructureError if the lane has no fork server."""
    # Late: only lanes import torch. It is imported here, so that the first grading does not wait for it.
    from grader.grading.grading import environment
    from grader.judging.running.device import no_gpu

    preflight.assignments(names)
    without = "not asked for" if device == "cpu" else no_gpu()
    return without, environment("cpu" if without else "cuda")


def grade_class(plan: GradingPlan, console: Console) -> int:
    """Grade a class, and return the number of failures of the grader. A student's files are written once the student is
    graded; the class page is written during the run and at its end, even after an interruption."""
    run = _ClassRun(plan, console, RunState(len(plan.jobs), plan.lanes.running, plan.lanes.words))
    if plan.isolation and plan.isolation.level < isolation.ADVISED:
        complain(f"isolation level {plan.isolation} only: {'; '.join(plan.isolation.missing)}; "
                 "grade only code that you trust")
    # From here on, an interruption keeps finished grades and writes the class page.
    on_interruption(run.interrupt)
    if line := plan.choice.skipped_line():
        console.print(line, markup=False, soft_wrap=True)
    try:
        run.begin()
        with shown(run.watch, console, plan.options.as_json) as report:
            for outcome in plan.lanes.grade(plan.jobs, plan.side_by_side, run.stopped):
                run.add(outcome, report)
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
            complain(line)
            self.failures.append(Failure("", line))

    @contextlib.contextmanager
    def _reporting(self) -> Iterator[None]:
        """Report an error of the store as a failure of the grader. The run goes on after the block."""
        try:
            yield
        except UserError as error:
            self.failed(str(error))

    def begin(self) -> None:
        options = self.plan.options
        with contextlib.suppress(OSError):  # writing the class page reports it
            write_people(options.out, options.names or self.plan.course.page.names, self.plan.owners,
                         self.plan.course.assignments, self.plan.roster)
            if options.leaderboard:
                # Begin it before the first report, which tells its student the pseudonym.
                leaderboard.begin(options.out)
        store, again = self.plan.store, self.plan.choice.again
        with self._reporting():
            if again:
                store.add([(attempt, store.result(attempt)) for attempt in again])
        if self.plan.jobs:
            self.page = LivePage(self.plan.options.out, store, self.plan.course.late, self.watch)

    def add(self, outcome: JobOutcome, report: Callable[[JobOutcome, Sequence[str]], None]) -> None:
        """Record a job's result, write the student's files, and show the progress."""
        slug = outcome.submission.slug
        trouble = record(self.plan.store, self.plan.options.out, self.plan.course.late, self.plan.choice.drafts[slug],
                         outcome.result, outcome.log, outcome.error)
        self.watch.add(outcome)
        report(outcome, trouble)
        for line in trouble:
            complain(line)
        self.failures.extend(failures := [Failure(slug, line) for line in trouble])
        if self.page:
            self.page.add(outcome, failures)

    def end(self) -> None:
        """Write all files that are out of date, even after failures, and print the summary."""
        plan, watch, out = self.plan, self.watch, self.plan.options.out
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
            for line in notices(plan.store, plan.course):
                self.console.print(line, markup=False, soft_wrap=True)
        if plan.options.as_json:
            report_end(
                watch, interrupted=self.interrupted, skipped=dict(plan.choice.skipped), seconds=round(seconds, 3),
                failures=[failure.message for failure in self.failures], page=str(out / "index.html"))

    def _write_class(self) -> set[str] | None:
        """Write the class page and the gradebook from all results in the folder. Return the folders of these results;
        None if the page could not be written."""
        plan, out = self.plan, self.plan.options.out
        progress = self.page.progress(ended=True) if self.page and self.interrupted else None
        try:
            if plan.options.leaderboard:
                leaderboard.begin(out)
            # If the store cannot be read, the results themselves decide.
            for store in (plan.store, None):
                with self._reporting():
                    return write_class_page(store, out, plan.course.late, self.failures, progress)
        except OSError as error:
            self.failed(f"class page not written: {failed(error, out)}")
        return None
