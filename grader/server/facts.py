"""The facts behind a server's pages: files on their way, attempts in the records, lanes, the class."""

from __future__ import annotations

import datetime
import difflib
import mimetypes
import shutil
import time
from collections.abc import Sequence
from importlib import metadata
from pathlib import Path
from typing import Any

from grader import languages
from grader.classroom.attempts.attempt import Attempt
from grader.classroom.attempts.policy import GradeLine, grade
from grader.classroom.attempts.selected import SelectedAttempt, select_attempts
from grader.classroom.attempts.store import Decision, Store
from grader.classroom.attempts.student_files import refresh, write_class_page
from grader.console import failed
from grader.course.forms import file_of
from grader.pages.pages import student_page
from grader.pages.people import Person, made_key, pseudonym, shown_people, write_people
from grader.pages.speed import measured
from grader.pages.text import of_points
from grader.results.hidden import for_student
from grader.results.profile import KernelProfile
from grader.results.result import AssignmentResult, Result
from grader.results.text import clean
from grader.results.verdicts import VERDICTS
from grader.server.queue import QueuedFile, ServerPerson, ServerQueue, folded
from grader.server.work import ServerGrading, ServerGround

LEAST_FREE = 256 << 20
"""Bytes that have to be free on the disk before a file is received."""
MOST_SHOWN, MOST_LOGGED = 100, 2_000
"""The most attempts on a page, and in a work log as Markdown."""
MOST_COMPARED = 1_000
"""The most lines of each of two files that are compared."""
CLASS_SECONDS = 5.0
"""The age at which the class page is written anew before it is shown."""
CLASS_FILES = {".html", ".csv", ".json", ".png", ".svg"}


class ServerFacts:
    """The facts of a server."""

    def __init__(self, ground: ServerGround, queue: ServerQueue, grading: ServerGrading) -> None:
        self.ground, self.queue, self.grading = ground, queue, grading
        self.version = metadata.version("kernelmark")
        self.most_bytes = ground.course.source_bytes
        self.files = {name: assignment for assignment in ground.names
                      for name in ground.course.counted.files(file_of(assignment))}
        """The files that the server takes, by name, with their assignments."""
        self.title = ground.course_name
        self._written = 0.0
        self._ranks: dict[str, tuple[tuple[int, int], dict[str, tuple[float, float | None]]]] = {}

    def health(self) -> dict[str, Any]:
        counts = self.queue.counts()
        return {"grading": not self.grading.broken,
                **{state: counts.get(state, 0) for state in ("waiting", "started")}}

    # A file on its way.

    def state(self, job: QueuedFile, whole: bool = False) -> dict[str, Any]:
        """Return a file's state for its owner; with `whole` also its result, once there is one."""
        state: dict[str, Any] = {
            "id": job.id, "assignment": job.assignment, "file": job.file, "state": job.state,
            # It may have been started meanwhile.
            "place": max(1, self.queue.place(job.id)) if job.state == "waiting" else 0,
            "device": self.grading.device, "received_at": job.received_at, "started_at": job.started_at,
            "ended_at": job.ended_at, "paused": bool(self.queue.setting("paused")),
            "broken": bool(self.grading.broken)}
        # Why the grader failed is for staff alone: it may speak of a hidden case.
        state |= {"said": _state_in_words(state, "" if job.state == "failed" else job.why), "attempt": job.attempt,
                  "verdict": job.verdict}
        if whole and job.attempt is not None and (known := self._attempt(job.person, job.attempt)) is not None:
            state["result"] = known[1].model_dump(mode="json", by_alias=True)
            state["profile"] = (self.queue.profile(job.id) or (None,))[0]
        return state

    def listed(self, person: ServerPerson) -> list[dict[str, Any]]:
        """Return the states of a person's files, the newest first, each with whether its attempt counts."""
        own, lines = self._attempts_and_grades(person)
        hand_ins = {hand_in.id: hand_in.hand_in for hand_in in own}
        counting = {line.attempt.hand_in for line in lines.values() if line.attempt}
        return [self.state(job) | {"counts": hand_ins.get(job.attempt or 0) in counting}
                for job in self.queue.jobs(person)]

    def refused(self, assignment: str, name: str, content: bytes) -> str:
        """Return why a person may not send this file of an assignment now; "" if they may."""
        language = languages.by_content(name, content)
        if language.name in self.ground.missing_tools:
            return f"This server cannot judge {language.title}; ask your course."
        if shutil.disk_usage(self.ground.out).free < LEAST_FREE:
            return "The server's disk is full; tell your course, and try again later."
        if closed := self.closed_since(assignment):
            return f"{assignment} closed at {closed}; ask your course."
        return ""

    def closed_since(self, assignment: str) -> str:
        """Return when an assignment was closed; "" if it is open."""
        closes = self.ground.course.submissions.closes.get(assignment)
        over = closes is not None and datetime.datetime.now(datetime.UTC) > closes
        return closes.isoformat(timespec="minutes") if closes is not None and over else ""

    # Attempts in the records.

    def _attempt(self, person: ServerPerson, number: int) -> tuple[Attempt, Result] | None:
        """Return a person's own attempt, with the part of its result that the person may see."""
        with Store.create(self.ground.out) as store:
            attempt = store.attempt(number)
            if attempt is None or folded(attempt.student) != folded(person.name):
                return None
            result = store.result(attempt)
        return None if result is None else (attempt, for_student(result))

    def _heads(self, store: Store, person: ServerPerson) -> list[Attempt]:
        """Return a person's attempts, the oldest first."""
        return store.attempts(self.ground.folder_of(person)[1])

    def _attempts(
        self, person: ServerPerson, assignment: str = "", *, most: int = MOST_SHOWN
    ) -> list[tuple[Attempt, AssignmentResult]]:
        """Return a person's newest attempts, the oldest first, each with its result."""
        with Store.create(self.ground.out) as store:
            heads = [attempt for attempt in self._heads(store, person) if assignment in ("", attempt.assignment)]
            results = [(attempt, store.result(attempt)) for attempt in heads[-most:]]
        return [(attempt, for_student(result).assignments[attempt.assignment])
                for attempt, result in results if result is not None]

    def _notes(self, person: ServerPerson) -> dict[int, str]:
        """Return the notes that were sent along, by attempt."""
        return {job.attempt: job.note for job in self.queue.jobs(person, most=MOST_LOGGED) if job.attempt}

    def profile(self, job: QueuedFile) -> tuple[KernelProfile, bytes] | None:
        """Return the profile of a file, and its report, b"" if there is none."""
        stored = self.queue.profile(job.id)
        return None if stored is None else (KernelProfile.model_validate_json(stored[0]), stored[1])

    def home(self, person: ServerPerson) -> dict[str, Any]:
        jobs = self.queue.jobs(person, most=20)
        own, lines = self._attempts_and_grades(person)
        return {"jobs": [(job, self.state(job)) for job in jobs], "files": self.files, "lines": lines,
                "names": self.ground.names, "counts": {name: sum(attempt.assignment == name for attempt in own)
                                                       for name in self.ground.names},
                "most": self.most_bytes // 1024,
                "endings": ",".join(sorted({Path(name).suffix for name in self.files}))}

    def _attempts_and_grades(self, person: ServerPerson) -> tuple[list[Attempt], dict[str, GradeLine]]:
        """Return a person's attempts, the oldest first, and the grades, by assignment."""
        with Store.create(self.ground.out) as store:
            own = self._heads(store, person)
            return own, self._counting(person.name, own, store.decisions())

    def _counting(self, name: str, own: Sequence[Attempt], decisions: Sequence[Decision]) -> dict[str, GradeLine]:
        """Return a person's grades by assignment: which attempt counts, and its points, late work considered."""
        work: dict[str, list[SelectedAttempt]] = {}
        for hand_in in select_attempts(own, decisions).values():
            work.setdefault(hand_in.attempt.assignment, []).append(hand_in)
        most = {assignment: self.ground.course.points_of(assignment).max_score for assignment in self.ground.names}
        return {line.assignment: line for line in grade(name, work, None, self.ground.course.late, most, {}).lines}

    def choose(self, person: ServerPerson, number: int) -> str:
        """Let a person's own attempt count from now on. Return its assignment; "" if that cannot be done."""
        with self.ground.recording, Store.create(self.ground.out) as store:
            heads = self._heads(store, person)
            attempt = next((attempt for attempt in heads if attempt.id == number and attempt.judged), None)
            if attempt is None or self.ground.course.late.count != "chosen" or self.closed_since(attempt.assignment):
                return ""
            store.choose(attempt)
            for line in refresh(store, self.ground.out, self.ground.course.late, attempt.slug):
                self.grading.failed(line)
        return attempt.assignment

    def history(self, person: ServerPerson, assignment: str) -> dict[str, Any]:
        own = self._attempts(person, assignment)
        heads, lines = self._attempts_and_grades(person)
        notes = self._notes(person)
        points = [(attempt.score / attempt.max_score if attempt.max_score else 0.0) for attempt, _ in own]
        return {"assignment": assignment, "attempts": own, "notes": notes, "points": points, "line": lines[assignment],
                "total": sum(attempt.assignment == assignment for attempt in heads),
                "count": self.ground.course.late.count, "closed": self.closed_since(assignment),
                "ratios": {attempt.id: result.performance.speedup.median for attempt, result in own
                           if measured(result) and result.performance.speedup}}

    def report(self, person: ServerPerson, number: int) -> str | None:
        """Return the page of a person's own attempt."""
        own = self._attempt(person, number)
        return None if own is None else student_page(
            own[1], home=f"/kernel/{own[0].assignment}", back="attempts")

    def text_of(self, person: ServerPerson, number: int) -> str | None:
        own = self._attempt(person, number)
        if own is None:
            return None
        sent = self.queue.content(number)
        return own[1].assignments[own[0].assignment].source if sent is None else sent.decode("utf-8", "replace")

    def log(self, person: ServerPerson, *, most: int = MOST_SHOWN) -> list[tuple[Attempt, AssignmentResult, str]]:
        """Return the work log: the newest attempts, each with the note that was sent along."""
        notes = self._notes(person)
        return [(attempt, result, notes.get(attempt.id, "")) for attempt, result in self._attempts(person, most=most)]

    def log_text(self, person: ServerPerson) -> str:
        lines = [f"# Work log of {person.name}", ""]
        for attempt, result, note in self.log(person, most=MOST_LOGGED):
            lines += [f"## {attempt.assignment}, attempt {attempt.id}, {attempt.submitted_at or ''}", "",
                      f"{VERDICTS[attempt.verdict].words}, "
                      f"{of_points(result.score, result.measured_max, result.max_score)}. {result.message}", ""]
            lines += [f"> {line}" for line in note.splitlines()] + [""] * bool(note)
        return "\n".join(lines)

    def leaderboard(self, person: ServerPerson, assignment: str) -> dict[str, Any]:
        """Return the class's attempts that count and are right, under pseudonyms, by speed or else by points."""
        key = made_key(self.ground.out)
        with Store.create(self.ground.out) as store:
            decisions = store.decisions()
            ranked = {slug: self._counted_points(store, slug, (newest, len(decisions)), decisions).get(assignment)
                      for slug, newest in store.newest().items()}
        mine = self.ground.folder_of(person)[1]
        rows = [(pseudonym(key, slug), *rank, slug == mine) for slug, rank in ranked.items() if rank is not None]
        rows.sort(key=lambda row: (-(row[2] or 0), -row[1], row[0]))
        return {"assignment": assignment, "rows": rows}

    def _counted_points(
        self, store: Store, slug: str, state: tuple[int, int], decisions: Sequence[Decision]
    ) -> dict[str, tuple[float, float | None]]:
        """Return points and speed of a folder's attempts that count and are right, by assignment. They are read anew
        when the `state` of its attempts has changed."""
        if self._ranks.get(slug, ((0, 0), {}))[0] != state:
            own, right = store.attempts(slug), dict[str, tuple[float, float | None]]()
            for name, line in self._counting(own[0].student, own, decisions).items():
                if line.attempt and line.attempt.verdict == "accepted" and (result := store.result(line.attempt)):
                    assignment = result.assignments[name]
                    right[name] = assignment.score, assignment.performance.speedup.median if measured(
                        assignment) and assignment.performance.speedup else None
            self._ranks[slug] = state, right
        return self._ranks[slug][1]

    # For staff.

    def desk(self) -> dict[str, Any]:
        return {"waiting": self.queue.waiting(), "started": self.queue.started(), "recent": self.queue.jobs(most=50),
                "lanes": self.grading.words(), "at": self.grading.running(), "counts": self.queue.counts(),
                "paused": bool(self.queue.setting("paused")), "failures": self.grading.failures[::-1],
                "people": self.queue.people()}

    def do(self, what: str, number: str) -> bool:
        """Do what staff asks for, and return whether it was done."""
        job = int(number) if number.isdecimal() and len(number) < 16 else 0
        if what in ("pause", "resume"):
            self.queue.set("paused", "1" if what == "pause" else "")
            return True
        if what == "cancel":
            return self.queue.cancel(job, "the course cancelled it")
        return what == "again" and self.queue.requeue(job)

    def class_file(self, path: str) -> tuple[bytes, str] | None:
        """Return a file of the class's pages and its type, written anew if it is older than CLASS_SECONDS; None if
        there is none."""
        self._write_class()
        root = self.ground.out.resolve()
        try:
            file = (root / (path or "index.html")).resolve()
            hidden = any(part.startswith(".") for part in Path(path).parts)
            if hidden or file.suffix not in CLASS_FILES or not file.is_relative_to(root) or not file.is_file():
                return None
            return file.read_bytes(), mimetypes.guess_type(file.name)[0] or "application/octet-stream"
        except (OSError, ValueError):
            return None

    def _write_class(self) -> None:
        with self.ground.recording:
            if time.monotonic() - self._written < CLASS_SECONDS and (self.ground.out / "index.html").is_file():
                return
            self._written = time.monotonic()
            try:
                with Store.create(self.ground.out) as store:
                    self._write_people(store)
                    write_class_page(store, self.ground.out, self.ground.course.late)
            except OSError as error:
                self.grading.failed(f"class page not written: {failed(error, self.ground.out)}")


    def _write_people(self, store: Store) -> None:
        """Write the names of those who have a link, for the class page. Names from a grading with a roster stay."""
        before, graded = shown_people(self.ground.out)[0], store.newest()
        people = {self.ground.folder_of(person)[1]: Person(id=person.name, name=person.shown)
                  for person, _, _ in self.queue.people() if not person.staff}
        folders = {slug: [person] for slug, person in people.items() if slug in graded and slug not in before.folders}
        course = self.ground.course
        write_people(self.ground.out, course.page.names, folders, course.assignments,
                     before.roster or list(people.values()))


def _state_in_words(state: dict[str, Any], why: str) -> str:
    """Return a file's state in words."""
    match state["state"]:
        case "waiting":
            held = ", which is paused" * state["paused"] or ", while the grader is repaired" * state["broken"]
            return f"number {state['place']} in the queue{held}"
        case "started":
            on = "on a GPU" if state["device"] == "cuda" else "without a GPU"
            return f"being judged {on}"
        case "failed":
            return "the grader failed, which costs nothing; your course can have it judged again"
        case "cancelled":
            return f"cancelled: {why}"
    return why


def difference(old: str, new: str) -> list[str]:
    """Return the lines of a unified difference; of long texts, only the lines that can be compared quickly."""
    before, after = (text.splitlines()[:MOST_COMPARED] for text in (old, new))
    lines = list(difflib.unified_diff(before, after, lineterm=""))[2:]
    return [clean(line, 400) for line in lines]
