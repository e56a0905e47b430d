"""The store of attempts, decisions and marks: an SQLite file in the folder of results. Rows are added and never
changed.

Measured at 300 students × 20 assignments, against one file for each attempt: SQLite reads all heads in 0.04 s (files:
1.6 s) and writes all records in 2.2 s (files, each synced: 9.3 s). A transaction is complete or absent after kill -9
and on a full disk, and triggers refuse any change or deletion of a row.
"""

from __future__ import annotations

import contextlib
import datetime
import json
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple, Self
from urllib.parse import quote

from pydantic import ValidationError

from grader.classroom.attempts.attempt import Attempt
from grader.classroom.attempts.lock import owner
from grader.errors import UserError
from grader.results.hidden import RECORDS
from grader.results.mark import Mark
from grader.results.result import Result

FOLDER = RECORDS
FILE = "attempts.sqlite3"
# Stores of version 1 had no marks; they get the table of marks with the next row.
VERSION = 2


def _append_only(*tables: str) -> list[str]:
    """Return the SQL of triggers that refuse any change or deletion of a row of these tables."""
    return [f"create trigger {table}_{change} before {change} on {table} "
            "begin select raise(abort, 'records are added to, never changed'); end"
            for table in tables for change in ("update", "delete")]


_MARKS = ("create table marks(id integer primary key, head text not null)", *_append_only("marks"),
          f"pragma user_version = {VERSION}")
_SCHEMA = (
    "create table runs(id integer primary key, log text not null)",
    """create table attempts(
    id integer primary key, run integer not null references runs, slug text not null, head text not null, record text)
    """,
    "create index attempts_slug on attempts(slug)",
    """create table decisions(
    id integer primary key, batch integer not null, attempt integer references attempts, undoes integer,
    made_at text not null)""",
    *_append_only("runs", "attempts", "decisions"), *_MARKS)



CHOICE = 0
"""The batch of students' choices: rows of attempts whose hand-ins count from then on."""


class Decision(NamedTuple):
    """A row of a batch: either an attempt that is selected from now on, or an earlier batch that is undone; or a row of
    CHOICE."""

    batch: int
    attempt: int | None
    undoes: int | None


class Store:
    """The attempts of a folder of results. Its methods raise UserError if SQLite fails."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._connection: sqlite3.Connection | None = None

    @classmethod
    def create(cls, out: Path) -> Self:
        """Return the store below `out`. Its file is made when a row is first added. Raises OSError."""
        folder = out / FOLDER
        # A private folder, since records hold hidden cases.
        folder.mkdir(mode=0o700, exist_ok=True)
        return cls(folder / FILE)

    @classmethod
    def existing(cls, out: Path) -> Self:
        """Return the store below `out`. Raises UserError if there is none."""
        store = cls(out / FOLDER / FILE)
        try:
            there = store.path.is_file()
        except PermissionError:
            raise UserError(f"{store.path.parent}: is {owner(store.path.parent)}'s alone; have them grade once with "
                             "[records] group in course.toml, which shares results with a group") from None
        if not there:
            raise UserError(f"{out}: holds no attempts; name a folder that kernelmark grade wrote")
        return store

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def attempts(self, slug: str | None = None) -> list[Attempt]:
        """Return every attempt, or every attempt of the folder `slug`, in the order of their recording."""
        condition, values = ("", ()) if slug is None else ("where slug = ?", (slug,))
        with self._reading() as connection:
            rows = connection.execute(
                f"select id, run, head from attempts {condition} order by id", values) if connection else []
            return [Attempt.model_validate({**json.loads(head), "id": id_, "run": run}) for id_, run, head in rows]

    def newest(self) -> dict[str, int]:
        """Return the number of the newest attempt of each folder."""
        with self._reading() as connection:
            return dict(connection.execute("select slug, max(id) from attempts group by slug")) if connection else {}

    def attempt(self, number: int) -> Attempt | None:
        """Return the attempt with this number; None if there is none."""
        with self._reading() as connection:
            row = connection.execute(
                "select id, run, head from attempts where id = ?", (number,)).fetchone() if connection else None
            return None if row is None else Attempt.model_validate({**json.loads(row[2]), "id": row[0], "run": row[1]})

    def result(self, attempt: Attempt) -> Result | None:
        """Return the record of an attempt: a result with one assignment; None if the grader failed before there was a
        result."""
        with self._reading() as connection:
            row = connection.execute(
                "select record from attempts where id = ?", (attempt.id,)).fetchone() if connection else None
            return None if row is None or row[0] is None else Result.model_validate_json(row[0])

    def logs(self, runs: Iterable[int]) -> list[str]:
        with self._reading() as connection:
            return [connection.execute("select log from runs where id = ?", (run,)).fetchone()[0]
                    for run in runs] if connection else []

    def decisions(self) -> list[Decision]:
        with self._reading() as connection:
            rows = connection.execute("select batch, attempt, undoes from decisions order by id") if connection else []
            return [Decision(*row) for row in rows]

    def marks(self) -> list[Mark]:
        """Return all marks, in the order in which they were recorded."""
        with self._reading() as connection:
            there = connection and connection.execute("select 1 from sqlite_master where name = 'marks'").fetchone()
            rows = connection.execute("select id, head from marks order by id") if connection and there else []
            return [Mark.model_validate({**json.loads(head), "id": id_}) for id_, head in rows]

    def mark(self, marks: Sequence[Mark]) -> list[Mark]:
        """Record all of these marks or none, with the time and their numbers, and return them."""
        at = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
        made = [mark.model_copy(update={"at": at}) for mark in marks]
        with self._writing() as connection:
            numbers = [connection.execute("insert into marks(head) values (?)", (
                mark.model_dump_json(exclude={"id"}),)).lastrowid or 0 for mark in made]
        return [mark.model_copy(update={"id": number}) for mark, number in zip(made, numbers, strict=True)]

    def add(self, attempts: Sequence[tuple[Attempt, Result | None]], log: str | None = None) -> None:
        """Record all of these attempts or none. With a `log` they belong to a new run. Without one, no code was run for
        them, and each belongs to the run of the attempt in its field `of`."""
        rows = [(head.run, head.slug, head.model_dump_json(exclude={"id", "run"}),
                 None if record is None else record.model_dump_json(by_alias=True)) for head, record in attempts]
        with self._writing() as connection:
            if log is not None:
                cursor = connection.execute(
                    "insert into runs(log) values (?)", (log.encode("utf-8", "replace").decode(),))
                rows = [(cursor.lastrowid or 0, *row[1:]) for row in rows]
            connection.executemany("insert into attempts(run, slug, head, record) values (?, ?, ?, ?)", rows)

    def choose(self, attempt: Attempt) -> None:
        """Record that a student wants the hand-in of this attempt to count."""
        with self._writing() as connection:
            connection.execute("insert into decisions(batch, attempt, made_at) values (?, ?, ?)", (
                CHOICE, attempt.id, datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")))

    def decide(self, attempts: Iterable[Attempt] = (), *, undoes: int | None = None) -> None:
        """Record a batch: either these attempts are selected from now on, or an earlier batch is undone."""
        rows = [id_.id for id_ in attempts] if undoes is None else [None]
        with self._writing() as connection:
            (batch,) = connection.execute("select coalesce(max(batch), 0) + 1 from decisions").fetchone()
            made = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
            connection.executemany("insert into decisions(batch, attempt, undoes, made_at) values (?, ?, ?, ?)",
                                   [(batch, id_, undoes, made) for id_ in rows])

    @contextlib.contextmanager
    def _reading(self) -> Iterator[sqlite3.Connection | None]:
        try:
            yield self._open("rw") if self._connection or self.path.is_file() else None
        except (sqlite3.Error, ValidationError, json.JSONDecodeError) as error:
            raise UserError(f"{self.path}: {_said(error)}; restore the file, or grade into a new folder") from None

    @contextlib.contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        try:
            connection = self._open("rwc")
            assert connection is not None
            connection.execute("begin immediate")
            try:
                if connection.execute("pragma user_version").fetchone()[0] < VERSION:
                    for statement in _MARKS:
                        connection.execute(statement)
                yield connection
                connection.execute("commit")
            except BaseException:
                # Closing the file rolls back, even on a full disk.
                self.__exit__()
                raise
        except sqlite3.Error as error:
            raise UserError(f"attempts not recorded: {_said(error)} ({self.path})") from None

    def _open(self, mode: str) -> sqlite3.Connection | None:
        """Open the file, or return None if no row was ever added. Mode "rw" never makes the file; it rolls back a
        transaction that a killed process left unfinished."""
        if self._connection is not None:
            return self._connection
        if mode == "rwc":
            # Results may be shared with a group, but SQLite would make a file that the group may not write. SQLite's
            # journals get the file's mode.
            with contextlib.suppress(OSError):  # it reports them
                self.path.touch(mode=0o666)
        connection = sqlite3.connect(
            f"file:{quote(str(self.path.absolute()))}?mode={mode}", uri=True, isolation_level=None)
        try:
            (version,) = connection.execute("pragma user_version").fetchone()
            if version == 0 and mode == "rwc":
                connection.executescript(f"begin exclusive; {'; '.join(_SCHEMA)}; commit;")
            elif version == 0:
                connection.close()
                return None
            elif version > VERSION:
                raise UserError(f"{self.path}: attempts of version {version}, not {VERSION}; use the version of "
                                 "kernelmark that wrote them")
        except BaseException:
            connection.close()
            raise
        self._connection = connection
        return connection


def _said(error: Exception) -> str:
    if isinstance(error, ValidationError):
        problem = error.errors(include_url=False)[0]
        return f"{'.'.join(map(str, problem['loc']))}: {problem['msg']}"
    return str(error)
