"""The files of this machine that a fork server's programs and its workers have to see; all others can stay hidden."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterable, Sequence, Set
from functools import cache
from importlib import metadata
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from grader import frontends, home
from grader.plan import languages

# Libraries, compilers and their tables, on the usual distributions.
_SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/etc/ld.so.cache", "/etc/ld.so.conf",
           "/etc/ld.so.conf.d", "/etc/alternatives", "/etc/localtime", "/opt/cuda", "/nix/store")  # fmt: skip
# Python's own parts of an environment's folder, which may be somebody's working folder as well: compilers of conda
# have folders of their own.
_OF_PYTHON = ("bin", "lib", "lib32", "lib64", "libexec", "include", "share", "pyvenv.cfg", "nvvm", "targets",
              "*-linux-gnu")  # fmt: skip

# See `withhold`.
_withheld: list[Path] = []


def withhold(folders: Iterable[Path]) -> None:
    """Make these the folders that no submission of this process may see, beside the course: those of submissions, and
    of results with the attempts."""
    _withheld[:] = sorted({folder.resolve() for folder in folders})


def withheld() -> tuple[Path, ...]:
    """Return the folders that `withhold` was given, links followed."""
    return tuple(_withheld)


def import_path() -> list[str]:
    """Return `sys.path` of this process as absolute paths, for a fork server."""
    return [str(Path(entry).absolute()) for entry in sys.path if entry]


@cache
def readable() -> tuple[str, ...]:
    """Return paths that hold what a worker has to read: Python, its packages, the system's libraries, the tools of
    front ends. They may hold the package and what is `secret`, too, which `hidden` and `bared` leave out."""
    paths = [path for path in _SYSTEM if Path(path).exists()]
    prefixes = {sys.prefix, sys.base_prefix, sys.exec_prefix, str(Path(sys.executable).resolve().parent.parent)}
    paths += [str(path) for prefix in prefixes for name in _OF_PYTHON for path in Path(prefix).glob(name)]
    # Packages may be installed in other folders (PYTHONPATH). Folders of the path without packages may hold anything.
    paths += [entry for entry in import_path() if any(Path(entry).glob("*.dist-info"))]
    paths += [path for path in tools() if path not in prefixes]
    found = {Path(path) for path in paths if Path(path).exists() and path != "/"}
    return tuple(sorted(str(path) for path in found if found.isdisjoint(path.parents)))


def secret() -> set[Path]:
    """Return the folders and files that no submission may see, links followed: the course, the package's own, and what
    is `withheld`."""
    courses = {folder for folder in (home.SHIPPED.resolve(), home.root().resolve())
               if (folder / home.ASSIGNMENTS).is_dir()}
    roots, files = frozenset(map(_real, readable())), [*map(_real, needed())]
    folders = (*courses, home.file().resolve(), *_withheld)
    found = {folder: _without_packages(folder, roots, files) for folder in folders}
    # Hundreds of submissions, as a rule, lie in one folder that is left out whole.
    return {one for folder, rest in found.items() for one in rest if found.get(folder.parent) != [folder.parent]}


def _without_packages(folder: Path, roots: frozenset[Path], files: Sequence[Path]) -> list[Path]:
    """Return `folder`, or if packages whose `files` submissions need were put right into it (pip's --target), all else
    in it. Roots that are read may lie in it with their own."""
    inner = {root for root in roots if folder in root.parents}
    if not any(folder in file.parents and inner.isdisjoint(file.parents) for file in files):
        return [folder]
    packages = {file.parts[0] for one in metadata.distributions(path=[str(folder)]) for file in one.files or ()}
    return [path for path in folder.iterdir() if path.name not in packages]


def _real(path: str) -> Path:
    return Path(path).resolve()


def hidden() -> tuple[str, ...]:
    """Return where `secret` folders lie within what a fork server reads, which may be reached through a link, too."""
    found = set()
    for path in map(Path, (*readable(), *own_code())):
        inside = {one for one in secret() if one.is_relative_to(path.resolve())}
        found |= {str(path / one.relative_to(path.resolve())) for one in inside if inside.isdisjoint(one.parents)}
    return tuple(sorted(found))


def withheld_files() -> list[str]:
    """Return a file in each folder that is `withheld`, if it has one, which no submission may read."""
    found, roots = [], list(map(_real, readable()))
    for folder in _withheld:
        # An environment in such a folder is for all.
        beside = [root for root in roots if root.is_relative_to(folder)]
        found += [*islice((str(path) for pattern in ("*", "*/*") for path in folder.glob(pattern)
                           if path.is_file() and not any(path.is_relative_to(root) for root in beside)), 1)]
    return found


class Bared(NamedTuple):
    """Paths to read, whole, and folders to list alone."""

    whole: list[str]
    listed: list[str]


def bared() -> Bared:
    """Return the part of `readable` that a worker may read where nothing can be mounted: neither the package, which it
    has in memory, nor what is `secret`. A folder that holds one of these gives way to the other things in it, but for
    links: what they lead to is read by its own name or not at all."""
    found, without = Bared([], []), {home.PACKAGE, *secret()}
    # Not by what they are links to: bubblewrap makes each a place of its own.
    for path in readable():
        _bare(Path(path), _real(path), without, found)
    return found


def _bare(path: Path, real: Path, without: Set[Path], found: Bared) -> None:
    if real in without:
        return
    if not any(one.is_relative_to(real) for one in without):
        found.whole.append(str(path))
        return
    found.listed.append(str(path))
    for inner in sorted(path.iterdir()):
        if not inner.is_symlink():
            _bare(inner, real / inner.name, without, found)


@cache
def tools() -> tuple[str, ...]:
    """Return the folders of compilers that processes of front ends start, wherever they are installed."""
    return tuple(folder for front_end in frontends.front_ends().values() for folder in front_end.tools())


def own_code() -> tuple[str, ...]:
    """Return paths that only the fork server reads besides: this package and front ends elsewhere. Its workers have
    both in memory."""
    return str(home.PACKAGE), *languages.homes()[1:]


def course_file() -> str:
    """Return a file of the course that no submission needs."""
    return str(next(home.root().glob("assignments/*/assignment.py"), home.file()))


def needed() -> list[str]:
    """Return some files that every honest submission has to be able to read."""
    specs = map(importlib.util.find_spec, ("json", "torch", "triton", "numpy"))
    return [spec.origin for spec in specs if spec is not None and spec.origin is not None]


def open_to_others(paths: tuple[str, ...], but: int | None = None) -> str:
    """Return the first path that another user cannot reach, "" if there is none; symbolic links are followed. The user
    `but` reaches their own."""
    for path in paths:
        real = Path(path).resolve()
        for part in (real, *real.parents):
            wanted = 0o5 if part.is_dir() else 0o4
            # A parent folder only has to let others pass.
            if part != real:
                wanted = 0o1
            if part.stat().st_mode & wanted != wanted and part.stat().st_uid != but:
                return str(part)
    return ""
