"""The files of this machine that a zygote's programs and its workers have to see; all others can stay hidden."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

from grader import frontends, home
from grader.plan import languages

# Libraries, compilers and their tables, on the usual distributions.
_SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/etc/ld.so.cache", "/etc/ld.so.conf",
           "/etc/ld.so.conf.d", "/etc/alternatives", "/etc/localtime", "/opt/cuda", "/nix/store")  # fmt: skip


def import_path() -> list[str]:
    """`sys.path` of this process as absolute paths, for a zygote."""
    return [str(Path(entry).absolute()) for entry in sys.path if entry]


@cache
def readable() -> tuple[str, ...]:
    """Paths that hold what a worker has to read: Python, its packages, the system's libraries, the tools of front ends.
    They may hold the package and a course, too, which `hidden` and `bared` leave out."""
    paths = [path for path in _SYSTEM if Path(path).exists()]
    paths += [sys.prefix, sys.base_prefix, sys.exec_prefix, str(Path(sys.executable).resolve().parent.parent)]
    # Packages may be installed in other folders (PYTHONPATH). Folders of the path without packages may hold anything.
    paths += [entry for entry in import_path() if any(Path(entry).glob("*.dist-info"))]
    paths += tools()
    found = {Path(path) for path in paths if Path(path).exists() and path != "/"}
    return tuple(sorted(str(path) for path in found if found.isdisjoint(path.parents)))


def secret() -> set[Path]:
    """The folders that no submission may see, links followed: the course, and the package's own."""
    folders = (home.SHIPPED.resolve(), home.root().resolve())
    return {folder for folder in folders if (folder / home.ASSIGNMENTS).is_dir()}


def hidden() -> tuple[str, ...]:
    """Where `secret` folders lie within what a zygote reads, which may be reached through a link, too."""
    return tuple(sorted({str(path / folder.relative_to(path.resolve()))
                         for path in map(Path, (*readable(), *own_code())) for folder in secret()
                         if folder.is_relative_to(path.resolve())}))


class Bared(NamedTuple):
    """Paths to read, whole, and folders to list alone."""

    whole: list[str]
    listed: list[str]


def bared() -> Bared:
    """What of `readable` a worker may read where nothing can be mounted: neither the package, which it has in memory,
    nor what is `secret`. A folder that holds one of these gives way to the other things in it. Each place is named once,
    whatever ways lead there; links to elsewhere are no part of a folder."""
    whole, listed, without = set[Path](), set[Path](), [home.PACKAGE, *secret()]
    for path in readable():
        _bare(Path(path).resolve(), without, whole, listed)
    return Bared(*(sorted(str(path) for path in found if whole.isdisjoint(path.parents)) for found in (whole, listed)))


def _bare(real: Path, without: Sequence[Path], whole: set[Path], listed: set[Path]) -> None:
    if not any(one.is_relative_to(real) for one in without):
        whole.add(real)
        return
    listed.add(real)
    for inner in real.iterdir():
        if not inner.is_symlink() and inner not in without:
            _bare(inner, without, whole, listed)


@cache
def tools() -> tuple[str, ...]:
    """The folders of compilers that processes of front ends start, wherever they are installed."""
    return tuple(folder for front_end in frontends.front_ends().values() for folder in front_end.tools())


def own_code() -> tuple[str, ...]:
    """Paths that only the zygote reads besides: this package and front ends elsewhere. Its workers have both in memory.
    """
    return str(home.PACKAGE), *languages.homes()[1:]


def course_file() -> str:
    """A file of the course that no submission needs."""
    return str(next(home.root().glob("assignments/*/assignment.py"), home.file()))


def needed() -> list[str]:
    """Some files that every honest submission has to be able to read."""
    specs = map(importlib.util.find_spec, ("json", "torch", "triton", "numpy"))
    return [spec.origin for spec in specs if spec is not None and spec.origin is not None]


def open_to_others(paths: tuple[str, ...]) -> str:
    """The first path that another user cannot reach, "" if there is none; symbolic links are followed."""
    for path in paths:
        real = Path(path).resolve()
        for part in (real, *real.parents):
            wanted = 0o5 if part.is_dir() else 0o4
            # A parent folder only has to let others pass.
            if part != real:
                wanted = 0o1
            if part.stat().st_mode & wanted != wanted:
                return str(part)
    return ""
