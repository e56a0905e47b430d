"""Git clones: of each the last commit before a deadline, out of its object store.

Neither its configuration nor its hooks are read, since a folder that a student handed in may be a clone as well: git
runs in an empty repository of ours, which borrows the objects.
"""

from __future__ import annotations

import datetime
import os
import time
from pathlib import Path
from typing import IO

from grader.intake.archive import STUDENT
from grader.intake.found import OTHER, Found, IntakeError, Part, Source, entries
from grader.intake.manifest import Left, Member
from grader.model.desk import SUFFIXES
from grader.plan import children

# For one clone.
SECONDS = 120.0
REF_BYTES = 16 << 20
# A tree of a few kilobytes may have more names than a machine has memory for, and as many files.
NAMES_BYTES = 8 << 20
MOST_LEFT = 1_000
# Around the files of an archive are its headers.
ARCHIVE_BYTES = STUDENT.total + (STUDENT.entries << 10)


class _GitError(Exception):
    """A clone cannot be read; why, in a clause."""


def is_clone(folder: Path) -> bool:
    return _store(folder) is not None


def read(folder: Path, work: Path, deadline: datetime.datetime | None) -> Source:
    """The clones in a folder; `work` takes the archives of their commits. Raises IntakeError."""
    found: list[Found] = []
    left: list[Left] = []
    for number, entry in enumerate(entries(folder)):
        path = Path(entry.path)
        if not entry.is_dir():
            left.append(Left(name=entry.name, why="no clone"))
            continue
        one = Found(entry.name.removesuffix(".git"), [Member(id=entry.name.removesuffix(".git"), source_id=entry.name)],
                    origin=[entry.name])
        found.append(one)
        store = _store(path)
        if store is None:
            one.problems.append("no git repository: its files are taken as they lie there")
            one.parts.append(Part(path, "", entry.name))
            continue
        try:
            _commit(one, store, _tip(path, store), work / str(number), deadline)
        except _GitError as error:
            one.problems.append(str(error))
    return Source(found, left)


def _store(folder: Path) -> Path | None:
    """The folder of git in a clone: `.git`, what a file `.git` names, or for a bare one the clone itself."""
    try:
        inner = folder / ".git"
        if inner.is_file() and (text := inner.read_text(errors="replace")[:4096]).startswith("gitdir:"):
            inner = folder / text.removeprefix("gitdir:").strip()
        return next((path for path in (inner, folder)
                     if (path / "HEAD").is_file() and (path / "objects").is_dir()), None)
    except (OSError, ValueError):
        return None


def _commit(one: Found, store: Path, tip: str, work: Path, deadline: datetime.datetime | None) -> None:
    """Fills in files and time of the last commit before the deadline on the branch whose newest is `tip`."""
    ours, until = work / "repository", time.monotonic() + SECONDS
    kind = "sha256" if len(tip) > 40 else "sha1"
    _run(["git", "init", "-q", "--bare", f"--object-format={kind}", str(ours)], None, until)
    if (store / "shallow").is_file():
        (ours / "shallow").write_bytes(_read(store / "shallow"))
    # What a student's .gitattributes would leave out of an archive or change in it.
    (ours / "info").mkdir(exist_ok=True)
    (ours / "info" / "attributes").write_text("* -export-ignore -export-subst\n")

    def git(*words: str, into: IO[bytes] | None = None) -> str:
        return _run(["git", f"--git-dir={ours}", *words], store / "objects", until, into)

    # Along the branch: a commit that was merged after the deadline was not on it before.
    before = [f"--before={int(deadline.timestamp())}"] if deadline else []
    commit = git("rev-list", "-1", "--first-parent", *before, tip).strip()
    if not commit:
        first = git("rev-list", "--first-parent", "--max-parents=0", "--format=%cI", tip).split()[-1]
        raise _GitError(f"no commit by the deadline: the first is of {first}")
    one.submitted_at = git("log", "-1", "--format=%cI", commit).strip()
    if deadline:
        one.late = False
        later = int(git("rev-list", "--count", "--first-parent", f"{commit}..{tip}"))
        if later:
            one.left.append(Left(name=f"{later} commit{'s' * (later > 1)}", why="after the deadline"))
    names = [name for name in git("ls-tree", "-r", "-z", "--name-only", commit).split("\0") if name]
    wanted = [suffix for suffix in SUFFIXES if any(name.casefold().endswith(suffix) for name in names)]
    # Of a repository with gigabytes of data, what may hold Python alone.
    others = [name for name in names if not name.casefold().endswith(SUFFIXES)]
    one.left += [Left(name=name, why=OTHER) for name in others[:MOST_LEFT]]
    if len(others) > MOST_LEFT:
        one.left.append(Left(name=f"{len(others) - MOST_LEFT:,} more", why=OTHER))
    if wanted:
        with (work / "commit.tar").open("wb") as archive:
            git("archive", "--format=tar", commit, "--", *(f":(top,icase)*{suffix}" for suffix in wanted), into=archive)
        one.parts.append(Part(work / "commit.tar", f"{commit}.tar", commit))


def _tip(clone: Path, store: Path) -> str:
    """The commit that HEAD of a clone names."""
    try:
        _stay_in(clone, store)
        return _named(store)
    except OSError as error:
        raise _GitError(f"its .git cannot be read: {error.strerror}") from None


def _stay_in(clone: Path, store: Path) -> None:
    """Raises _GitError where what is read of a clone may lie outside of it: another student's lies beside it. Git makes
    no links there, so that none is followed."""
    read = [store / name for name in ("HEAD", "packed-refs", "shallow", "refs", "objects")]
    for top in ("refs", "objects"):
        read += [Path(at, name) for at, folders, files in os.walk(store / top) for name in (*folders, *files)]
    if (not store.resolve().is_relative_to(clone.resolve()) or (store / "objects" / "info" / "alternates").exists()
            or any(path.is_symlink() for path in read)):
        raise _GitError("its .git leads out of the clone; a repository whole in itself, without links, expected")


def _named(store: Path) -> str:
    text = _read(store / "HEAD").decode(errors="replace").strip()
    if not text.startswith("ref: "):
        return _checked(text)
    name = text.removeprefix("ref: ").strip()
    if not name.startswith("refs/") or ".." in name:
        raise _GitError(f"HEAD names {name[:80]!r}; a branch expected")
    if (store / name).is_file():
        return _checked(_read(store / name).decode(errors="replace").strip())
    packed = _read(store / "packed-refs").decode(errors="replace") if (store / "packed-refs").is_file() else ""
    for line in packed.splitlines():
        commit, _, ref = line.partition(" ")
        if ref == name:
            return _checked(commit)
    raise _GitError("has no commit")


def _checked(commit: str) -> str:
    if len(commit) not in (40, 64) or not set(commit) <= set("0123456789abcdef"):
        raise _GitError(f"HEAD leads to {commit[:80]!r}; a commit expected")
    return commit


def _read(path: Path) -> bytes:
    try:
        with path.open("rb") as stream:
            return stream.read(REF_BYTES)
    except OSError as error:
        raise _GitError(f"{path.name} cannot be read: {error.strerror}") from None


def _run(command: list[str], objects: Path | None, until: float, into: IO[bytes] | None = None) -> str:
    own = {"PATH": os.environ.get("PATH", os.defpath), "LC_ALL": "C", "GIT_CONFIG_NOSYSTEM": "1",
           "GIT_CONFIG_GLOBAL": os.devnull, "GIT_TERMINAL_PROMPT": "0", "GIT_NO_REPLACE_OBJECTS": "1"}
    if objects is not None:
        # Quoted, since a colon in a path would part two of them.
        own["GIT_ALTERNATE_OBJECT_DIRECTORIES"] = '"{}"'.format(
            str(objects.absolute()).replace("\\", "\\\\").replace('"', '\\"'))
    most = NAMES_BYTES if into is None else ARCHIVE_BYTES
    try:
        done = children.run(command, most=most, seconds=until - time.monotonic(), env=own, cwd="/", into=into)
    except FileNotFoundError:
        raise IntakeError("git: no such program; git clones need it (apt install git)") from None
    except TimeoutError:
        raise _GitError(f"git took more than {SECONDS:.0f} s") from None
    except children.TooMuchError:
        raise _GitError(f"has more than {most >> 20} MiB of {'names' if into is None else 'Python and archives'}; "
                        "a repository of a course's work expected") from None
    if done.status:
        said = (done.said.decode(errors="replace").strip().splitlines() or ["no reason given"])[-1]
        raise _GitError(f"git cannot read it: {said[:200]}")
    return done.output.decode(errors="replace")
