"""Grading of the files in a server's queue: a thread for each lane takes the next file, and records its attempt."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

from grader import temporary
from grader.engine.forkserver.isolation import Isolation
from grader.model.course import Course
from grader.model.job import Graded, draw_seed, read_job
from grader.model.result import Result
from grader.model.submission import Submission, named
from grader.model.verdicts import VERDICTS
from grader.records.attempt import Attempt, hash_of_environment, hash_of_rules, hash_of_submission, hash_of_tests
from grader.records.draw import refresh
from grader.records.keep import earlier, keep
from grader.records.standing import standing
from grader.records.store import Store
from grader.report.text import of_points
from grader.run.lanes import LocalLanes
from grader.run.whole_class import choose_device
from grader.server.queue import FILE, QueuedFile, ServerQueue

IDLE_SECONDS, RETRY_SECONDS, END_SECONDS = 1.0, 5.0, 10.0

T = TypeVar("T")


@dataclass(frozen=True)
class ServerGround:
    """Where a server grades: its folder of results, its course, and whether speed is measured where there is a GPU."""

    out: Path
    course: Course
    course_name: str
    names: Sequence[str]
    speed: bool = True


class ServerLane:
    """A lane and its thread. `environment` is that of the lane's process; `sharing` lanes share the processors."""

    def __init__(
        self, name: str, ground: ServerGround, queue: ServerQueue, recording: threading.Lock,
        environment: dict[str, str], measured: Isolation | None, sharing: int, failed: Callable[[str], object],
    ) -> None:
        self.name, self._ground, self._queue, self._failed = name, ground, queue, failed
        self._recording, self._environment, self._measured = recording, environment, measured
        self._sharing = sharing
        self._stopping = threading.Event()
        self._lanes: LocalLanes | None = None
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self.broken = ""
        """Why the lane cannot grade; "" if it can, or still starts."""
        self.device = ""
        """The device, once the lane has started."""

    def start(self) -> None:
        self._lanes = LocalLanes([self._environment], self._measured, sharing=self._sharing)
        self._thread.start()

    def stop(self) -> None:
        """Ask the lane to stop. A file that it grades waits again when the server starts the next time."""
        self._stopping.set()
        with self._queue.changed:
            self._queue.changed.notify_all()

    def end(self) -> None:
        """End the lane's process. The thread alone uses it until it has stopped, or hangs."""
        if self._lanes is not None:
            self._thread.join(END_SECONDS)
            self._lanes.end()
            self._thread.join(END_SECONDS)

    @property
    def at(self) -> str:
        """Return the assignment that is being judged; "" if none is."""
        found = self._lanes.running() if self._lanes else []
        return found[0].assignment if found else ""

    def _run(self) -> None:
        assert self._lanes is not None
        try:
            self.device, environment = choose_device(self._lanes, "auto", self._ground.names)
        except Exception as error:
            if not self._stopping.is_set():
                self.broken = str(error) or type(error).__name__
                self._failed(f"{self.name}: cannot grade: {error}")
            return
        here = hash_of_environment(environment, self._ground.speed and self.device == "cuda")
        while not self._stopping.is_set():
            taken = self._sure(lambda: self._queue.take(self.name))
            if taken is not None:
                self._grade(self._lanes, *taken, here)
                continue
            with self._queue.changed:
                self._queue.changed.wait(IDLE_SECONDS)

    def _sure(self, do: Callable[[], T]) -> T | None:
        """Return what `do` returns, tried again while the queue's file cannot be used, as on a full disk; None if the
        server ends meanwhile."""
        while True:
            try:
                return do()
            except sqlite3.Error as error:
                self._failed(f"{self.name}: the queue cannot be used: {error}; make room, or restore {FILE}")
                if self._stopping.wait(RETRY_SECONDS):
                    return None

    def _grade(self, lanes: LocalLanes, queued: QueuedFile, content: bytes, environment: str) -> None:
        """Grade a file and record its attempt. Whatever goes wrong here is a failure of ours."""
        try:
            found = self._attempt(lanes, queued, content, environment)
        except KeyboardInterrupt:
            self._sure(lambda: self._queue.put_back(queued.id))
            return
        except Exception as error:
            found = f"{type(error).__name__}: {error}"
        if isinstance(found, str):
            self._failed(f"{queued.person.name}: {queued.assignment}: {found}")
            why = found
            self._sure(lambda: self._queue.finish(queued.id, None, why))
            return
        attempt, result = found
        a = result.assignments[queued.assignment]
        said = f"{VERDICTS[a.verdict].words}, {of_points(a.score, a.measured_max, a.max_score)}"
        self._sure(lambda: self._queue.finish(queued.id, attempt.id, said, a.verdict))

    def _attempt(
        self, lanes: LocalLanes, queued: QueuedFile, content: bytes, environment: str
    ) -> tuple[Attempt, Result] | str:
        """Return the attempt and its result, or why the grader failed."""
        ground, name = self._ground, queued.assignment
        with temporary.folder("server") as root:
            folder = root / "student"
            folder.mkdir()
            (folder / queued.file).write_bytes(content)
            with self._recording, Store.create(ground.out) as store:
                recorded = store.attempts()
                stands = list(standing(recorded, store.decisions()).values())
                (place,) = named([Path(queued.person.name)], dict.fromkeys(
                    (one.student, one.slug) for one in recorded))
                place = Submission(queued.person.name, folder, place.slug)
                job = read_job(place, ground.course, (name,), self.device, ground.speed, draw_seed(),
                               f"kernelmark check {queued.file}")
                draft = Attempt(
                    student=place.student, slug=place.slug, members=(place.student,), assignment=name,
                    submission=hash_of_submission(job.handed_in.sources[name]),
                    tests=hash_of_tests(name, ground.course), environment=environment,
                    rules=hash_of_rules(name, ground.course), submitted_at=queued.received_at)
                before = next((one for one in reversed(recorded) if one.slug == place.slug and one.key == draft.key
                               and one.rules == draft.rules and not one.failed), None)
                if before is not None and (result := store.result(before)) is not None:
                    # Equal hand-ins: a server was killed after it had recorded this attempt. Otherwise the same bytes
                    # have an answer, which counts from now on as handed in anew.
                    if before.hand_in != draft.hand_in:
                        store.add([(before.model_copy(update={
                            "of": before.id, "submitted_at": queued.received_at}), result)])
                        before = store.attempts(place.slug)[-1]
                    for line in refresh(store, ground.out, place.slug):
                        self._failed(line)
                    return before, result
                job = replace(job, earlier=earlier(store, stands, {name: draft}))
            (graded,) = lanes.grade([job], 1, self._stopping.is_set)
            return self._recorded(graded, {name: draft})

    def _recorded(self, graded: Graded, drafts: dict[str, Attempt]) -> tuple[Attempt, Result] | str:
        ((name, draft),) = drafts.items()
        with self._recording, Store.create(self._ground.out) as store:
            lines = keep(store, self._ground.out, drafts, graded.result, graded.log, graded.error)
            made = [one for one in store.attempts(draft.slug) if one.assignment == name]
        if graded.result is None or graded.result.assignments[name].ours or not made:
            return (lines or [graded.error or "it was not graded"])[0]
        for line in lines:
            self._failed(line)
        return made[-1], graded.result
