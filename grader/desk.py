"""What a student has before handing in: files of assignments, what is missing, what has another name or place."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from grader.submission import printable

# `silu.py.txt` is what an editor of Windows leaves.
SUFFIXES = (".py", ".py.txt", ".ipynb", ".zip")
# A file of these words is about a kernel, and none.
ABOUT = frozenset({"test", "tests", "bench", "benchmark", "reference", "baseline"})
# Folders below the student's that are looked into, one in another, and how many entries in all: a home is no homework.
DEPTH = 2
MOST_ENTRIES = 3_000
MOST_NAMED = 3
SOURCE_BYTES = 128 << 10

_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")


class DeskError(Exception):
    """There is nothing to check; one line that says what, where and what was expected."""

    def __init__(self, message: str) -> None:
        # It quotes names of files, which may hold line breaks.
        super().__init__(printable(message))


@dataclass(frozen=True)
class Desk:
    """`files` are those to check, by assignment. `lines` say what would be handed in and what would not; unless it is
    `complete`, something that was asked for is missing or has another name. `expected` are files that would count."""

    folder: Path
    files: dict[str, Path]
    expected: list[Path]
    lines: list[str] = field(default_factory=list)
    complete: bool = True


def find(path: Path, known: Mapping[str, str], asked: Sequence[str], *, named: bool) -> Desk:
    """What `path`, a file or a folder, has of the assignments `asked`. If they were `named`, a file is one of them.

    `known` are all assignments with the names of their files. Raises DeskError.
    """
    try:
        if path.is_dir():
            return _folder(path, {name: known[name] for name in asked}, known)
        if path.is_file():
            return _file(path, known, asked if named else ())
        there = path.is_symlink() or path.exists()
    except OSError as error:
        raise DeskError(f"{path}: {error.strerror}; a file or a folder expected") from None
    if there:
        raise DeskError(f"{path}: neither a file nor a folder; a file such as {next(iter(known.values()))} expected")
    name = meant(path.name, known)
    near = _named(strays(path.parent, {name: known[name]})[name], path.parent) if name else ""
    raise DeskError(f"{path}: no such file{f', but there is {near}' if near else ''}; a file or a folder expected")


def meant(file: str, known: Mapping[str, str]) -> str | None:
    """The assignment whose name stands in a file's name: `SiLU.py`, `gemm_final.py`, `silu (1).py`."""
    stem = next((file[: -len(suffix)] for suffix in sorted(SUFFIXES, key=len, reverse=True)
                 if file.casefold().endswith(suffix)), None)
    if stem is None or file.startswith("."):
        return None
    words = [word.casefold() for word in _WORDS.findall(stem)]
    if ABOUT.intersection(words):
        return None
    runs = {"".join(words[begin:end]) for begin in range(len(words)) for end in range(begin + 1, len(words) + 1)}
    found = [name for name in known if name.replace("_", "").casefold() in runs]
    return max(found, key=len, default=None)


def strays(folder: Path, known: Mapping[str, str]) -> dict[str, list[Path]]:
    """For each assignment, the files in `folder` and below that seem to be meant for it, without the file itself."""
    found: dict[str, list[Path]] = {name: [] for name in known}
    for path in _below(folder):
        name = meant(path.name, known)
        if name is not None and path != folder / known[name]:
            found[name].append(path)
    return found


def _folder(folder: Path, asked: Mapping[str, str], known: Mapping[str, str]) -> Desk:
    here = {name: folder / file for name, file in asked.items() if (folder / file).exists()}
    others = {name: paths for name, paths in strays(folder, known).items() if name in asked and name not in here}
    instead = {name: paths[0] for name, paths in others.items()
               if len(paths) == 1 and paths[0].suffix.casefold() == ".py"}
    missing = [file for name, file in asked.items() if name not in here and not others[name]]
    if not here and not any(others.values()):
        raise DeskError(f"{folder}: holds none of {', '.join(asked.values())}; one or more expected"
                        + (f" (unpack {archives})" if (archives := _archives(folder)) else ""))
    lines = [f"Would be handed in: {', '.join(path.name for path in here.values())}." if here else
             "Nothing would be handed in."]
    if missing:
        lines.append(f"Missing: {', '.join(missing)}.")
    lines += [f"Found {_named(paths, folder)}; {asked[name]} expected{'' if name in instead else ', so not checked'}."
              for name, paths in others.items() if paths]
    used = {*here.values(), *instead.values(), *(path for paths in others.values() for path in paths)}
    left = sorted(path.name for path in folder.glob("*.py") if path not in used and path.name not in known.values())
    if left:
        lines.append(f"Would not be handed in: {', '.join(left)} (each file stands alone).")
    files = {name: here.get(name) or instead[name] for name in asked if name in here or name in instead}
    return Desk(folder, files, [folder / file for file in asked.values()], lines, complete=len(here) == len(asked))


def _file(path: Path, known: Mapping[str, str], only: Sequence[str]) -> Desk:
    if len(only) > 1:
        raise DeskError(f"--only: {', '.join(only)}; one assignment expected for one file")
    exact = next((name for name, file in known.items() if file == path.name), None)
    name = only[0] if only else exact or _by_content(path, known) or meant(path.name, known)
    if name is None:
        raise DeskError(f"{path}: the file of an assignment expected ({', '.join(known.values())}); --only NAME says "
                        "which it is")
    if path.name == known[name]:
        return Desk(path.parent, {name: path}, [path])
    return Desk(path.parent, {name: path}, [path], [f"Found {path.name}; {known[name]} expected."], complete=False)


def _by_content(path: Path, known: Mapping[str, str]) -> str | None:
    """The one assignment whose function a file defines."""
    try:
        with path.open("rb") as stream:
            text = stream.read(SOURCE_BYTES).decode("utf-8", "replace")
    except OSError:
        return None
    defined = set(re.findall(r"^def (\w+)\(", text, re.MULTILINE)) & known.keys()
    return defined.pop() if len(defined) == 1 else None


def _below(folder: Path) -> Iterator[Path]:
    """The files in `folder` and in folders below it, but for what is hidden, installed or no student's work."""
    waiting, left = [(folder, 0)], MOST_ENTRIES
    while waiting:
        at, depth = waiting.pop(0)
        try:
            entries = sorted(os.scandir(at), key=lambda entry: entry.name)
        except OSError:
            continue
        if depth and any(entry.name == "pyvenv.cfg" for entry in entries):
            continue
        for entry in entries:
            left -= 1
            if left < 0:
                return
            if entry.is_dir(follow_symlinks=False):
                if depth < DEPTH and not entry.name.startswith((".", "__")):
                    waiting.append((Path(entry.path), depth + 1))
            else:
                yield Path(entry.path)


def _named(paths: Sequence[Path], folder: Path) -> str:
    names = [str(path.relative_to(folder)) for path in paths]
    more = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
    return ", ".join(names[:MOST_NAMED]) + more


def _archives(folder: Path) -> str:
    return ", ".join(sorted(path.name for path in folder.glob("*.zip"))[:MOST_NAMED])
