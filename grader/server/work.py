"""Grading of the files in a server's queue: a thread gives each lane the next file, and records its attempt."""

from __future__ import annotations

import datetime
import sqlite3
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TypeVar

from grader import temporary
from grader.classroom.attempts.attempt import (
    Attempt,
    hash_of_environment,
    hash_of_rules,
    hash_of_submission,
    hash_of_tests,
)
from grader.classroom.attempts.recording import earlier, record
from grader.classroom.attempts.selected import select_attempts
from grader.classroom.attempts.store import Store
from grader.classroom.attempts.student_files import refresh
from grader.course.course import Course
from grader.course.submission import Submission, with_slugs
from grader.errors import UserError
from grader.grading.job import Job, JobOutcome, draw_seed, read_job
from grader.grading.lanes import Lanes, LanesLostError, OngoingGrading
from grader.grading.whole_class import choose_device
from grader.pages.text import of_points
from grader.results.profile import NO_GPU, KernelProfile
from grader.results.result import Result
from grader.results.verdicts import VERDICTS
from grader.server.queue import FILE, QueuedFile, ServerPerson, ServerQueue, folded

RETRY_SECONDS, END_SECONDS = 5.0, 10.0
PAUSING = 3
"""The queue is paused once the grader has failed on files of so many students in a row."""

T = TypeVar("T")


@dataclass
class ServerGround:
    """The setting of a server's gradings. `speed`: it is measured if there is a GPU. `missing_tools` names those
    of each language that cannot be judged there. `recording` is held while records are written."""

    out: Path
    course: Course
    course_name: str
    names: Sequence[str]
    speed: bool = True
    missing_tools: Mapping[str, str] = field(default_factory=dict)
    recording: threading.Lock = field(default_factory=threading.Lock)
    _naming: threading.Lock = field(default_factory=threading.Lock)
    _folders: dict[str, tuple[str, str]] = field(default_factory=dict)

    def read_folders(self, store: Store) -> None:
        """Read who has which folder of results. Nobody else writes there while a server runs."""
        for attempt in store.attempts():
            self._folders.setdefault(folded(attempt.student), (attempt.student, attempt.slug))

    def folder_of(self, person: ServerPerson) -> tuple[str, str]:
        """Return a person's name in the records, and the folder of results."""
        with self._naming:
            if (folder := self._folders.get(folded(person.name))) is None:
                (place,) = with_slugs([Path(person.name)], self._folders.values())
                folder = self._folders[folded(person.name)] = place.student, place.slug
            return folder


class ServerGrading:
    """The grading of a server, on at most `side_by_side` lanes, which `open_lanes` opens anew after a loss."""

    def __init__(
        self, ground: ServerGround, queue: ServerQueue, open_lanes: Callable[[], Lanes], side_by_side: int,
        failed: Callable[[str], object],
    ) -> None:
        self._ground, self._queue, self._open, self._say_failed = ground, queue, open_lanes, failed
        self._side_by_side = side_by_side
        self._stopping = threading.Event()
        self._lanes: Lanes | None = None
        self._thread = threading.Thread(target=self._run, name="grading", daemon=True)
        self._begun: dict[Submission, tuple[QueuedFile, Attempt]] = {}
        self._failing: set[int] = set()
        self.broken = ""
        """Why nothing can be graded; "" if it can, or the lanes still start."""
        self.device = ""
        """The device, once the lanes have started."""
        self.failures: list[str] = []
        """The newest failures of the grader, each with its time."""

    def failed(self, line: str) -> None:
        """Record a failure of the grader, for staff to read."""
        at = datetime.datetime.now().astimezone().strftime("%H:%M")
        # A step that is tried every few seconds fails in the same words until its cause is mended.
        before = self.failures[:-1] if self.failures and self.failures[-1].endswith(f": {line}") else self.failures
        self.failures = [*before[-99:], f"{at}: {line}"]
        self._say_failed(line)

    def start(self) -> None:
        """Open the lanes, and grade from now on. Raises UserError."""
        self._lanes = self._open()
        self._thread.start()

    def end(self) -> None:
        """End the lanes. Files that they grade wait again when the server starts the next time."""
        self._stopping.set()
        # The thread alone uses the lanes until it has stopped, or hangs, or waits for them to start.
        self._thread.join(END_SECONDS if self.device else 0)
        if self._thread.is_alive() and self._lanes is not None:
            self._lanes.__exit__(KeyboardInterrupt)
            self._thread.join(END_SECONDS)

    def running(self) -> list[OngoingGrading]:
        return self._lanes.running() if self._lanes else []

    def words(self) -> str:
        """Describe the lanes."""
        if self.broken:
            return f"nothing can be graded: {self.broken}"
        lanes = self._lanes.words() if self._lanes else ""
        on = {"": "starting", "cuda": "on GPUs"}.get(self.device, "without a GPU")
        return ", ".join(filter(None, (lanes, on)))

    def _run(self) -> None:
        while not self._stopping.is_set():
            try:
                with self._lanes or self._open() as self._lanes:
                    self._grade(self._lanes)
            except KeyboardInterrupt:
                self._put_back()
            except (LanesLostError, UserError) as error:
                self._put_back()
                self._lost(str(error))
            except Exception as error:
                # These files count as begun once, as after a kill of the server.
                self._begun.clear()
                self._retry(self._queue.recover)
                self._lost(f"{type(error).__name__}: {error}")
            self._lanes = None

    def _lost(self, why: str) -> None:
        if not self._stopping.is_set() and why != self.broken:
            self.failed(f"nothing can be graded: {why}")
        self.broken, self.device = why, ""
        self._stopping.wait(RETRY_SECONDS)

    def _put_back(self) -> None:
        for queued, _ in self._begun.values():
            self._retry(partial(self._queue.put_back, queued.id))
        self._begun.clear()

    def _grade(self, lanes: Lanes) -> None:
        device, environment = choose_device(lanes, "auto", self._ground.names)
        self.device, self.broken = device, ""
        here = hash_of_environment(environment, self._ground.speed and device == "cuda")
        for outcome in lanes.grade(self._jobs(here), self._side_by_side, self._stopping.is_set):
            self._finish(outcome)

    def _retry(self, do: Callable[[], T]) -> T | None:
        """Return the result of `do`, and retry while the queue's file cannot be used, as on a full disk. None if the
        server ends meanwhile."""
        while True:
            try:
                return do()
            except sqlite3.Error as error:
                self.failed(f"the queue cannot be used: {error}; make room, or restore {FILE}")
                if self._stopping.wait(RETRY_SECONDS):
                    return None

    def _jobs(self, environment: str) -> Iterator[Job | None]:
        """Yield a job for each file that waits, and None whenever none does. A file whose answer is known gets it."""
        take = partial(self._queue.take, self._ground.course.submissions.at_once)
        while not self._stopping.is_set():
            while (taken := self._retry(take)) is not None:
                try:
                    job = self._job(*taken, environment)
                except Exception as error:
                    self._end(taken[0], f"{type(error).__name__}: {error}")
                    continue
                if job is not None:
                    yield job
            yield None

    def _job(self, queued: QueuedFile, content: bytes, environment: str) -> Job | None:
        """Return the job of a file; None if its answer is known."""
        ground, name = self._ground, queued.assignment
        student, slug = ground.folder_of(queued.person)
        with temporary.folder("server") as root:
            folder = root / "student"
            folder.mkdir()
            (folder / queued.file).write_bytes(content)
            job = read_job(Submission(student, folder, slug), ground.course, (name,), self.device, ground.speed,
                           draw_seed(), f"kernelmark check {queued.file}", profile=queued.profile)
        draft = Attempt(
            student=student, slug=slug, members=(student,), assignment=name,
            submission=hash_of_submission(job.handed_in.sources[name]), tests=hash_of_tests(name, ground.course),
            environment=environment, rules=hash_of_rules(name, ground.course), submitted_at=queued.received_at)
        with ground.recording, Store.create(ground.out) as store:
            recorded = store.attempts(slug)
            before = next((attempt for attempt in reversed(recorded) if attempt.key == draft.key
                           and attempt.rules == draft.rules and not attempt.failed), None)
            # A profile needs another run.
            answered = before is not None and not (queued.profile and self.device == "cuda")
            if before is not None and answered and (result := store.result(before)) is not None:
                # With equal hand-ins a server was killed after it had recorded this attempt. Otherwise the same bytes
                # were handed in again, and their answer is recorded with the new time.
                if before.hand_in != draft.hand_in:
                    store.add([(before.model_copy(update={
                        "of": before.id, "submitted_at": queued.received_at}), result)])
                    before = store.attempts(slug)[-1]
                for line in refresh(store, ground.out, ground.course.late, slug):
                    self.failed(line)
                self._end(queued, (before, result), KernelProfile(trouble=NO_GPU) if queued.profile else None)
                return None
            selected = list(select_attempts(recorded, store.decisions()).values())
            self._begun[job.submission] = queued, draft
            return replace(job, earlier=earlier(store, selected, {name: draft}))

    def _finish(self, outcome: JobOutcome) -> None:
        queued, draft = self._begun.pop(outcome.submission)
        try:
            self._end(queued, self._recorded(outcome, draft), outcome.profile)
        except Exception as error:
            self._end(queued, f"{type(error).__name__}: {error}")

    def _recorded(self, graded: JobOutcome, draft: Attempt) -> tuple[Attempt, Result] | str:
        """Return the attempt and its result, once they are recorded, or why the grader failed."""
        name = draft.assignment
        with self._ground.recording, Store.create(self._ground.out) as store:
            lines = record(store, self._ground.out, self._ground.course.late, {name: draft}, graded.result, graded.log,
                           graded.error)
            attempts = [attempt for attempt in store.attempts(draft.slug) if attempt.assignment == name]
        if graded.result is None or graded.result.assignments[name].ours or not attempts:
            return (lines or [graded.error or "it was not graded"])[0]
        for line in lines:
            self.failed(line)
        return attempts[-1], graded.result

    def _end(
        self, queued: QueuedFile, outcome: tuple[Attempt, Result] | str, profile: KernelProfile | None = None
    ) -> None:
        """Record a file's outcome: its attempt and result, or why the grader failed; and its profile."""
        if profile is not None:
            self._retry(lambda: self._queue.keep_profile(queued, profile.model_dump_json(), profile.report))
        if isinstance(outcome, str):
            self.failed(f"{queued.person.name}: {queued.assignment}: {outcome}")
            self._retry(lambda: self._queue.finish(queued.id, None, outcome))
            self._failing.add(queued.person.id)
            if len(self._failing) == PAUSING:
                self._retry(lambda: self._queue.set("paused", "1"))
                self.failed(f"the grader failed on files of {PAUSING} students in a row, so the queue is paused; run "
                             "kernelmark doctor, then resume it at the desk")
                self._failing.clear()
            return
        self._failing.clear()
        attempt, result = outcome
        assignment = result.assignments[queued.assignment]
        total = of_points(assignment.score, assignment.measured_max, assignment.max_score)
        said = f"{VERDICTS[assignment.verdict].words}, {total}"
        self._retry(lambda: self._queue.finish(queued.id, attempt.id, said, assignment.verdict))
