"""The search for the assignments' files in a folder, and for other files that seem to be meant for them: under another
name, in another place, in a notebook or an archive. A student's check uses it before handing in, and grading uses it
afterwards."""

from __future__ import annotations

import contextlib
import itertools
import os
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from grader import languages
from grader.course.forms import SUFFIX, file_of, function_of, in_any_language, written_files
from grader.course.notebooks import NOTEBOOK, NotebookError, NotebookFile, read_notebook
from grader.course.submission import Source, SubmittedFiles, file_in, printable, read_source_file
from grader.errors import UserError, advised

ARCHIVES = (".zip", ".tar", ".tar.gz", ".tgz", ".tar.xz", ".7z", ".rar")
# A file with one of these words in its name is about a kernel, but is none.
ABOUT = frozenset({"test", "tests", "bench", "benchmark", "reference", "baseline"})
# The depth of folders that are searched, and the number of entries in all: somebody may name a whole home folder.
DEPTH = 2
MOST_ENTRIES = 3_000
MOST_NAMED = 3
# The number of files that are read, and the longest that is read.
MOST_READ = 50
SOURCE_BYTES = 128 << 10
# The longest notebook that is read: it may hold pictures, too.
NOTEBOOK_BYTES = 32 << 20

_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")


@cache
def suffixes() -> tuple[str, ...]:
    """Return the endings of file names that may be meant for an assignment: source files, notebooks, archives."""
    # Some editors on Windows save `silu.py.txt`.
    sources = (suffix + more for suffix in languages.suffixes() for more in ("", ".txt"))
    return (*sources, NOTEBOOK, *ARCHIVES)



@dataclass(frozen=True)
class Workspace:
    """The assignments' files in a folder. `files` are the files to check, by assignment. `expected` are the paths that
    would count. `lines` say which files would be handed in, and which would not. `complete` is False if a requested
    file is missing or has another name."""

    folder: Path
    files: dict[str, Path]
    expected: list[Path]
    lines: list[str] = field(default_factory=list)
    complete: bool = True


def find(path: Path, known: Mapping[str, str], names: Sequence[str], *, named: bool) -> Workspace:
    """Find the files of the assignments `names` in `path`, a file or a folder. If the user `named` the assignment, a
    file counts as the assignment's, whatever its name.

    `known` maps all assignments to the names of their files. Raises UserError.
    """
    with advised("name a file or a folder", path):
        if path.is_dir():
            return _folder(path, {name: file_in(path, known[name]) for name in names}, known)
        if path.is_file():
            return _file(path, known, names if named else ())
        exists = path.is_symlink() or path.exists()
    if exists:
        raise UserError(f"{path}: neither a file nor a folder; name a file such as {next(iter(known.values()))}")
    name = meant_assignment(path.name, known)
    near = _printable_paths(strays(path.parent, {name: known[name]}).of[name], path.parent) if name else []
    but = f", but there is {_listed(near)}" if near else ""
    example = known[name or next(iter(known))]
    raise UserError(f"{path}: no such file{but}; name a folder, or a file such as {example}")


def meant_assignment(file: str, known: Mapping[str, str]) -> str | None:
    """Return the assignment whose name occurs in a file's name: `SiLU.py`, `gemm_final.py`, `silu (1).py`."""
    words = _words(file)
    if ABOUT.intersection(words):
        return None
    text, edges = "".join(words), {0, *itertools.accumulate(map(len, words))}
    keys = {name: name.replace("_", "").casefold() for name in known}
    names = [name for name, key in keys.items()
             if any(text.startswith(key, edge) and edge + len(key) in edges for edge in edges)]
    return max(names, key=len, default=None)


@dataclass(frozen=True)
class Strays:
    """Files with the wrong name or place. `of` has for each assignment the files that seem to be meant for it by their
    names or functions; if there are none, the notebooks and archives that may hold it. `others` are all other files
    that may hold source text."""

    of: dict[str, list[Path]]
    others: list[Path]


def strays(folder: Path, known: Mapping[str, str], depth: int = DEPTH) -> Strays:
    """Return the strays in `folder` and, down to `depth`, in the folders below. Files are read with limits; nothing is
    run or unpacked."""
    astray, others, whole = Strays({name: [] for name in known}, []), list[Path](), list[Path]()
    left, expected = MOST_READ, {folder / name for name in written_files(known.values())}
    for path in _files_below(folder, depth):
        words = _words(path.name)
        if not words or path in expected:
            continue
        name = meant_assignment(path.name, known)
        names, stubs = [name] if name else [], list[str]()
        archive = path.name.casefold().endswith(ARCHIVES)
        if not names and not archive and not ABOUT.intersection(words) and left:
            left -= 1
            names, stubs = _definitions(path, known)
        for meant_name in names:
            astray.of[meant_name].append(path)
        if not names:
            # A notebook that holds only stubs is the kit's own.
            may_hold = archive or (path.suffix.casefold() == NOTEBOOK and not stubs)
            (whole if may_hold else others).append(path)
    for paths in astray.of.values():
        paths.extend([] if paths else whole)
    astray.others.extend(others)
    return astray


def handed_in(folder: Path, sources: Mapping[str, Source], known: Mapping[str, str]) -> SubmittedFiles:
    """Return the files read from a student's folder, and the files that seem to be meant for missing ones. `known` maps
    all assignments to the names of their files."""
    missing = [name for name, source in sources.items() if source == Source()]
    if not missing and any(source.content is not None for source in sources.values()):
        return SubmittedFiles(sources)
    astray = strays(folder, known)
    others = [] if any((folder / file_in(folder, file)).exists() for file in known.values()) else astray.others
    instead = {name: Source(elsewhere=tuple(_printable_paths(astray.of[name], folder))) for name in missing}
    return SubmittedFiles({**sources, **instead}, tuple(_printable_paths(others, folder)))


def files_beside(path: Path, folders: Sequence[Path]) -> list[str]:
    """Return the source files, notebooks and archives in `path` that lie beside the students' folders."""
    if path in folders:
        return []
    return _printable_paths([path / entry.name for entry in os.scandir(path)
                             if _words(entry.name) and not entry.is_dir(follow_symlinks=False)], path)


def found_instead(names: Sequence[str], *expected: str) -> str:
    """Return a sentence about files found in place of the expected ones: `Found hw1/SiLU.py; silu.py expected`."""
    return f"Found {_listed(names)}; {_listed(expected)} expected."


def _words(file: str) -> list[str]:
    """Return the words of a file's name; none for a hidden file, and for a file that cannot hold source text."""
    stem = next((file[: -len(suffix)] for suffix in sorted(suffixes(), key=len, reverse=True)
                 if file.casefold().endswith(suffix)), "")
    return [] if file.startswith(".") else [word.casefold() for word in _WORDS.findall(stem)]


def _folder(folder: Path, wanted: Mapping[str, str], known: Mapping[str, str]) -> Workspace:
    here = {name: folder / file for name, file in wanted.items() if (folder / file).exists()}
    astray = strays(folder, known)
    stubs = [path.name for name, path in here.items() if is_stub(path, name)]
    celled = _celled(astray, [name for name in wanted if name not in here or here[name].name in stubs], known)
    others = {name: astray.of[name] for name in wanted if name not in here and name not in celled}
    instead = {name: paths[0] for name, paths in others.items()
               if len(paths) == 1 and paths[0].suffix.casefold() in languages.suffixes()}
    # Name missing files in the language of most files that are there.
    suffixes = Counter(path.suffix for path in here.values())
    suffix = suffixes.most_common(1)[0][0] if suffixes else SUFFIX
    missing = [file_of(name, suffix) for name, paths in others.items() if not paths]
    written = [path.name for path in here.values() if path.name not in stubs]
    if not here and not celled and not instead:
        _require_any(folder, wanted, known, astray)
    lines = [f"Would be handed in: {', '.join(written)}."] if written else [] if celled else [
        "Nothing would be handed in."]
    for name, (path, file, cells) in celled.items():
        how = (f"it there, with %%kernelmark {name}" if file.endswith(SUFFIX) else
               f"{file}, written with %%writefile {file}")
        lines.append(f"Would be handed in where your course takes notebooks: {file}, {cells.origin} of "
                     f"{_printable_paths([path], folder)[0]}, not checked; check {how}.")
    if stubs:
        lines.append(f"Not written yet: {', '.join(stubs)}.")
    if missing:
        lines.append(f"Missing: {', '.join(missing)}.")
    # Group the lines, since one archive may hold several files.
    groups: dict[tuple[Path, ...], list[str]] = {}
    for name, paths in others.items():
        groups.setdefault(tuple(paths), []).append(name)
    for group, names in groups.items():
        if group:
            said = found_instead(_printable_paths(group, folder), *(expected_name(group[0], name) for name in names))
            lines.append(f"{said[:-1]}: as it is, it is not handed in."
                         if names[0] in instead else f"{said[:-1]}, so not checked.")
    # A notebook among the others holds nothing but stubs, or was read.
    if left := sorted(path.name for path in astray.others
                      if path.parent == folder and path.suffix.casefold() != NOTEBOOK):
        lines.append(f"Would not be handed in: {_listed(left)} (each file stands alone).")
    files = {name: here.get(name) or instead[name] for name in wanted if name in here or name in instead}
    expected = [folder / file for file in wanted.values()]
    return Workspace(folder, files, expected, lines, complete=len(here) == len(wanted))


def _require_any(folder: Path, wanted: Mapping[str, str], known: Mapping[str, str], astray: Strays) -> None:
    """Check that a folder in which no file can be checked has a file that is misnamed. Raises UserError."""
    meant = list(itertools.chain(*(astray.of[name] for name in wanted)))
    names = written_files(wanted.values())
    lacks = f"{folder}: holds none of {', '.join(wanted.values())}; name the folder that holds your files"
    homes = Counter(path.parent for path in meant if path.parent != folder and path.name in names)
    if homes:
        raise UserError(f"{lacks}, such as {min(homes, key=lambda path: (-homes[path], len(path.parts)))}")
    if meant:
        return
    for name in (name for name in known if name not in wanted):
        if (beside := folder / file_in(folder, known[name])).exists():
            raise UserError(
                f"{folder}: holds {beside.name}, which is not among the files asked for; check it with "
                f"--only {name}")
    for notebook in (path for path in astray.others if path.suffix.casefold() == NOTEBOOK):
        raise UserError(
            f"{notebook}: holds nothing but stubs; write a kernel in place of one, then check again")
    raise UserError(lacks)


def _celled(
    astray: Strays, names: Sequence[str], known: Mapping[str, str]
) -> dict[str, tuple[Path, str, NotebookFile]]:
    """Return the files of `names` that an intake would take from a notebook's cells: for each, the notebook, the file's
    name, and its cells. An assignment is left out if two notebooks or another file may be meant for it."""
    notebooks = dict.fromkeys(path for path in itertools.chain(*astray.of.values(), astray.others)
                              if path.suffix.casefold() == NOTEBOOK)
    held: dict[str, list[tuple[Path, str, NotebookFile]]] = {name: [] for name in names}
    for path in [*notebooks][:MOST_READ]:
        content = read_source_file(path.parent, path.name, NOTEBOOK_BYTES).content or b""
        with contextlib.suppress(NotebookError):
            read = read_notebook(content, {name: known[name] for name in names})
            for name in names:
                held[name] += [(path, file, read[file]) for file in in_any_language(known[name]) if file in read]
    return {name: of[0] for name, of in held.items() if len(of) == 1 and not any(
        path.suffix.casefold() in languages.suffixes() for path in astray.of[name])}


def _file(path: Path, known: Mapping[str, str], only: Sequence[str]) -> Workspace:
    if len(only) > 1:
        raise UserError(f"--only: {', '.join(only)} are several; name one assignment for one file")
    if path.suffix.casefold() == NOTEBOOK:
        likely = next(iter([*only, *_definitions(path, known)[0]]), None) or meant_assignment(path.name, known)
        likely = likely or next(iter(known))
        raise UserError(f"{path}: is a notebook; check its cells there, with %%kernelmark {likely}")
    exact = next((name for name, file in known.items() if path.name in in_any_language(file)), None)
    defined = [*itertools.chain(*_definitions(path, known))]
    name = only[0] if only else exact or (defined[0] if len(defined) == 1 else meant_assignment(path.name, known))
    if name is None:
        raise UserError(f"{path}: not the file of an assignment ({', '.join(known.values())}); say with --only "
                             "NAME which it is")
    if path.name in in_any_language(known[name]):
        return Workspace(path.parent, {name: path}, [path])
    said = found_instead([path.name], expected_name(path, name))
    return Workspace(path.parent, {name: path}, [path], [said], complete=False)


def expected_name(path: Path, name: str) -> str:
    """Return the name that the file at `path` should have if it is meant for the assignment `name`."""
    suffix = path.suffix.casefold()
    return file_of(name, suffix if suffix in languages.suffixes() else SUFFIX)


def is_stub(path: Path, name: str) -> bool:
    """Return whether a file still holds the stub of the assignment `name`."""
    return name in _definitions(path, {name: file_of(name)})[1]


def _definitions(path: Path, known: Mapping[str, str]) -> tuple[list[str], list[str]]:
    """Return the assignments whose functions a file defines, and assignments of which the file has only the stub. The
    functions of a notebook are searched in the text of its cells."""
    text = (read_source_file(path.parent, path.name, SOURCE_BYTES).content or b"").decode("utf-8", "replace")
    suffixes = {suffix.casefold() for suffix in path.suffixes}
    front_ends = languages.front_ends().values()
    # The language of a notebook's cells is not known, so try all.
    fitting = [language for language in front_ends if language.suffix in suffixes]
    outlines = [(language.suffix, language.outline(text)) for language in fitting or front_ends]
    defined = [name for name in known if any(
        function_of(name, suffix) in outline.defined for suffix, outline in outlines)]
    left = [name for name in defined if any(
        function_of(name, suffix) in outline.stubs for suffix, outline in outlines)]
    return [name for name in defined if name not in left], left


def _files_below(folder: Path, most: int) -> Iterator[Path]:
    """Yield the files in `folder` and in folders below it, at most `most` folders deep. Hidden folders and installed
    packages are skipped."""
    waiting, left = [(folder, 0)], MOST_ENTRIES
    while waiting:
        at, depth = waiting.pop(0)
        try:
            with os.scandir(at) as listing:
                entries = sorted(itertools.islice(listing, left), key=lambda entry: entry.name)
        except OSError:
            continue
        if depth and any(entry.name == "pyvenv.cfg" for entry in entries):
            continue
        for entry in entries:
            left -= 1
            if left < 0:
                return
            if entry.is_dir(follow_symlinks=False):
                if depth < most and not entry.name.startswith((".", "__")):
                    waiting.append((Path(entry.path), depth + 1))
            else:
                yield Path(entry.path)


def _printable_paths(paths: Sequence[Path], folder: Path) -> list[str]:
    """Return paths below `folder` as printable text; only the first of many."""
    names = [printable(str(path.relative_to(folder))) for path in paths]
    return [*names[:MOST_NAMED], f"{len(names) - MOST_NAMED} more"] if len(names) > MOST_NAMED + 1 else names


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names)
