"""Submissions: a folder for each student, read once and with limits. Nothing in it is executed or imported here."""

from __future__ import annotations

import errno
import os
import re
import stat
import unicodedata
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import Literal

from grader import languages
from grader.course.forms import file_of, in_any_language, written_files
from grader.errors import UserError, advised
from grader.results.text import compose


@dataclass(frozen=True)
class Submission:
    """One student's folder. `slug` is the name of its results folder, unique in a class even if case is ignored."""

    student: str
    folder: Path
    slug: str


_UTF16 = re.compile(rb"\xff\xfe|\xfe\xff|(?:[\t-~]\0){2}|(?:\0[\t-~]){2}")

Cause = Literal["link_out", "dead_link", "not_a_file", "too_large", "denied", "two_files", "language", "lfs", "utf16"]


@dataclass(frozen=True)
class UnreadableFile:
    """The reason why a file could not be read. If the file is too large, `most` is the limit in bytes."""

    cause: Cause
    message: str
    most: int = 0


@dataclass(frozen=True)
class Source:
    """A file of a submission: its bytes, or the reason why they could not be read. If the file does not exist, both are
    None, and `elsewhere` names files that seem to be meant for it. `file` is the file's name, whose suffix decides the
    language; "" stands for the assignment's own file name."""

    content: bytes | None = None
    problem: UnreadableFile | None = None
    elsewhere: tuple[str, ...] = ()
    file: str = ""


@dataclass(frozen=True)
class SubmittedFiles:
    """The contents of a student's folder for a grading, read once: each assignment's file, by assignment; and, if none
    of these files exists, other files that may hold source text."""

    sources: Mapping[str, Source]
    others: tuple[str, ...] = ()


def file_in(folder: Path, file: str) -> str:
    """Return the name under which `folder` has an assignment's file, in any language; `file` itself if it has none."""
    return next((name for name in in_any_language(file) if os.path.lexists(folder / name)), file)


@dataclass(frozen=True)
class Languages:
    """The languages that count, by the suffixes of their files and by name; without any, all languages count. `both`
    decides about two files for one assignment: neither counts ("refuse"), or the one in the language named first
    ("first")."""

    suffixes: tuple[str, ...] = ()
    both: Literal["refuse", "first"] = "refuse"
    names: tuple[str, ...] = ()

    def present(self, folder: Path, assignments: Iterable[str]) -> list[str]:
        """Return the files of these assignments that a folder holds."""
        return [name for assignment in assignments for name in self.files(file_of(assignment))
                if os.path.lexists(folder / name)]

    def files(self, file: str) -> list[str]:
        """Return the names of an assignment's file in the languages that count, in the order of these."""
        named = {PurePath(name).suffix: name for name in in_any_language(file)}
        return [named[suffix] for suffix in self.suffixes if suffix in named] if self.suffixes else [*named.values()]


def read_sources(
    folder: Path, names: Iterable[str], max_bytes: int, languages: Languages | None = None
) -> dict[str, Source]:
    """Return the files of these assignments in a student's folder, in any of the `languages`; see
    `read_source_file`."""
    return {name: _read_source(folder, file_of(name), max_bytes, languages or Languages()) for name in names}


def _read_source(folder: Path, file: str, max_bytes: int, counted: Languages) -> Source:
    wanted = counted.files(file)
    there = [name for name in wanted if os.path.lexists(folder / name)]
    if len(there) > 1 and counted.both == "refuse":
        return _unread("two_files", f"{' and '.join(there)} are both there; hand in one of them", there[0])
    if there:
        source = _as_text(read_source_file(folder, there[0], max_bytes))
        language = languages.by_content(there[0], source.content or b"")
        if counted.names and source.content is not None and language.name not in counted.names:
            titles = " or ".join(languages.front_ends()[name].title for name in counted.names)
            return _unread("language", f"{there[0]} is in {language.title}, which this course does not take; write it "
                                       f"in {titles}", there[0])
        return source
    elsewhere = next((name for name in in_any_language(file) if os.path.lexists(folder / name)), None)
    if elsewhere is not None:
        return _unread("language", f"{elsewhere} is in a language that this course does not take; "
                                   f"hand in {' or '.join(wanted)}", elsewhere)
    return read_source_file(folder, wanted[0], max_bytes)


def _as_text(source: Source) -> Source:
    """Return the source, or the reason why it is not text in UTF-8. Otherwise each language's compiler would report
    that in its own words."""
    begin = (source.content or b"")[:64]
    if begin.startswith(b"version https://git-lfs.github.com/spec/"):
        return _unread("lfs", f"{source.file} is a pointer of Git LFS, not the file itself", source.file)
    # Either a byte order mark, or no mark and an ASCII character in 16 bits at the beginning.
    if _UTF16.match(begin):
        return _unread("utf16", f"{source.file} is text in UTF-16; save it as UTF-8", source.file)
    return source


def read_source_file(folder: Path, file: str, max_bytes: int) -> Source:
    """Read `folder/file` if it is a plain file of this folder of at most `max_bytes`.

    Links within the folder are followed. A link that leaves it, or anything but a regular file, is a problem.
    """
    path = folder / file
    try:
        if path.is_symlink():
            target = path.resolve(strict=True)
            if not target.is_relative_to(folder.resolve()):
                return _unread("link_out", f"{file} is a symbolic link out of the submission; hand in the file itself",
                           file)
            path = target
        # NONBLOCK: a FIFO must not hang the grader. NOFOLLOW: a link may have been put there since.
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        return _unread("dead_link", f"{file} is a symbolic link to nothing", file) if path.is_symlink() else Source()
    except RuntimeError:
        return _unread("dead_link", f"{file} cannot be read: symbolic links in a circle", file)
    except OSError as error:
        if error.errno == errno.ENXIO:
            return _unread("not_a_file", f"{file} is not a regular file", file)
        return _unread("dead_link" if error.errno == errno.ELOOP else "denied",
                       f"{file} cannot be read: {error.strerror}", file)
    try:
        info = os.fstat(descriptor)
        if not stat.S_ISREG(info.st_mode):
            return _unread("not_a_file", f"{file} is not a regular file", file)
        if info.st_size > max_bytes:
            return _unread("too_large", f"{file} has {info.st_size:,} bytes; at most {max_bytes:,} are allowed", file,
                           max_bytes)
        with os.fdopen(os.dup(descriptor), "rb") as stream:
            content = stream.read(max_bytes + 1)
    except OSError as error:
        return _unread("denied", f"{file} cannot be read: {error.strerror}", file)
    finally:
        os.close(descriptor)
    if len(content) > max_bytes:
        return _unread("too_large", f"{file} grew while it was read; at most {max_bytes:,} bytes are allowed", file,
                       max_bytes)
    return Source(content=content, file=file)


def _unread(cause: Cause, message: str, file: str, most: int = 0) -> Source:
    return Source(problem=UnreadableFile(cause, message, most), file=file)


def find_submissions(path: Path, files: Iterable[str]) -> list[Submission]:
    """Return the students under `path`: a folder of student folders, or one student's folder.

    `files` are the file names of assignments, which may be there in any language. A folder that holds such a file is
    one student's. Raises UserError.
    """
    with advised("name a folder of submissions", path):
        info = path.stat()
    if not stat.S_ISDIR(info.st_mode):
        raise UserError(f"{path}: is a file; name a folder of submissions")
    known = set(written_files(files))
    with advised("make the folder readable", path):
        entries = sorted(os.scandir(path), key=lambda entry: entry.name)
    # A folder such as `.git` or `__MACOSX` is one only if it has an assignment's file.
    folders = [Path(entry.path) for entry in entries if _is_folder(entry)
               and (not entry.name.startswith((".", "__")) or _holds(Path(entry.path), known))]
    if stray := [entry.name for entry in entries if entry.name in known]:
        # A folder with a language's name, beside files, holds further work of the same person.
        if students := [folder for folder in folders
                        if _holds(folder, known) and folder.name not in languages.front_ends()]:
            raise UserError(
                f"{path}: holds {stray[0]} beside {len(students)} folders with submissions ({students[0].name}, …); "
                "name a folder of one student's files, or of students' folders")
        folders = [path]
    if not folders:
        names = [entry.name for entry in entries if entry.name.casefold().endswith((".py", ".ipynb", ".zip"))][:3]
        others = f" (found {', '.join(names)})" if names else ""
        raise UserError(
            f"{path}: holds no student's folder and none of {', '.join(sorted(known))}{others}; name another folder")
    return with_slugs(folders)


def select_submissions(submissions: list[Submission], names: Collection[str]) -> list[Submission]:
    """Return the submissions of these students or with these folders of results; all if there are no names. Raises
    UserError."""
    wanted = []
    for name in map(compose, names):
        matching = ([submission for submission in submissions if submission.student == name]
                    or [submission for submission in submissions if submission.slug == name])
        wanted += matching
        if not matching:
            some = ", ".join(submission.student for submission in submissions[:6])
            raise UserError(f"--student {name!r}: no such student here; choose from "
                                  f"{some}{', …' * (len(submissions) > 6)}")
    return [submission for submission in submissions if not names or submission in wanted]


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except PermissionError:
        # Count it as a folder. Its files are then reported as unreadable, and no student is left out silently.
        return True
    except OSError:
        # A circular link leads to no folder.
        return False


def _holds(folder: Path, known: set[str]) -> bool:
    try:
        return any((folder / name).is_file() for name in known)
    except OSError:
        return False


def submission_of(folder: Path) -> Submission:
    """Return the submission of one student's folder, whatever it holds."""
    return with_slugs([folder])[0]


def with_slugs(folders: Sequence[Path], before: Iterable[tuple[str, str]] = ()) -> list[Submission]:
    """Return a submission for each folder, with its own slug. Students get the same slugs as in `before`, which has
    pairs of student and slug."""
    given: dict[str, list[str]] = {}
    for student, slug in before:
        given.setdefault(compose(student), []).append(slug)
    taken = {slug.casefold() for slugs in given.values() for slug in slugs}
    submissions = []
    for folder in folders:
        # A link's own name counts, not its target's. `.` and `..` have no name of their own.
        name = folder.name if folder.name not in ("", "..") else folder.resolve().name
        student = compose(printable(name)) or "student"
        if slugs := given.get(student):
            submissions.append(Submission(student=student, folder=folder, slug=slugs.pop(0)))
            continue
        base = _slug(student)
        slug, count = base, 2
        while slug.casefold() in taken:
            slug, count = f"{base}-{count}", count + 1
        taken.add(slug.casefold())
        submissions.append(Submission(student=student, folder=folder, slug=slug))
    return submissions


def printable(name: str) -> str:
    """Return a file or folder name as text: invalid UTF-8 and control characters become visible."""
    text = os.fsencode(name).decode("utf-8", "replace")
    return "".join("\ufffd" if unicodedata.category(sign)[0] == "C" else sign for sign in text)


def _slug(student: str) -> str:
    """Return a file name that is safe on every system: letters (of any script), digits, `.`, `_`, `-`; at most 80
    bytes."""
    text = re.sub(r"[^\w.-]+", "_", student).strip("._-") or "student"
    while len(text.encode()) > 80:
        text = text[:-1]
    # The results folder has files of these names.
    return f"{text}_" if text.casefold() in {"index.html", "gradebook.csv", "leaderboard.html"} else text
