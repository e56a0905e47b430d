"""What a source holds, before anything of it is copied: submissions, each of files and folders of the source."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from grader.intake.manifest import Left, Member
from grader.model.desk import ARCHIVES

OTHER = "no assignment's file"
WORK = ".kernelmark-intake-"
"""What the folder of an intake that is under way is called, with something behind it."""
LITTER = "hidden, installed, or written by a system"


class IntakeError(Exception):
    """There is nothing to take in; one line that says what, where and what was expected."""


@dataclass(frozen=True)
class Part:
    """A file or a folder of a submission: where it lies, its name as handed in ("" for a folder that is the submission
    itself), and its name in the source."""

    path: Path
    name: str
    shown: str


@dataclass
class Found:
    """A submission as its source has it. `folder` is the name that it would like."""

    folder: str
    members: list[Member]
    parts: list[Part] = field(default_factory=list)
    submitted_at: str | None = None
    late: bool | None = None
    origin: list[str] = field(default_factory=list)
    left: list[Left] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)


@dataclass
class Source:
    """All that was found. `left` belongs to nobody."""

    submissions: list[Found]
    left: list[Left] = field(default_factory=list)


def is_litter(name: str) -> bool:
    """`.git`, `.DS_Store`, `__MACOSX`, `__pycache__` and their like."""
    return name.startswith((".", "__"))


def is_archive(name: str) -> bool:
    return name.casefold().endswith(ARCHIVES)


def entries(folder: Path, *, litter: bool = False) -> list[os.DirEntry[str]]:
    """What lies in a folder, by name, but for litter; or that alone. Raises IntakeError."""
    try:
        return sorted((one for one in os.scandir(folder) if is_litter(one.name) is litter), key=lambda one: one.name)
    except OSError as error:
        raise IntakeError(f"{folder}: {error.strerror}; a readable folder expected") from None


def below(folder: Path, unread: Callable[[OSError], None] | None = None) -> Iterator[tuple[Path, bool]]:
    """The files below a folder, each with False; folders of litter and of installed packages, and links to folders,
    each with True: nothing in them is handed in. `unread` is told why a folder cannot be read."""
    for at, folders, files in os.walk(folder, onerror=unread):
        if "pyvenv.cfg" in files and Path(at) != folder:
            folders.clear()
            yield Path(at), True
            continue
        for name in sorted(folders):
            # Path.is_symlink raises where a path is too long.
            if is_litter(name) or os.path.islink(Path(at, name)):  # noqa: PTH114
                folders.remove(name)
                yield Path(at) / name, True
        folders.sort()
        yield from ((Path(at) / name, False) for name in sorted(files))
