"""Results of one TA, read by another, who may change them where both are in the group that the course names."""

import contextlib
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from grader.classroom.attempts.sharing import SharingError, share, shared
from grader.classroom.attempts.store import FOLDER
from grader.course.submission import Submission
from grader.grading.job import Graded
from grader.home import ROOT
from tests.classroom.attempts.made import kept
from tests.pages import samples

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
        kept(Graded(Submission("ada", out, "ada"), samples.result("ada"), "log"), out)
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
        f"from grader.classroom.attempts.sharing import Path, share\nout = Path({str(out)!r})\n"
        f"share(out, out / {FOLDER!r}, {GROUP!r})\n")
    (harder := out.parent / "course.toml").write_text("[points]\ncorrectness = 30\n")
    assert not shared(out / FOLDER)
    with acting(FIRST), pytest.raises(SharingError, match="you are not in it"):
        share(out, out / FOLDER, GROUP)
    done = subprocess.run([*AROUND, str(FIRST), str(gid()), sys.executable, str(sharing)], cwd=ROOT,
                          capture_output=True, text=True, check=False, env={**os.environ, "PYTHONPATH": str(ROOT)})
    assert done.returncode == 0 and shared(out / FOLDER), done
    for user, umask, words, says in (
        (SECOND, "077", ("rescore", "--out", out, "--course", harder), "6 attempts scored again"),
        (SECOND, "022", ("apply", "--out", out), "6 newer attempts count now"),
        (FIRST, "077", ("apply", "--out", out, "--undo"), "6 grades are taken back"),
        (STRANGER, "022", ("diff", "--out", out), ""),
    ):
        done = run(user, "grader", *words, umask=umask)
        assert done.returncode == 2 * (user == STRANGER) and says in done.stdout, done
    for path in (out, *out.rglob("*")):
        info = path.stat()
        assert info.st_gid == gid() and info.st_mode & 0o067 == 0o060, path


def test_a_group_that_cannot_share_is_told(out: Path) -> None:
    with pytest.raises(SharingError, match="no such group on this machine"):
        share(out, out / FOLDER, "no-such-group")
    with acting(0), pytest.raises(SharingError, match=f"is user {FIRST}'s; have them grade once"):
        share(out, out / FOLDER, GROUP)
