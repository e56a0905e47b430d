"""Records are whole or not there, whatever ends the process that writes them, and nothing changes one."""

import os
import random
import resource
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from grader.classroom.attempts.lock import LockedError, locked
from grader.classroom.attempts.store import FILE, FOLDER, Store, StoreError
from grader.home import ROOT
from grader.results.mark import Mark
from tests.classroom.attempts.made import add, draft
from tests.pages import samples

RECORD = samples.result("ada")
# More than a page of SQLite's, and than a block of any disk.
NAMES = list(samples.KERNELS)


def grading(number: int, store: Store) -> None:
    """Adds a grading of all assignments, with records of real size."""
    store.add([(draft(name, submission=str(number)), RECORD) for name in NAMES], f"log {number}")


def in_a_child(work: Callable[[], None]) -> int:
    """Does it in a process of its own; returns its number."""
    child = os.fork()
    if child == 0:
        try:
            work()
        finally:
            os._exit(1)
    return child


def check(store: Store) -> int:
    """Every grading that there is, is whole; returns how many."""
    found = store.attempts()
    for number, start in enumerate(range(0, len(found), len(NAMES))):
        one = found[start:start + len(NAMES)]
        assert [(each.assignment, each.submission) for each in one] == [(name, str(number)) for name in NAMES]
        assert all(store.result(each) == RECORD for each in one) and store.logs([one[0].run]) == [f"log {number}"]
    return len(found) // len(NAMES)


@pytest.mark.parametrize("kills", [10, pytest.param(40, marks=pytest.mark.full)])
def test_killed_at_any_moment_it_is_whole_and_goes_on(tmp_path: Path, kills: int) -> None:
    store = Store.create(tmp_path)
    dice, counts = random.Random(kills), [0]
    for _ in range(kills):
        heard, tells = os.pipe()

        def write(first: int = counts[-1], tells: int = tells) -> None:
            with Store.create(tmp_path) as mine:
                for number in range(first, first + 10_000):
                    grading(number, mine)
                    os.write(tells, b".")

        child = in_a_child(write)
        os.close(tells)
        # Some moments lie in the opening of the store, most in the middle of a grading: however busy the machine is.
        for _ in range(dice.randrange(4)):
            os.read(heard, 1)
        time.sleep(dice.random() / 100)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        os.close(heard)
        with store:
            counts.append(check(store))
        assert counts[-1] >= counts[-2]
    # Had nothing been written before a kill, nothing would be proved.
    assert counts[-1] > kills / 2, counts


def test_a_disk_that_is_full_leaves_what_there_was(tmp_path: Path) -> None:
    with Store.create(tmp_path) as store:
        grading(0, store)
    size = (tmp_path / FOLDER / FILE).stat().st_size
    told = tmp_path / "told"

    def write() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (size + 4096, size + 4096))
        with Store.create(tmp_path) as mine:
            try:
                grading(1, mine)
            except StoreError as error:
                told.write_text(str(error))

    os.waitpid(in_a_child(write), 0)
    assert told.read_text().startswith("attempts not recorded: ") and len(told.read_text().splitlines()) == 1
    with Store.existing(tmp_path) as store:
        assert check(store) == 1
        grading(1, store)
        assert check(store) == 2


@pytest.fixture
def open_to_all() -> Iterator[Path]:
    """A folder that another user may enter."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)
        Path(folder, FOLDER).chmod(0o700)


def test_a_folder_that_may_not_be_written_is_said_and_still_read(open_to_all: Path) -> None:
    with Store.create(open_to_all) as store:
        grading(0, store)
    store.path.parent.chmod(0o555)
    store.path.chmod(0o444)
    work = (
        "import os, sys; from pathlib import Path; from grader.classroom.attempts.store import Store, StoreError\n"
        "import tests.classroom.attempts.test_store as t\n"
        "if os.geteuid() == 0: os.setgid(65534); os.setuid(65534)\n"
        "store = Store.existing(Path(sys.argv[1])); print(t.check(store))\n"
        "try: t.grading(1, store)\n"
        "except StoreError as error: print(error)\n")
    done = subprocess.run(
        [sys.executable, "-c", work, open_to_all], cwd=ROOT, capture_output=True, text=True, check=False)
    read, said = done.stdout.splitlines()
    assert read == "1" and said.startswith("attempts not recorded: attempt to write a readonly database"), done


@pytest.mark.parametrize("table", ["runs", "attempts", "decisions", "marks"])
def test_no_row_is_changed_or_deleted(tmp_path: Path, table: str) -> None:
    with Store.create(tmp_path) as store:
        store.decide(add(store, draft(), result=RECORD))
        store.mark([Mark(assignment="silu", by="T. A.", points=5)])
    with sqlite3.connect(tmp_path / FOLDER / FILE) as connection:
        for change in (f"update {table} set id = 9", f"delete from {table}"):
            with pytest.raises(sqlite3.IntegrityError, match="added to, never changed"):
                connection.execute(change)
    connection.close()


@pytest.mark.parametrize("content", [b"no database" * 100, b"SQLite format 3\0" + b"\xff" * 5000], ids=["text", "half"])
def test_what_is_no_store_is_one_line(tmp_path: Path, content: bytes) -> None:
    store = Store.create(tmp_path)
    store.path.write_bytes(content)
    for attempted in (store.attempts, lambda: grading(0, store)):
        with pytest.raises(StoreError) as caught:
            attempted()
        assert len(str(caught.value).splitlines()) == 1 and str(store.path) in str(caught.value)
    assert store.path.read_bytes() == content


def test_a_store_of_another_version_is_refused(tmp_path: Path) -> None:
    with Store.create(tmp_path) as store:
        grading(0, store)
    with sqlite3.connect(store.path) as connection:
        connection.execute("pragma user_version = 3")
    connection.close()
    with pytest.raises(StoreError, match="version 3, not 2"):
        Store.existing(tmp_path).attempts()


def test_what_an_earlier_version_said_besides_is_left_out(tmp_path: Path) -> None:
    with Store.create(tmp_path) as store:
        (attempt,) = add(store, draft("silu"), result=RECORD)
    path = tmp_path / FOLDER / FILE
    with sqlite3.connect(path) as connection:
        for (name,) in connection.execute("select name from sqlite_master where type = 'trigger'").fetchall():
            connection.execute(f"drop trigger {name}")
        for column, inner in (("head", "$.retired"), ("record", "$.assignments.silu.correctness.retired")):
            changed = connection.execute(
                f"update attempts set {column} = json_set({column}, ?, 'as it was')", (inner,)).rowcount
            assert changed == 1
    with Store.existing(tmp_path) as store:
        assert store.attempts() == [attempt] and store.result(attempt) == RECORD


def test_nothing_is_made_by_a_look(tmp_path: Path) -> None:
    store = Store.create(tmp_path)
    assert store.attempts() == [] and store.decisions() == [] and not store.path.exists()
    with pytest.raises(StoreError, match="holds no attempts"):
        Store.existing(tmp_path)


def test_one_at_a_time_and_the_lock_dies_with_its_process(tmp_path: Path) -> None:
    reading, writing = os.pipe()

    def hold() -> None:
        with locked(tmp_path):
            os.write(writing, b"held")
            time.sleep(60)

    child = in_a_child(hold)
    assert os.read(reading, 4) == b"held"
    with pytest.raises(LockedError) as caught, locked(tmp_path):
        pass
    said = str(caught.value)
    assert f"process {child} on {os.uname().nodename}, since 20" in said and len(said.splitlines()) == 1
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    with locked(tmp_path):
        assert f"process {os.getpid()} " in (tmp_path / "lock").read_text()
    os.close(reading)
    os.close(writing)
