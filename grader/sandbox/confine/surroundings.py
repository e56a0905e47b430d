"""The files of this machine that a fork server and its workers have to read. All other files can stay hidden."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterable, Sequence, Set
from functools import cache
from importlib import metadata
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from grader import home, languages
from grader.plan import language_folders

# Libraries, compilers and their tables, on the usual distributions.
_SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/etc/ld.so.cache", "/etc/ld.so.conf",
           "/etc/ld.so.conf.d", "/etc/alternatives", "/etc/localtime", "/opt/cuda", "/nix/store")  # fmt: skip
# Python's own parts of an environment's folder. That folder may be somebody's working folder, too. Compilers of conda
# have folders of their own.
_OF_PYTHON = ("bin", "lib", "lib32", "lib64", "libexec", "include", "share", "pyvenv.cfg", "nvvm", "targets",
              "*-linux-gnu")  # fmt: skip

# The folders that `withhold` was given.
_withheld: list[Path] = []


def withhold(folders: Iterable[Path]) -> None:
    """Set the folders that, beside the course, no submission of this process may see: those of submissions, and those
    of results with their attempts."""
    _withheld[:] = sorted({folder.resolve() for folder in folders})


def withheld() -> tuple[Path, ...]:
    """Return the folders that `withhold` was given, with links resolved."""
    return tuple(_withheld)


def import_path() -> list[str]:
    """Return `sys.path` of this process as absolute paths, for a fork server."""
    return [str(Path(entry).absolute()) for entry in sys.path if entry]


@cache
def readable() -> tuple[str, ...]:
    """Return the paths that a worker has to read: Python, its packages, the system's libraries, the tools of front
    ends. The package and `secret` paths may lie inside; `hidden` and `readable_paths` leave them out."""
    paths = [path for path in _SYSTEM if Path(path).exists()]
    prefixes = {sys.prefix, sys.base_prefix, sys.exec_prefix, str(Path(sys.executable).resolve().parent.parent)}
    paths += [str(path) for prefix in prefixes for name in _OF_PYTHON for path in Path(prefix).glob(name)]
    # Packages may be installed in other folders (PYTHONPATH). A folder of the path without packages may hold anything.
    paths += [entry for entry in import_path() if any(Path(entry).glob("*.dist-info"))]
    paths += [path for path in tools() if path not in prefixes]
    there = {Path(path) for path in paths if Path(path).exists() and path != "/"}
    return tuple(sorted(str(path) for path in there if there.isdisjoint(path.parents)))


def secret() -> set[Path]:
    """Return the folders and files that no submission may see, with links resolved: the course, the package's own
    course, and the `withheld` folders."""
    courses = {folder for folder in (home.SHIPPED.resolve(), home.root().resolve())
               if (folder / home.ASSIGNMENTS).is_dir()}
    roots, files = frozenset(map(_real, readable())), [*map(_real, needed_files())]
    folders = (*courses, home.file().resolve(), *_withheld)
    parts = {folder: _without_packages(folder, roots, files) for folder in folders}
    # Submissions, often hundreds, mostly lie in one folder. Where that folder is secret as a whole, leave them out.
    return {path for folder, rest in parts.items() for path in rest if parts.get(folder.parent) != [folder.parent]}


def _without_packages(folder: Path, roots: frozenset[Path], files: Sequence[Path]) -> list[Path]:
    """Return `[folder]`. But if packages were installed right into the folder (pip's --target), and submissions need
    `files` of them, return everything in the folder except the packages. `roots` that are read anyway do not count."""
    inner = {root for root in roots if folder in root.parents}
    if not any(folder in file.parents and inner.isdisjoint(file.parents) for file in files):
        return [folder]
    packages = {file.parts[0] for package in metadata.distributions(path=[str(folder)]) for file in package.files or ()}
    return [path for path in folder.iterdir() if path.name not in packages]


def _real(path: str) -> Path:
    return Path(path).resolve()


def hidden() -> tuple[str, ...]:
    """Return the paths at which a fork server would reach `secret` folders, through links, too."""
    reached = set()
    for path in map(Path, (*readable(), *own_code())):
        inside = {secret_ for secret_ in secret() if secret_.is_relative_to(path.resolve())}
        outer = [secret_ for secret_ in inside if inside.isdisjoint(secret_.parents)]
        reached |= {str(path / secret_.relative_to(path.resolve())) for secret_ in outer}
    return tuple(sorted(reached))


def withheld_files() -> list[str]:
    """Return, for a probe, one file of each `withheld` folder that has any: no submission may read these files."""
    shown, roots = [], list(map(_real, readable()))
    for folder in _withheld:
        # Every submission may read an environment that lies in such a folder.
        beside = [root for root in roots if root.is_relative_to(folder)]
        shown += [*islice((str(path) for pattern in ("*", "*/*") for path in folder.glob(pattern)
                           if path.is_file() and not any(path.is_relative_to(root) for root in beside)), 1)]
    return shown


class ReadablePaths(NamedTuple):
    """Paths that may be read whole, and folders that may only be listed."""

    whole: list[str]
    listed: list[str]


def readable_paths() -> ReadablePaths:
    """Return the part of `readable` that a worker may read where nothing can be mounted. It leaves out the package,
    which the worker has in memory, and `secret` paths. A folder that holds one of these is only listed, and its other
    entries take its place, except links: their targets are read by their own names or not at all."""
    paths, without = ReadablePaths([], []), {home.PACKAGE, *secret()}
    # By path, not by link target: bubblewrap mounts each path at its own place.
    for path in readable():
        _bare(Path(path), _real(path), without, paths)
    return paths


def _bare(path: Path, real: Path, without: Set[Path], paths: ReadablePaths) -> None:
    if real in without:
        return
    if not any(secret_.is_relative_to(real) for secret_ in without):
        paths.whole.append(str(path))
        return
    paths.listed.append(str(path))
    for inner in sorted(path.iterdir()):
        if not inner.is_symlink():
            _bare(inner, real / inner.name, without, paths)


@cache
def tools() -> tuple[str, ...]:
    """Return the folders of the compilers that processes of front ends start, wherever these are installed."""
    return tuple(dict.fromkeys(folder for front_end in languages.front_ends().values() for folder in front_end.tools()))


def own_code() -> tuple[str, ...]:
    """Return the paths that the fork server alone reads: this package, and front ends in other folders. Its workers
    have both in memory."""
    return str(home.PACKAGE), *language_folders.homes()[1:]


def course_file() -> str:
    """Return a file of the course that no submission needs."""
    return str(next(home.root().glob("assignments/*/assignment.py"), home.file()))


def needed_files() -> list[str]:
    """Return some files that every honest submission has to be able to read."""
    specs = map(importlib.util.find_spec, ("json", "torch", "triton", "numpy"))
    return [spec.origin for spec in specs if spec is not None and spec.origin is not None]


def open_to_others(paths: tuple[str, ...], but: int | None = None) -> str:
    """Return the first path that another user cannot reach, "" if there is none. Symbolic links are followed. Files and
    folders that the user `but` owns count as reachable."""
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
