"""The queue of a course server: people, the files that they sent, and the outcome of each. A file is received once
its row is on disk."""

from __future__ import annotations

import contextlib
import datetime
import hashlib
import hmac
import secrets
import sqlite3
import threading
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from grader.errors import UserError

FILE = "server.sqlite3"
VERSION = 3
MOST_TRIES = 2
"""The most gradings of a file whose lane dies."""
_SCHEMA = """
create table people(id integer primary key, name text not null, folded text not null unique, shown text not null,
                    staff integer not null, token blob, made_at text not null);
create table files(sha text primary key, content blob not null);
create table jobs(id integer primary key, person integer not null references people, assignment text not null,
                  file text not null, sha text not null, note text not null, received_at text not null,
                  state text not null, started_at text, ended_at text, lane text not null default '',
                  tries integer not null default 0, why text not null default '', attempt integer,
                  verdict text not null default '');
create index jobs_state on jobs(state);
create index jobs_person on jobs(person, assignment);
create table settings(name text primary key, value text not null);
"""
_SINCE_2 = """
alter table people add column last text not null default '';
alter table jobs drop column lane;
alter table jobs add column profile integer not null default 0;
create index jobs_sha on jobs(sha);
create index jobs_attempt on jobs(attempt);
create table profiles(job integer primary key references jobs, head text not null, report blob);
pragma user_version = 3;
"""

State = Literal["waiting", "started", "finished", "failed", "cancelled"]
"""The state of a file. "failed": the grader failed, which costs nothing and may be tried again."""
OVER = ("finished", "failed", "cancelled")



class TooManyError(Exception):
    """More files of an assignment than a student may send in 24 hours. The oldest that counts came at `sent`."""

    def __init__(self, per_day: int, assignment: str, sent: str) -> None:
        free = datetime.datetime.fromisoformat(sent) + datetime.timedelta(days=1)
        super().__init__(f"You may send {per_day} files of {assignment} in 24 hours; send the next one after "
                         f"{free.isoformat(timespec='minutes')}.")


@dataclass(frozen=True)
class ServerPerson:
    """Somebody who may use the server. `name` is the student's id, and the name of the student's folder."""

    id: int
    name: str
    shown: str
    staff: bool


@dataclass(frozen=True)
class QueuedFile:
    """A file that was received. `attempt` is the number of its attempt in the records, `verdict` the attempt's. `why`
    says how it ended: its points, why it was cancelled, or why the grader failed. `profile`: it is to be profiled.
    Times are ISO 8601, UTC."""

    id: int
    person: ServerPerson
    assignment: str
    file: str
    sha: str
    note: str
    received_at: str
    state: State
    started_at: str | None
    ended_at: str | None
    tries: int
    why: str
    attempt: int | None
    verdict: str
    profile: bool

    @property
    def over(self) -> bool:
        return self.state in OVER


def now() -> str:
    return datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")


def folded(name: str) -> str:
    """Return a name without differences of case and of spelling in Unicode."""
    return unicodedata.normalize("NFKC", name).casefold()


def _hash(token: str) -> bytes:
    # A token has 256 random bits, so that a fast hash will do.
    return hashlib.sha256(token.encode("utf-8", "replace")).digest()


class ServerQueue:
    """The queue in a folder, for one process and all its threads. Raises UserError if the file cannot be used."""

    def __init__(self, folder: Path) -> None:
        self._lock = threading.RLock()
        self.changed = threading.Condition(self._lock)
        """Notified of every change of a file's state."""
        self.version = 0
        """The number of changes so far."""
        self._places: tuple[int, dict[int, tuple[int, int, str]]] = -1, {}
        """The files that wait, in their order, each with place, person and assignment, as of a version: every open page
        asks for places after every change."""
        path = folder / FILE
        try:
            path.touch(mode=0o600)
            self._db = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
            # A row that is committed survives a loss of power.
            self._db.executescript("pragma journal_mode = wal; pragma synchronous = full; pragma foreign_keys = on;")
            (version,) = self._db.execute("pragma user_version").fetchone()
            if version in (0, 2):
                self._db.executescript(f"begin exclusive; {_SCHEMA if version == 0 else ''} {_SINCE_2} commit;")
            elif version != VERSION:
                raise UserError(f"{path}: a queue of version {version}, not {VERSION}; use the version of kernelmark "
                                 "that wrote it, or serve into a new folder")
        except (sqlite3.Error, OSError) as error:
            raise UserError(f"{path}: {error}; restore the file, or serve into a new folder") from None

    def close(self) -> None:
        with self._lock:
            self._db.close()

    @contextlib.contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        with self._lock:
            self._db.execute("begin immediate")
            try:
                yield self._db
            except BaseException:
                # On a full disk SQLite has rolled back by itself.
                if self._db.in_transaction:
                    self._db.execute("rollback")
                raise
            self._db.execute("commit")
            self.version += 1
            self.changed.notify_all()

    # People.

    def admit(self, people: Iterable[tuple[str, str, bool]]) -> list[tuple[str, str]]:
        """Give each (name, shown, staff) a new token, which replaces an earlier one, and return (name, token). Raises
        UserError, and admits nobody, if two names are equal, or differ in case or spelling alone."""
        made = [(name, shown, staff, secrets.token_urlsafe(32)) for name, shown, staff in people]
        seen: dict[str, str] = {}
        with self._writing() as db:
            for name, shown, staff, token in made:
                row = db.execute("select name from people where folded = ?", (folded(name),)).fetchone()
                taken = seen.get(folded(name)) or (row[0] if row and row[0] != name else None)
                if taken is not None:
                    raise UserError(f"{name!a} and {taken!a} are too alike; give one of them another id")
                seen[folded(name)] = name
                db.execute(
                    "insert into people(name, folded, shown, staff, token, made_at) values (?, ?, ?, ?, ?, ?) "
                    "on conflict(folded) do update set shown = excluded.shown, staff = excluded.staff, "
                    "token = excluded.token, made_at = excluded.made_at",
                    (name, folded(name), shown, staff, _hash(token), now()))
        return [(name, token) for name, _, _, token in made]

    def unknown(self, names: Sequence[str]) -> list[str]:
        """Return the names that nobody has."""
        with self._lock:
            return [name for name in names if not self._db.execute(
                "select 1 from people where folded = ?", (folded(name),)).fetchone()]

    def revoke(self, names: Sequence[str]) -> None:
        """Take the tokens of these people away."""
        with self._writing() as db:
            db.executemany("update people set token = null where folded = ?", [(folded(name),) for name in names])

    def people(self) -> list[tuple[ServerPerson, bool, str]]:
        """Return everybody, whether they have a token, and since when."""
        with self._lock:
            return [(ServerPerson(id_, name, shown, bool(staff)), token is not None, made) for
                    id_, name, shown, staff, token, made in self._db.execute(
                        "select id, name, shown, staff, token, made_at from people order by name")]

    def person_of(self, token: str) -> ServerPerson | None:
        """Return the person with this token; None if nobody has it."""
        wanted = _hash(token)
        with self._lock:
            row = self._db.execute("select id, name, shown, staff, token from people where token = ?",
                                   (wanted,)).fetchone()
        if row is None or not hmac.compare_digest(row[4], wanted):
            return None
        id_, name, shown, staff, _ = row
        return ServerPerson(id_, name, shown, bool(staff))

    def person_named(self, name: str) -> ServerPerson | None:
        """Return the person with this name; None if there is none, or the person's link was revoked."""
        with self._lock:
            row = self._db.execute("select id, name, shown, staff from people where folded = ? and token is not null",
                                   (folded(name),)).fetchone()
        return None if row is None else ServerPerson(row[0], row[1], row[2], bool(row[3]))

    # Files.

    def receive(
        self, person: ServerPerson, assignment: str, file: str, content: bytes, note: str = "", *, per_day: int = 0,
        profile: bool = False,
    ) -> int:
        """Record a file and return its number. It takes the place of one of the same assignment that waits. Raises
        TooManyError if `per_day` others were judged in 24 hours, or are being judged."""
        sha = hashlib.sha256(content).hexdigest()
        with self._writing() as db:
            if per_day and len(sent := self._day(person, assignment)) >= per_day:
                raise TooManyError(per_day, assignment, sent[-per_day])
            self._cancel(db, "a newer file took its place", "person = ? and assignment = ?", person.id, assignment)
            db.execute("insert or ignore into files(sha, content) values (?, ?)", (sha, content))
            cursor = db.execute(
                "insert into jobs(person, assignment, file, sha, note, received_at, state, profile) "
                "values (?, ?, ?, ?, ?, ?, 'waiting', ?)", (person.id, assignment, file, sha, note, now(), profile))
            return cursor.lastrowid or 0

    def take(self, at_once: int = 1) -> tuple[QueuedFile, bytes] | None:
        """Start the next file and return it with its contents; None if none waits, or the queue is paused. Students
        take turns, and have `at_once` files at a time in work, one of an assignment."""
        with self._lock:
            if self.setting("paused"):
                return None
            started = self._db.execute("select person, assignment from jobs where state = 'started'").fetchall()
            busy = Counter(person for person, _ in started)
            chosen = next((number for number, (_, *whose) in self._ordered().items()
                           if busy[whose[0]] < at_once and tuple(whose) not in started), None)
            if chosen is None:
                # Nothing changes, so nobody is woken.
                return None
            with self._writing() as db:
                db.execute("update jobs set state = 'started', started_at = ?, tries = tries + 1 where id = ?",
                           (now(), chosen))
                # A number and no time: clocks jump.
                db.execute("update people set last = (select printf('%015d', 1 + max(cast(last as integer))) from "
                           "people where last not like '%-%') where id = (select person from jobs where id = ?)",
                           (chosen,))
                (content,) = db.execute("select content from files join jobs using (sha) where id = ?",
                                        (chosen,)).fetchone()
            job = self.job(chosen)
            assert job is not None
            return job, content

    def put_back(self, number: int) -> None:
        """Put a file back into the queue whose grading ended with the server; that grading is no try."""
        with self._writing() as db:
            db.execute("update jobs set state = 'waiting', started_at = null, tries = tries - 1 "
                       "where id = ? and state = 'started'", (number,))

    def finish(self, number: int, attempt: int | None, why: str, verdict: str = "") -> None:
        """Record the end of a file's grading: its attempt and its outcome, or why the grader failed."""
        with self._writing() as db:
            state = "failed" if attempt is None else "finished"
            db.execute(
                "update jobs set state = ?, ended_at = ?, attempt = ?, why = ?, verdict = ? where id = ? and "
                "state = 'started'", (state, now(), attempt, why, verdict, number))

    def _day(self, person: ServerPerson, assignment: str) -> list[str]:
        """Return when a person sent the files of an assignment that were received within 24 hours and judged, or are
        being judged, the oldest first."""
        since = datetime.datetime.now(datetime.UTC) - datetime.timedelta(days=1)
        # A clock that was ahead for a while must not lock anybody out until then.
        return [at for (at,) in self._db.execute(
            "select received_at from jobs where person = ? and assignment = ? and received_at between ? and ? and "
            "state in ('started', 'finished') order by id",
            (person.id, assignment, since.isoformat(timespec="seconds"), now()))]

    def keep_profile(self, job: QueuedFile, head: str, report: bytes) -> None:
        """Store a file's profile as JSON, and its report. The newest of a person's reports on an assignment is kept."""
        with self._writing() as db:
            if report:
                db.execute("update profiles set report = null where job in (select id from jobs where person = ? and "
                           "assignment = ?)", (job.person.id, job.assignment))
            db.execute("insert or replace into profiles(job, head, report) values (?, ?, ?)",
                       (job.id, head, report or None))

    def profile(self, number: int) -> tuple[str, bytes] | None:
        """Return a file's profile as JSON, and its report, b"" if none is kept; None if there is no profile."""
        with self._lock:
            row = self._db.execute("select head, report from profiles where job = ?", (number,)).fetchone()
            return None if row is None else (row[0], row[1] or b"")

    def cancel(self, number: int, why: str) -> bool:
        """Cancel a file that waits, and return whether it did."""
        with self._writing() as db:
            return self._cancel(db, why, "id = ?", number)

    def _cancel(self, db: sqlite3.Connection, why: str, where: str, *values: object) -> bool:
        """Cancel files that wait, and delete contents that nobody needs any more. Return whether there were any."""
        gone = db.execute("update jobs set state = 'cancelled', ended_at = ?, why = ? where state = 'waiting' and "
                          f"{where} returning sha", (now(), why, *values)).fetchall()
        db.executemany("delete from files where sha = ? and not exists (select 1 from jobs where jobs.sha = files.sha "
                       "and state != 'cancelled')", gone)
        return bool(gone)

    def requeue(self, number: int) -> bool:
        """Put a file on which the grader failed into the queue again, with the time at which it was received.
        Returns whether that was done: a newer file of the same assignment makes it needless."""
        with self._writing() as db:
            return db.execute(
                "update jobs set state = 'waiting', started_at = null, ended_at = null, tries = 0, why = '' "
                "where id = ? and state = 'failed' and not exists (select 1 from jobs as newer where "
                "newer.id > jobs.id and newer.person = jobs.person and newer.assignment = jobs.assignment and "
                "newer.state != 'cancelled')",
                (number,)).rowcount > 0

    def recover(self) -> int:
        """Put files that a killed server had started into the queue again, and return their number. After MOST_TRIES
        the grader has failed on them."""
        with self._writing() as db:
            db.execute("update jobs set state = 'failed', ended_at = ?, why = 'its grading was lost twice' "
                       "where state = 'started' and tries >= ?", (now(), MOST_TRIES))
            return db.execute(
                "update jobs set state = 'waiting', started_at = null where state = 'started'").rowcount

    def job(self, number: int) -> QueuedFile | None:
        return next(self._jobs("jobs.id = ?", (number,)), None)

    def jobs(self, person: ServerPerson | None = None, *, most: int = 200) -> list[QueuedFile]:
        """Return the newest files, of one person or of all, the newest first."""
        condition, values = ("1", ()) if person is None else ("person = ?", (person.id,))
        return list(self._jobs(f"{condition} order by jobs.id desc limit ?", (*values, most)))

    def content(self, attempt: int) -> bytes | None:
        """Return the file of an attempt; None if it did not come through this server."""
        with self._lock:
            row = self._db.execute("select content from files join jobs using (sha) where attempt = ?",
                                   (attempt,)).fetchone()
        return bytes(row[0]) if row else None

    def waiting(self) -> list[QueuedFile]:
        """Return the files that wait, in the order in which they will be started."""
        with self._lock:
            jobs = {job.id: job for job in self._jobs("state = 'waiting'", ())}
            return [jobs[number] for number in self._ordered()]

    def started(self) -> list[QueuedFile]:
        return list(self._jobs("state = 'started' order by jobs.started_at", ()))

    def place(self, number: int) -> int:
        """Return a file's place among the waiting files, from 1 on; 0 if it does not wait."""
        with self._lock:
            return self._ordered().get(number, (0,))[0]

    def counts(self) -> dict[str, int]:
        with self._lock:
            return dict(self._db.execute("select state, count(*) from jobs group by state"))

    def setting(self, name: str) -> str:
        with self._lock:
            row = self._db.execute("select value from settings where name = ?", (name,)).fetchone()
            return str(row[0]) if row else ""

    def set(self, name: str, value: str) -> None:
        with self._writing() as db:
            db.execute("insert or replace into settings(name, value) values (?, ?)", (name, value))

    def _ordered(self) -> dict[int, tuple[int, int, str]]:
        """Return place, person and assignment of each file that waits: everybody's first file before anybody's
        second, and those first who have waited longest since a file of theirs was started."""
        if self._places[0] != self.version:
            seen: dict[int, int] = {}
            keys = []
            for number, person, assignment, last in self._db.execute(
                    "select jobs.id, person, assignment, last from jobs join people on people.id = person "
                    "where state = 'waiting' order by jobs.id"):
                seen[person] = seen.get(person, 0) + 1
                keys.append((seen[person], last, number, person, assignment))
            self._places = self.version, {
                number: (place, *whose) for place, (_, _, number, *whose) in enumerate(sorted(keys), start=1)}
        return self._places[1]

    def _jobs(self, where: str, values: tuple[object, ...]) -> Iterator[QueuedFile]:
        with self._lock:
            rows = self._db.execute(
                "select jobs.id, people.id, name, shown, staff, assignment, file, sha, note, received_at, state, "
                "started_at, ended_at, tries, why, attempt, verdict, profile from jobs join people on people.id = "
                f"person where {where}", values).fetchall()
        for id_, person, name, shown, staff, *rest in rows:
            yield QueuedFile(id_, ServerPerson(person, name, shown, bool(staff)), *rest)
