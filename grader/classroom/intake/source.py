"""The submissions of a source before anything is copied. Each is a list of files and folders in the source."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from grader import temporary
from grader.classroom.intake.manifest import Left, Member
from grader.course.workspace import ARCHIVES

OTHER = "no assignment's file"
WORK = f"{temporary.PREFIX}intake-"
"""The prefix of the name of the temporary folder in which an intake works."""
LITTER = "hidden, installed, or written by a system"


class IntakeError(Exception):
    """An intake that cannot be done; one line says what is wrong, where, and what to do."""


@dataclass(frozen=True)
class RawPart:
    """A file or folder of a submission: its path; its name as handed in, "" if the folder is the whole submission; its
    name in the source."""

    path: Path
    name: str
    shown: str


@dataclass
class RawSubmission:
    """A submission as its source has it. `folder` is the name that its folder in the class gets if possible."""

    folder: str
    members: list[Member]
    parts: list[RawPart] = field(default_factory=list)
    submitted_at: str | None = None
    late: bool | None = None
    commit: str = ""
    tag: str = ""
    origin: list[str] = field(default_factory=list)
    left: list[Left] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)


@dataclass
class RawSource:
    """All submissions of a source. The files in `left` belong to none of them."""

    submissions: list[RawSubmission]
    left: list[Left] = field(default_factory=list)


def is_litter(name: str) -> bool:
    """Return whether a name is one such as `.git`, `.DS_Store`, `__MACOSX` or `__pycache__`."""
    return name.startswith((".", "__"))


def is_archive(name: str) -> bool:
    return name.casefold().endswith(ARCHIVES)


def entries(folder: Path, *, litter: bool = False) -> list[os.DirEntry[str]]:
    """Return the entries of a folder, sorted by name: all except litter, or with `litter` only the litter. Raises
    IntakeError."""
    try:
        wanted = [entry for entry in os.scandir(folder) if is_litter(entry.name) is litter]
        return sorted(wanted, key=lambda entry: entry.name)
    except OSError as error:
        raise IntakeError(f"{folder}: {error.strerror}; make the folder readable") from None


def below(folder: Path, unread: Callable[[OSError], None] | None = None) -> Iterator[tuple[Path, bool]]:
    """Yield each file below a folder, with False; and, with True, each folder that is not searched: litter, installed
    packages, links. If a folder cannot be read, `unread` is called with the error."""
    for at, folders, files in os.walk(folder, onerror=unread):
        if "pyvenv.cfg" in files and Path(at) != folder:
            folders.clear()
            yield Path(at), True
            continue
        for name in sorted(folders):
            # Path.is_symlink would raise for a path that is too long.
            if is_litter(name) or os.path.islink(Path(at, name)):  # noqa: PTH114
                folders.remove(name)
                yield Path(at) / name, True
        folders.sort()
        yield from ((Path(at) / name, False) for name in sorted(files))
