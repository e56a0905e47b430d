"""The conversion of a source into a folder that can be graded. The folder is written as a whole or not at all."""

from __future__ import annotations

import contextlib
import datetime
import shutil
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from grader import temporary
from grader.classroom.intake import kinds
from grader.classroom.intake.archive import CLASS, BrokenArchive, unpack
from grader.classroom.intake.choose import ChosenFiles, Tree, write
from grader.classroom.intake.kinds import by_pattern
from grader.classroom.intake.manifest import (
    FILE,
    LITTER,
    Kind,
    Manifest,
    ManifestEntry,
    OmittedFile,
    RawSource,
    RawSubmission,
    entries,
    is_archive,
)
from grader.classroom.intake.people import Register
from grader.course.forms import written_files
from grader.course.roster import Student
from grader.course.submission import with_slugs
from grader.errors import UserError
from grader.results.files import exchange

NO_KIND = ("holds no download of Canvas, Gradescope or Moodle, no git clones, folders or archives; say with --pattern "
           "how its files are named")


@dataclass(frozen=True)
class IntakeOptions:
    """The options of an intake. `known` maps the course's assignments to the names of their files; `course` is the
    course file. `roster` is None if there is no roster."""

    known: Mapping[str, str]
    roster: Sequence[Student] | None = None
    groups: Mapping[str, Sequence[str]] | None = None
    pattern: str | None = None
    deadline: datetime.datetime | None = None
    course: str = ""


@contextlib.contextmanager
def taken_in(source: Path, options: IntakeOptions, parent: Path | None = None) -> Iterator[tuple[Manifest, Path]]:
    """Yield the manifest of a source, and a folder with manifest and submissions, which exists until the block ends.

    The folder lies in `parent`, by default the system's temporary folder. Raises UserError and OSError.
    """
    with temporary.folder("intake", parent) as work:
        path = work / "class"
        path.mkdir()
        yield _take_in(source, options, work, path), path


def place(path: Path, into: Path, *, force: bool) -> None:
    """Rename the folder `path` to `into`. A folder `into` that exists takes the place of `path`, in one step. If the
    file system has no such step, `into` is absent between two renames, and is restored if the second one fails. Raises
    UserError and OSError."""
    may_be_written(into, force=force)
    if not into.exists():
        path.rename(into)
        return
    if exchange(path, into):
        return
    # Not into the working folder, which `taken_in` deletes in any case, and the next command after a kill.
    aside = Path(tempfile.mkdtemp(prefix=".aside-", dir=into.absolute().parent))
    old = aside / "old"
    try:
        into.rename(old)
        path.rename(into)
    finally:
        # Restore it after Ctrl-C, too. If this fails, the old folder stays aside.
        if not into.exists():
            old.rename(into)
        shutil.rmtree(aside, ignore_errors=True)


def may_be_written(into: Path, *, force: bool) -> None:
    """Raise UserError if `into` exists and is not an empty folder, or lies in a folder that an intake wrote. `force`
    allows replacing a folder that an intake wrote, and nothing else."""
    if around := next((folder for folder in into.absolute().parents if (folder / FILE).is_file()), None):
        raise UserError(f"{into}: lies in {around}, which an intake wrote, and would count as a submission there; "
                          "choose a folder beside it")
    if into.is_dir() and not any(into.iterdir()):
        return
    if into.exists() or into.is_symlink():
        if not (into / FILE).is_file() or into.is_symlink():
            raise UserError(f"{into}: already exists, and no intake wrote it; choose a new folder")
        if not force:
            raise UserError(f"{into}: already exists; choose another name or pass --force")


def opened(source: Path, work: Path) -> tuple[Path, list[OmittedFile]]:
    """Return the folder that holds a source's submissions, and the entries that could not be unpacked. An archive is
    unpacked; folders that only wrap another folder are skipped. Raises UserError."""
    left: list[OmittedFile] = []
    folder = source
    if source.is_file():
        try:
            left = unpack(source, folder := work / "source", CLASS)
        except BrokenArchive as error:
            raise UserError(f"{source}: {error}") from None
    elif not source.is_dir():
        raise UserError(f"{source}: no such file or folder; name a download or a folder of submissions")
    while kinds.recognise(folder) == "folders" and (inner := _only_folder(folder, packed=source.is_file())) is not None:
        folder = inner
    return folder, left


def _only_folder(folder: Path, *, packed: bool) -> Path | None:
    """Return the only folder inside a folder, if it holds a class, and not only one student's files.

    Folders and archives may be parts of one student's work, so they count as a class only in a source that was
    `packed`.
    """
    around = entries(folder)
    if len(around) != 1 or not around[0].is_dir():
        return None
    inner = Path(around[0].path)
    kind, inside = kinds.recognise(inner), entries(inner)
    if kind in ("folders", "archives"):
        several = len(inside) > 1 and all(entry.is_dir() or is_archive(entry.name) for entry in inside)
        return inner if packed and several else None
    return inner if kind else None


def _take_in(source: Path, options: IntakeOptions, work: Path, path: Path) -> Manifest:
    folder, left = opened(source, work)
    kind, contents = _read_source(folder, options, work)
    left += [*contents.left, *(OmittedFile(name=entry.name, why=LITTER) for entry in entries(folder, litter=True))]
    register = Register(options.roster or (), options.groups or {})
    unknown: list[str] = []
    taken: list[ManifestEntry] = []
    # A name such as `Jane (she/her)` holds a slash.
    folders = [Path(raw.folder.replace("/", "_")) for raw in contents.submissions]
    for raw, submission in zip(contents.submissions, with_slugs(folders), strict=True):
        if not register.enter(raw) and options.roster is not None:
            unknown.append(submission.slug)
        tree = Tree(raw, work / "trees" / submission.slug)
        chosen = tree.choose(options.known)
        write(chosen, path / submission.slug)
        taken.append(_entry(raw, submission.slug, tree, chosen, options.deadline))
        shutil.rmtree(work / "trees" / submission.slug)
    if not taken:
        raise UserError(f"{source}: {NO_KIND}")
    manifest = Manifest(kind=kind, source=source.resolve().name, course=options.course, submissions=taken, left=left,
                        missing=register.missing(), unknown=unknown)
    (path / FILE).write_text(manifest.model_dump_json(by_alias=True, indent=1), encoding="utf-8")
    return manifest


def _read_source(folder: Path, options: IntakeOptions, work: Path) -> tuple[Kind, RawSource]:
    if options.pattern is not None:
        return "pattern", by_pattern(folder, options.pattern, options.known)
    kind = kinds.recognise(folder)
    if kind is None:
        raise UserError(f"{folder.name}: {NO_KIND}")
    (work / "made").mkdir()
    files = written_files(options.known.values())
    return kind, kinds.read(kind, folder, files, work=work / "made", deadline=options.deadline)


def _entry(
    raw: RawSubmission, slug: str, tree: Tree, chosen: ChosenFiles, deadline: datetime.datetime | None
) -> ManifestEntry:
    late = raw.late
    if late is None and deadline is not None and raw.submitted_at is not None:
        late = datetime.datetime.fromisoformat(raw.submitted_at) > deadline
    return ManifestEntry(
        folder=slug, members=raw.members, submitted_at=raw.submitted_at, late=late, commit=raw.commit, tag=raw.tag,
        origin=raw.origin, taken={file: tree.shown(path) for file, path in chosen.files.items()}, left=chosen.omitted,
        notes=chosen.notes, problems=tree.problems)


def twice(manifest: Manifest) -> list[str]:
    """Return the ids of members that are in more than one submission."""
    counts = Counter(member.id for entry in manifest.submissions for member in entry.members)
    return [who for who, count in counts.items() if count > 1]
