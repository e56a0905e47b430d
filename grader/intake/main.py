"""From a source to a folder that can be graded: recognised, unpacked, chosen, and written whole or not at all."""

from __future__ import annotations

import contextlib
import datetime
import fcntl
import os
import shutil
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from grader.intake import kinds
from grader.intake.archive import CLASS, BrokenArchive, unpack
from grader.intake.choose import Chosen, Tree, write
from grader.intake.found import LITTER, WORK, Found, IntakeError, Source, entries, is_archive
from grader.intake.manifest import FILE, HandIn, Kind, Left, Manifest
from grader.intake.people import Register
from grader.model.roster import Student
from grader.model.submission import in_any_language, named

LOCK = "lock"
NO_KIND = ("holds no submissions as Canvas, Gradescope, Moodle or git leave them, no folders and no archives; "
           "--pattern expected, which says how its files are named")


@dataclass(frozen=True)
class Options:
    """`known` are the course's assignments with the names of their files; `roster` None: there is none."""

    known: Mapping[str, str]
    roster: Sequence[Student] | None = None
    groups: Mapping[str, Sequence[str]] | None = None
    pattern: str | None = None
    deadline: datetime.datetime | None = None


@contextlib.contextmanager
def taken_in(source: Path, options: Options, parent: Path | None = None) -> Iterator[tuple[Manifest, Path]]:
    """The manifest of a source, and a folder that holds it and the submissions, until the block ends.

    It is made in the folder `parent`, by default a temporary one. Raises IntakeError, and OSError.
    """
    _clear(parent)
    work, lock = _locked(parent)
    try:
        made = work / "class"
        made.mkdir()
        yield _take_in(source, options, work, made), made
    finally:
        shutil.rmtree(work, ignore_errors=True)
        os.close(lock)


def _locked(parent: Path | None) -> tuple[Path, int]:
    """A new folder for work, and the descriptor of a lock in it, which ends with this process."""
    while True:
        work = Path(tempfile.mkdtemp(prefix=WORK, dir=parent))
        lock = os.open(work / LOCK, os.O_CREAT | os.O_RDWR, 0o600)
        with contextlib.suppress(OSError):
            # Not every file system has locks.
            fcntl.flock(lock, fcntl.LOCK_EX)
        if os.fstat(lock).st_nlink:
            return work, lock
        # Another intake held it for one that was killed, before it was locked.
        os.close(lock)


def _clear(parent: Path | None) -> None:
    """Removes what intakes that were killed have left in `parent`: folders of this user that no process holds."""
    for work in Path(parent or tempfile.gettempdir()).glob(f"{WORK}*"):
        with contextlib.suppress(OSError):
            if work.lstat().st_uid != os.geteuid():
                continue
            lock = os.open(work / LOCK, os.O_RDWR | os.O_NOFOLLOW)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(work, ignore_errors=True)
            finally:
                os.close(lock)


def place(made: Path, into: Path, *, force: bool) -> None:
    """Moves a folder that was made to its place. One that is replaced is missing there between two renames alone, and
    comes back unless the new one arrives. Raises IntakeError, and OSError."""
    may_be_written(into, force=force)
    if not into.exists():
        made.rename(into)
        return
    # Not to the folder of the work, which `taken_in` deletes whatever happens.
    aside = Path(tempfile.mkdtemp(prefix=WORK, dir=into.absolute().parent))
    old = aside / "old"
    try:
        into.rename(old)
        made.rename(into)
    finally:
        # After Ctrl-C as well; where this fails, the old one stays aside.
        if not into.exists():
            old.rename(into)
        shutil.rmtree(aside, ignore_errors=True)


def may_be_written(into: Path, *, force: bool) -> None:
    """Raises IntakeError where `into` is there already, or in what an intake wrote; by force what an intake wrote is
    replaced, and nothing else."""
    if around := next((folder for folder in into.absolute().parents if (folder / FILE).is_file()), None):
        raise IntakeError(f"{into}: lies in {around}, which an intake wrote, and would be a submission there; a folder "
                          "beside it expected")
    if into.is_dir() and not any(into.iterdir()):
        return
    if into.exists() or into.is_symlink():
        if not (into / FILE).is_file() or into.is_symlink():
            raise IntakeError(f"{into}: is there already, and no intake wrote it; a new folder expected")
        if not force:
            raise IntakeError(f"{into}: is there already; another name, or --force to replace it, expected")


def opened(source: Path, work: Path) -> tuple[Path, list[Left]]:
    """The folder of a source, which an archive is unpacked to: without folders that hold one other and nothing else.
    With the entries that could not be unpacked. Raises IntakeError."""
    left: list[Left] = []
    folder = source
    if source.is_file():
        try:
            left = unpack(source, folder := work / "source", CLASS)
        except BrokenArchive as error:
            raise IntakeError(f"{source}: {error}") from None
    elif not source.is_dir():
        raise IntakeError(f"{source}: no such file or folder; a download or a folder of submissions expected")
    while kinds.recognise(folder) == "folders" and (inner := _wrapped(folder, packed=source.is_file())) is not None:
        folder = inner
    return folder, left


def _wrapped(folder: Path, *, packed: bool) -> Path | None:
    """The one folder in a folder, if it holds a class: what a download is wrapped in, and not the only student.

    Folders and archives may be a student's own: those are a class's where they come out of an archive alone.
    """
    around = entries(folder)
    if len(around) != 1 or not around[0].is_dir():
        return None
    inner = Path(around[0].path)
    kind, inside = kinds.recognise(inner), entries(inner)
    if kind in ("folders", "archives"):
        several = len(inside) > 1 and all(one.is_dir() or is_archive(one.name) for one in inside)
        return inner if packed and several else None
    return inner if kind else None


def _take_in(source: Path, options: Options, work: Path, made: Path) -> Manifest:
    folder, left = opened(source, work)
    kind, found = _read(folder, options, work)
    left += [*found.left, *(Left(name=one.name, why=LITTER) for one in entries(folder, litter=True))]
    register = Register(options.roster or (), options.groups or {})
    unknown, hand_ins = [], []
    # A name such as `Jane (she/her)` is no path.
    folders = [Path(one.folder.replace("/", "_")) for one in found.submissions]
    for one, submission in zip(found.submissions, named(folders), strict=True):
        if not register.enter(one) and options.roster is not None:
            unknown.append(submission.slug)
        tree = Tree(one, work / "trees" / submission.slug)
        chosen = tree.choose(options.known)
        write(chosen, made / submission.slug)
        hand_ins.append(_hand_in(one, submission.slug, tree, chosen, options.deadline))
        shutil.rmtree(work / "trees" / submission.slug)
    if not hand_ins:
        raise IntakeError(f"{source}: {NO_KIND}")
    manifest = Manifest(kind=kind, source=source.resolve().name, submissions=hand_ins, left=left,
                        missing=register.missing(), unknown=unknown)
    (made / FILE).write_text(manifest.model_dump_json(by_alias=True, indent=1), encoding="utf-8")
    return manifest


def _read(folder: Path, options: Options, work: Path) -> tuple[Kind, Source]:
    if options.pattern is not None:
        return "pattern", kinds.by_pattern(folder, options.pattern)
    kind = kinds.recognise(folder)
    if kind is None:
        raise IntakeError(f"{folder.name}: {NO_KIND}")
    (work / "made").mkdir()
    files = [name for file in options.known.values() for name in in_any_language(file)]
    return kind, kinds.read(kind, folder, files, work=work / "made", deadline=options.deadline)


def _hand_in(one: Found, slug: str, tree: Tree, chosen: Chosen, deadline: datetime.datetime | None) -> HandIn:
    late = one.late
    if late is None and deadline is not None and one.submitted_at is not None:
        late = datetime.datetime.fromisoformat(one.submitted_at) > deadline
    return HandIn(
        folder=slug, members=one.members, submitted_at=one.submitted_at, late=late, origin=one.origin,
        taken={file: tree.shown(path) for file, path in chosen.taken.items()}, left=chosen.left, problems=tree.problems)


def twice(manifest: Manifest) -> list[str]:
    """Those who stand in more than one submission, by id."""
    counts = Counter(member.id for one in manifest.submissions for member in one.members)
    return [who for who, count in counts.items() if count > 1]
