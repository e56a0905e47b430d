"""Records are whole or not there, whatever ends the process that writes them, and nothing changes one."""

import contextlib
import os
import random
import resource
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from grader.classroom.attempts.lock import locked, share, shared
from grader.classroom.attempts.store import FILE, FOLDER, Store
from grader.course.submission import Submission
from grader.errors import UserError
from grader.grading.job import JobOutcome
from grader.home import ROOT
from grader.results.mark import Mark
from tests.classroom.attempts.made import add, draft, kept
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
    attempts = store.attempts()
    for number, start in enumerate(range(0, len(attempts), len(NAMES))):
        one = attempts[start:start + len(NAMES)]
        assert [(attempt.assignment, attempt.submission) for attempt in one] == [(name, str(number)) for name in NAMES]
        assert all(store.result(attempt) == RECORD for attempt in one) and store.logs([one[0].run]) == [f"log {number}"]
    return len(attempts) // len(NAMES)


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
    path = tmp_path / "told"

    def write() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (size + 4096, size + 4096))
        with Store.create(tmp_path) as mine:
            try:
                grading(1, mine)
            except UserError as error:
                path.write_text(str(error))

    os.waitpid(in_a_child(write), 0)
    assert path.read_text().startswith("attempts not recorded: ") and len(path.read_text().splitlines()) == 1
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
        "import os, sys; from pathlib import Path; from grader.classroom.attempts.store import Store, UserError\n"
        "import tests.classroom.attempts.test_store as t\n"
        "if os.geteuid() == 0: os.setgid(65534); os.setuid(65534)\n"
        "store = Store.existing(Path(sys.argv[1])); print(t.check(store))\n"
        "try: t.grading(1, store)\n"
        "except UserError as error: print(error)\n")
    result = subprocess.run(
        [sys.executable, "-c", work, open_to_all], cwd=ROOT, capture_output=True, text=True, check=False)
    read, said = result.stdout.splitlines()
    assert read == "1" and said.startswith("attempts not recorded: attempt to write a readonly database"), result


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
        with pytest.raises(UserError) as info:
            attempted()
        assert len(str(info.value).splitlines()) == 1 and str(store.path) in str(info.value)
    assert store.path.read_bytes() == content


def test_a_store_of_another_version_is_refused(tmp_path: Path) -> None:
    with Store.create(tmp_path) as store:
        grading(0, store)
    with sqlite3.connect(store.path) as connection:
        connection.execute("pragma user_version = 3")
    connection.close()
    with pytest.raises(UserError, match="version 3, not 2"):
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
    with pytest.raises(UserError, match="holds no attempts"):
        Store.existing(tmp_path)


def test_one_at_a_time_and_the_lock_dies_with_its_process(tmp_path: Path) -> None:
    reading, writing = os.pipe()

    def hold() -> None:
        with locked(tmp_path):
            os.write(writing, b"held")
            time.sleep(60)

    child = in_a_child(hold)
    assert os.read(reading, 4) == b"held"
    with pytest.raises(UserError) as info, locked(tmp_path):
        pass
    output = str(info.value)
    assert f"process {child} on {os.uname().nodename}, since 20" in output and len(output.splitlines()) == 1
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    with locked(tmp_path):
        assert f"process {os.getpid()} " in (tmp_path / "lock").read_text()
    os.close(reading)
    os.close(writing)


# Numbers without an account, and a group that every system has.
FIRST, SECOND, STRANGER = 1_700_000_001, 1_700_000_002, 1_700_000_003
GROUP = "users"
AROUND = (str(shutil.which("unshare")), "--mount", "--propagation", "private", "--", sys.executable, "-m",
          "tests.unprivileged", "--as")


def gid() -> int:
    grp = pytest.importorskip("grp")
    return int(grp.getgrnam(GROUP).gr_gid)


@pytest.fixture
def out() -> Iterator[Path]:
    """Results in a folder that every user reaches, which are the first TA's."""
    if os.geteuid() != 0 or subprocess.run([*AROUND[:5], "true"], capture_output=True, check=False).returncode != 0:
        pytest.skip("to be other users takes root, and a mount namespace")
    gid()  # other users may not be able to import what it needs
    with tempfile.TemporaryDirectory(prefix="kernelmark-test-") as folder:
        Path(folder).chmod(0o777)
        (out := Path(folder, "out")).mkdir()
        kept(JobOutcome(Submission("ada", out, "ada"), samples.result("ada"), "log"), out)
        for path in (out, *out.rglob("*")):
            os.chown(path, FIRST, FIRST)
        yield out


@contextlib.contextmanager
def acting(user: int) -> Iterator[None]:
    os.seteuid(user)
    try:
        yield
    finally:
        os.seteuid(0)


def run(user: int, *words: str | Path, umask: str = "022") -> subprocess.CompletedProcess[str]:
    group = 65534 if user == STRANGER else gid()
    return subprocess.run(
        [*AROUND, str(user), str(group), "sh", "-c", f'umask {umask}; exec "$@"', "sh", sys.executable, "-m",
         *map(str, words)], cwd=ROOT, capture_output=True, text=True, check=False, env={**os.environ, "COLUMNS": "200"})


def test_private_results_are_refused_in_a_line_that_says_whose_they_are(out: Path) -> None:
    export, apply = ("export", "csv", out, "--out", out.parent / "grades.csv"), ("apply", "--out", out)
    for words in (export, apply):
        done = run(STRANGER, "grader", *words)
        assert done.returncode == 2 and len(done.stderr.splitlines()) == 1, done
        assert f"{out / FOLDER}: is user {FIRST}'s alone; have them grade once with [records] group" in done.stderr
    # Readable, and not theirs to change.
    (out / FOLDER).chmod(0o755)
    assert (done := run(STRANGER, "grader", *export)).returncode == 0, done
    done = run(STRANGER, "grader", *apply)
    assert done.returncode == 2 and len(done.stderr.splitlines()) == 1 and "lock: Permission denied" in done.stderr


def test_a_group_shares_results_whatever_the_umask(out: Path) -> None:
    (sharing := out.parent / "sharing.py").write_text(
        f"from grader.classroom.attempts.lock import Path, share\nout = Path({str(out)!r})\n"
        f"share(out, out / {FOLDER!r}, {GROUP!r})\n")
    (harder := out.parent / "course.toml").write_text("[points]\ncorrectness = 30\n")
    assert not shared(out / FOLDER)
    with acting(FIRST), pytest.raises(UserError, match="you are not in it"):
        share(out, out / FOLDER, GROUP)
    result = subprocess.run([*AROUND, str(FIRST), str(gid()), sys.executable, str(sharing)], cwd=ROOT,
                            capture_output=True, text=True, check=False, env={**os.environ, "PYTHONPATH": str(ROOT)})
    assert result.returncode == 0 and shared(out / FOLDER), result
    for user, umask, words, says in (
        (SECOND, "077", ("rescore", "--out", out, "--course", harder), "6 attempts scored again"),
        (SECOND, "022", ("apply", "--out", out), "6 newer attempts count now"),
        (FIRST, "077", ("apply", "--out", out, "--undo"), "6 grades are taken back"),
        (STRANGER, "022", ("diff", "--out", out), ""),
    ):
        result = run(user, "grader", *words, umask=umask)
        assert result.returncode == 2 * (user == STRANGER) and says in result.stdout, result
    for path in (out, *out.rglob("*")):
        info = path.stat()
        assert info.st_gid == gid() and info.st_mode & 0o067 == 0o060, path


def test_a_group_that_cannot_share_is_told(out: Path) -> None:
    with pytest.raises(UserError, match="no such group on this machine"):
        share(out, out / FOLDER, "no-such-group")
    with acting(0), pytest.raises(UserError, match=f"is user {FIRST}'s; have them grade once"):
        share(out, out / FOLDER, GROUP)
