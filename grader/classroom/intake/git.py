"""Git clones: the last commit before a deadline, read from each clone's object store.

Git runs in an empty repository of ours that borrows the clone's objects. A student's clone may have a configuration and
hooks of its own, which must not run.
"""

from __future__ import annotations

import contextlib
import datetime
import os
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import IO

from grader.classroom.intake.archive import STUDENT
from grader.classroom.intake.manifest import OTHER, Member, OmittedFile, RawPart, RawSource, RawSubmission, entries
from grader.course.workspace import suffixes
from grader.errors import UserError
from grader.plan import children
from grader.results.text import plural

# Seconds that git may take for each clone.
SECONDS = 120.0
REF_BYTES = 16 << 20
# A tree of a few kilobytes can expand to more names than fit in memory.
NAMES_BYTES = 8 << 20
MOST_LEFT = 1_000
MOST_NAMED = 3
TAGS = "refs/tags/submit/"
MOST_TAGS = 200
TAG_BYTES = 200
# The branches, beside HEAD's, to examine: branches of the clone, and of the repository that it was cloned from.
BRANCHES = ("refs/heads/", "refs/remotes/")
MOST_BRANCHES = 20
# An archive has a header for each file.
ARCHIVE_BYTES = STUDENT.total + (STUDENT.entries << 10)


class _GitError(Exception):
    """A clone that cannot be read; the text says why."""


def is_clone(folder: Path) -> bool:
    return _store(folder) is not None


def read(folder: Path, work: Path, deadline: datetime.datetime | None) -> RawSource:
    """Return the clones in a folder. Archives of their commits are written to `work`. Raises UserError."""
    submissions: list[RawSubmission] = []
    left: list[OmittedFile] = []
    for number, entry in enumerate(entries(folder)):
        path = Path(entry.path)
        if not entry.is_dir():
            left.append(OmittedFile(name=entry.name, why="no clone"))
            continue
        name = entry.name.removesuffix(".git")
        submission = RawSubmission(name, [Member(id=name, source_id=entry.name)], origin=[entry.name])
        submissions.append(submission)
        store = _store(path)
        if store is None:
            submission.problems.append("no git repository: its files are taken as they are")
            submission.parts.append(RawPart(path, "", entry.name))
            continue
        try:
            _commit(submission, store, _tip(path, store), work / str(number), deadline)
        except _GitError as error:
            submission.problems.append(str(error))
    return RawSource(submissions, left)


def _store(folder: Path) -> Path | None:
    """Return the git folder of a clone: `.git`, the folder that a file `.git` names, or a bare clone itself."""
    try:
        inner = folder / ".git"
        if inner.is_file() and (text := inner.read_text(errors="replace")[:4096]).startswith("gitdir:"):
            inner = folder / text.removeprefix("gitdir:").strip()
        return next((path for path in (inner, folder)
                     if (path / "HEAD").is_file() and (path / "objects").is_dir()), None)
    except (OSError, ValueError):
        return None


def _commit(submission: RawSubmission, store: Path, tip: str, work: Path, deadline: datetime.datetime | None) -> None:
    """Set the files and the time of a submission to those of the last commit before the deadline on the branch that
    ends with `tip`."""
    repository, until = work / "repository", time.monotonic() + SECONDS
    kind = "sha256" if len(tip) > 40 else "sha1"
    _run(["git", "init", "-q", "--bare", f"--object-format={kind}", str(repository)], None, until)
    if (store / "shallow").is_file():
        (repository / "shallow").write_bytes(_read(store / "shallow"))
    # A student's .gitattributes could leave files out of the archive, or change them.
    (repository / "info").mkdir(exist_ok=True)
    (repository / "info" / "attributes").write_text("* -export-ignore -export-subst\n")

    def git(*words: str, into: IO[bytes] | None = None) -> str:
        return _run(["git", f"--git-dir={repository}", *words], store / "objects", until, into)

    # First parents only: before a merge, the commits of the merged branch were not on this branch.
    before = [f"--before={int(deadline.timestamp())}"] if deadline else []
    commit = git("rev-list", "-1", "--first-parent", *before, tip).strip()
    if not commit:
        first = git("rev-list", "--first-parent", "--max-parents=0", "--format=%cI", tip).split()[-1]
        raise _GitError(f"no commit before the deadline: the first is of {first}")
    submission.commit = commit
    submission.submitted_at = git("log", "-1", "--format=%cI", commit).strip()
    if tags := _tags(store):
        ends = [target for _, target in tags]
        # An annotated tag is an object that points to the commit. A broken tag points to nothing.
        with contextlib.suppress(_GitError):
            ends = git("rev-parse", *(f"{target}^{{}}" for target in ends)).split()
        submission.tag = next((tag for (tag, _), end in zip(tags, ends, strict=True) if end == commit), "")
    if deadline:
        submission.late = False
        later = int(git("rev-list", "--count", "--first-parent", f"{commit}..{tip}"))
        if later:
            submission.left.append(OmittedFile(name=plural(later, "commit"), why="after the deadline"))
    _report_branches(submission, store, git, before)
    names = [name for name in git("ls-tree", "-r", "-z", "--name-only", commit).split("\0") if name]
    wanted = [suffix for suffix in suffixes() if any(name.casefold().endswith(suffix) for name in names)]
    # Extract only files that may hold a kernel: a repository may have gigabytes of data.
    others = [name for name in names if not name.casefold().endswith(suffixes())]
    submission.left += [OmittedFile(name=name, why=OTHER) for name in others[:MOST_LEFT]]
    if len(others) > MOST_LEFT:
        submission.left.append(OmittedFile(name=f"{len(others) - MOST_LEFT:,} more", why=OTHER))
    if wanted:
        with (work / "commit.tar").open("wb") as archive:
            git("archive", "--format=tar", commit, "--", *(f":(top,icase)*{suffix}" for suffix in wanted), into=archive)
        submission.parts.append(RawPart(work / "commit.tar", f"{commit}.tar", commit))


def _report_branches(submission: RawSubmission, store: Path, git: Callable[..., str], before: Sequence[str]) -> None:
    """Report branches with work that the chosen commit lacks; as a problem if that work is as late as the commit."""
    taken = submission.commit
    files = [f":(top,icase)*{suffix}" for suffix in suffixes()]
    for name, target in _branches(store):
        # A broken branch points to nothing.
        with contextlib.suppress(_GitError):
            ends = git("rev-list", "-1", "--first-parent", *before, target).split()
            if not ends or not git("rev-list", "-1", f"{taken}..{ends[0]}"):
                continue
            changed = [file for file in git("diff", "--name-only", "-z", "--no-renames", "--diff-filter=d", taken,
                                            ends[0], "--", *files).split("\0") if file]
            older = int(git("log", "-1", "--format=%ct", ends[0])) < int(git("log", "-1", "--format=%ct", taken))
            if changed and older:
                submission.left.append(OmittedFile(name=f"branch {name}", why="not the branch that is checked out"))
            elif changed:
                some = ", ".join(changed[:MOST_NAMED]) + ", …" * (len(changed) > MOST_NAMED)
                submission.problems.append(
                    f"branch {name} holds work that the branch checked out lacks: {some}; merge it, or check it out")


def _branches(store: Path) -> list[tuple[str, str]]:
    """Return the branches of a clone and of its origin, each once: name as people say it, and commit."""
    lines = (line.partition(" ") for line in _packed(store).splitlines())
    refs = {ref: target for target, _, ref in lines if ref.startswith(BRANCHES)}
    for path in (path for top in BRANCHES for path in sorted((store / top).rglob("*"))):
        if path.is_file():
            refs[str(path.relative_to(store))] = _read(path, TAG_BYTES).decode(errors="replace").strip()
    by_commit = {target: ref.partition("/")[2].partition("/")[2] for ref, target in sorted(refs.items(), reverse=True)
                 if len(ref) < TAG_BYTES and _is_commit(target)}
    return [(name, target) for target, name in by_commit.items()][:MOST_BRANCHES]


def _tip(clone: Path, store: Path) -> str:
    """Return the commit that a clone's HEAD names."""
    try:
        _require_inside(clone, store)
        return _named(store)
    except OSError as error:
        raise _GitError(f"its .git cannot be read: {error.strerror}; clone it again") from None


def _require_inside(clone: Path, store: Path) -> None:
    """Raise _GitError if reading this clone could lead out of it, since other students' clones lie beside it. Git makes
    no links in its folder, so any link is refused."""
    read = [store / name for name in ("HEAD", "packed-refs", "shallow", "refs", "objects")]
    for top in ("refs", "objects"):
        read += [Path(at, name) for at, folders, files in os.walk(store / top) for name in (*folders, *files)]
    if (not store.resolve().is_relative_to(clone.resolve()) or (store / "objects" / "info" / "alternates").exists()
            or any(path.is_symlink() for path in read)):
        raise _GitError("its .git leads out of the clone; clone it again without links and shared objects")


def _named(store: Path) -> str:
    text = _read(store / "HEAD").decode(errors="replace").strip()
    if not text.startswith("ref: "):
        return _check_commit(text)
    name = text.removeprefix("ref: ").strip()
    if not name.startswith("refs/") or ".." in name:
        raise _GitError(f"HEAD names {name[:80]!r}, which is no branch; check out a branch")
    if (store / name).is_file():
        return _check_commit(_read(store / name).decode(errors="replace").strip())
    for line in _packed(store).splitlines():
        commit, _, ref = line.partition(" ")
        if ref == name:
            return _check_commit(commit)
    raise _GitError("has no commit; push one and clone it again")


def _tags(store: Path) -> list[tuple[str, str]]:
    """Return the tags `submit/…` of Classroom 50 with their targets, the last one first. A tag's name begins with its
    time."""
    lines = (line.partition(" ") for line in _packed(store).splitlines())
    refs = {ref: target for target, _, ref in lines if ref.startswith(TAGS)}
    for path in sorted((store / TAGS).glob("*"), reverse=True)[:MOST_TAGS]:
        if path.is_file():
            refs[TAGS + path.name] = _read(path, TAG_BYTES).decode(errors="replace").strip()
    tags = [(ref.removeprefix("refs/tags/"), target) for ref, target in refs.items()
            if len(ref) < TAG_BYTES and _is_commit(target)]
    return sorted(tags, reverse=True)[:MOST_TAGS]


def _packed(store: Path) -> str:
    path = store / "packed-refs"
    return _read(path).decode(errors="replace") if path.is_file() else ""


def _check_commit(commit: str) -> str:
    if not _is_commit(commit):
        raise _GitError(f"HEAD leads to {commit[:80]!r}, which is no commit; check out a branch")
    return commit


def _is_commit(text: str) -> bool:
    return len(text) in (40, 64) and set(text) <= set("0123456789abcdef")


def _read(path: Path, most: int = REF_BYTES) -> bytes:
    try:
        with path.open("rb") as stream:
            return stream.read(most)
    except OSError as error:
        raise _GitError(f"{path.name} cannot be read: {error.strerror}; clone it again") from None


def _run(command: list[str], objects: Path | None, until: float, into: IO[bytes] | None = None) -> str:
    own = {"PATH": os.environ.get("PATH", os.defpath), "LC_ALL": "C", "GIT_CONFIG_NOSYSTEM": "1",
           "GIT_CONFIG_GLOBAL": os.devnull, "GIT_TERMINAL_PROMPT": "0", "GIT_NO_REPLACE_OBJECTS": "1"}
    if objects is not None:
        # In quotes: git splits the value at colons.
        own["GIT_ALTERNATE_OBJECT_DIRECTORIES"] = '"{}"'.format(
            str(objects.absolute()).replace("\\", "\\\\").replace('"', '\\"'))
    most = NAMES_BYTES if into is None else ARCHIVE_BYTES
    try:
        end = children.run(command, most=most, seconds=until - time.monotonic(), env=own, cwd="/", into=into)
    except FileNotFoundError:
        raise UserError("git: not installed; git clones need it (apt install git)") from None
    except TimeoutError:
        raise _GitError(f"git took more than {SECONDS:.0f} s; commit the course's work alone") from None
    except children.TooMuchError:
        raise _GitError(f"has more than {most >> 20} MiB of {'names' if into is None else 'Python and archives'}; "
                        "commit the course's work alone") from None
    if end.status:
        message = (end.errors.decode(errors="replace").strip().splitlines() or ["no reason given"])[-1]
        raise _GitError(f"git cannot read it: {message[:200]}; clone it again")
    return end.output.decode(errors="replace")
