"""The choice of the files to grade in a submission. All its files are gathered in one folder, where archives and
notebooks are opened."""

from __future__ import annotations

import dataclasses
import functools
import os
import shutil
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePath

from grader.classroom.intake.archive import PATH_BYTES, STUDENT, TOO_LONG, BrokenArchive, unpack
from grader.classroom.intake.manifest import (
    LITTER,
    OTHER,
    OmittedFile,
    RawPart,
    RawSubmission,
    is_archive,
    is_litter,
    walk_files,
)
from grader.course.forms import in_any_language, written_files
from grader.course.notebooks import NOTEBOOK, NotebookError, read_notebook
from grader.course.submission import file_in, printable, read_source_file
from grader.course.workspace import is_stub, strays, suffixes

MOST_NAMED = 3
# The most archives inside archives, and the most notebooks, that are opened in one submission.
MOST_INNER = 16
MOST_NOTEBOOKS = 10
# The depth of folders that are searched: archives and notebooks become folders, beside those around them.
DEPTH = 12
NO_CELL = "holds no function of the course, or only stubs"


@dataclass
class ChosenFiles:
    """The files chosen from a submission, all below `root`. `files` are the files to grade, by name. `beside` are other
    files that seem to be meant for missing ones; a grading reports them. `notes` say which files were made from which
    source."""

    root: Path
    files: dict[str, Path] = field(default_factory=dict)
    beside: list[Path] = field(default_factory=list)
    omitted: list[OmittedFile] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


class Tree:
    """The files of a submission, copied into a folder of their own, with the names under which they were handed in."""

    def __init__(self, submission: RawSubmission, folder: Path) -> None:
        self._folder = folder
        self._shown: dict[str, str] = {}
        self._broken: set[Path] = set()
        self._files = self._opened = 0
        # By path: the cells that a file was made of; and the reason why a notebook gave no file.
        self._cells: dict[Path, str] = {}
        self._celled: dict[Path, str] = {}
        # The limits hold for all archives of a submission together.
        self._room, self._until = STUDENT.total, time.monotonic() + STUDENT.seconds
        self.left = list(submission.left)
        self.problems = list(submission.problems)
        folder.mkdir(parents=True)
        for part in submission.parts:
            if part.path.is_dir():
                self._gather(part)
            elif part.path.is_symlink():
                # A student's link could lead to another student's file beside it.
                self._leave(part.shown, "is a link; hand in a plain file")
            elif part.name in self._shown:
                self._leave(part.shown, f"another file has the name {part.name}, too")
            else:
                self._shown[part.name] = part.shown
                self._file(part.path, part.name, part.shown)

    def choose(self, known: Mapping[str, str]) -> ChosenFiles:
        """Choose a file for each of the course's files `known`: the file of that name at the top, in any language, or
        else the only source that seems to be meant for it. If several have the right name, the least deep one is
        chosen."""
        self._open_notebooks(known)
        root = self._inner()
        candidates = strays(root, known, DEPTH)
        chosen = ChosenFiles(root)
        why: dict[Path, str] = {}
        wanted: dict[Path, list[str]] = {}
        # Choose for missing files first: a notebook may be meant for one of them, but not for a file that exists.
        for name, file in sorted(known.items(), key=lambda item: (root / file_in(root, item[1])).is_file()):
            meant, names = candidates.of[name], {PurePath(name).suffix: name for name in in_any_language(file)}
            sources = [path for path in meant if path.suffix.casefold() in names]
            there = [root / name for name in names.values() if (root / name).is_file()]
            # Written code counts before a stub, wherever it lies.
            stubs = [path for path in (*there, *sources) if is_stub(path, name)]
            if len(stubs) < len(there) + len(sources):
                why |= dict.fromkeys(stubs, f"a stub; a file for {file} lies beside it")
                there, sources = ([path for path in paths if path not in stubs] for paths in (there, sources))
            if there:
                chosen.files |= {path.name: path for path in there}
                why = dict.fromkeys(meant, f"{there[0].name} lies there under its own name") | why
                continue
            exact = [path for path in sources if path.name in names.values()]
            depth = min((len(path.parts) for path in exact), default=0)
            best = [path for path in exact if len(path.parts) == depth] or sources
            if len(best) == 1:
                taken = names[best[0].suffix.casefold()]
                chosen.files[taken] = best[0]
                why = dict.fromkeys(meant, f"{taken} is taken from {self.shown(best[0])}") | why
                continue
            for path in meant:
                reason = f"one of {len(sources)} that seem to be meant for {file}" if path in sources else (
                    "not unpacked" if is_archive(path.name) else self._celled.get(path, "no Python file"))
                wanted.setdefault(path, []).append(file)
                files = [*wanted[path][:MOST_NAMED], *["…"] * (len(wanted[path]) > MOST_NAMED)]
                why[path] = f"{reason}; {', '.join(files)} expected"
            chosen.beside += [path for path in meant if path not in chosen.beside]
        if not chosen.files:
            chosen.beside += [path for path in candidates.others if path not in chosen.beside]
        self._settle(chosen, known, why, wanted)
        return chosen

    def _settle(
        self, chosen: ChosenFiles, known: Mapping[str, str], why: Mapping[Path, str],
        wanted: Mapping[Path, Sequence[str]],
    ) -> None:
        """Put the files taken into the course's order, and say why each of the others is left out."""
        chosen.files = {file: chosen.files[file] for file in written_files(known.values()) if file in chosen.files}
        made: dict[Path, list[str]] = {}
        for file, path in chosen.files.items():
            if path in self._cells:
                made.setdefault(path.parent, []).append(f"{file} ({self._cells[path]})")
        # Notes use the name that the student knows.
        chosen.notes = [f"From {printable(str(notebook.relative_to(self._folder)))}: {', '.join(files)}."
                        for notebook, files in made.items()]
        taken_from = set(chosen.files.values())
        for path, is_folder in walk_files(self._folder):
            # A problem already reports each broken archive.
            if path not in taken_from and path not in self._broken:
                self._leave(self.shown(path) + "/" * is_folder, LITTER if is_folder or is_litter(path.name)
                            else why.get(path, self._celled.get(path, OTHER)), wanted.get(path, ()))
        chosen.omitted = self.left

    def shown(self, path: Path) -> str:
        """Return the name that a file of this folder has in the source."""
        if path in self._cells:
            return f"{self.shown(path.parent)}, {self._cells[path]}"
        first, *rest = path.relative_to(self._folder).parts
        return printable("/".join((self._shown.get(first, first), *rest)))

    def _gather(self, part: RawPart) -> None:
        for path, is_folder in walk_files(part.path, functools.partial(self._unread, part.path)):
            name = str(path.relative_to(part.path))
            if is_folder or is_litter(path.name):
                self._leave(name + "/" * is_folder, LITTER)
            else:
                self._file(path, name, name, part.path)

    def _unread(self, root: Path, error: OSError) -> None:
        name = os.path.relpath(error.filename, root)
        where = root.name if name == "." else name
        self.problems.append(f"{printable(where)}: {error.strerror}; make the folder readable")

    def _file(self, path: Path, name: str, shown: str, folder: Path | None = None) -> None:
        """Copy a file that may hold source text, or unpack an archive into a folder of its name."""
        if not name.casefold().endswith(suffixes()):
            self._leave(shown, OTHER)
            return
        if len(os.fsencode(name)) > PATH_BYTES:
            self._leave(shown, TOO_LONG)
            return
        self._files += 1
        if self._files > STUDENT.entries:
            self._leave(shown, f"more than {STUDENT.entries:,} Python files")
            return
        target = self._folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        source = read_source_file(folder or path.parent, name if folder else path.name,
                                  STUDENT.total if is_archive(name) else STUDENT.file)
        if source.content is None:
            self._leave(shown, source.problem.message if source.problem else "is gone")
            return
        if is_archive(name) and self._unpacked(path, target, shown):
            for inner in self._archives_in(target, shown):
                self._open(inner, f"{shown}/{inner.relative_to(target)}")
            return
        # Broken archives are copied, too: if a file is missing, grading names them.
        target.write_bytes(source.content)

    def _unpacked(self, packed: Path, target: Path, shown: str) -> bool:
        """Unpack an archive into the new folder `target`, or note why that fails."""
        try:
            left = unpack(packed, target, dataclasses.replace(
                STUDENT, total=self._room, seconds=max(0, self._until - time.monotonic()),
                entries=max(0, STUDENT.entries - self._files)))
        except BrokenArchive as error:
            self.problems.append(f"{printable(shown)}: {error}")
            self._broken.add(target)
            return False
        files = [file for file, _ in walk_files(target)]
        self._files += len(files)
        self._room -= sum(file.lstat().st_size for file in files)
        self.left += [OmittedFile(name=f"{printable(shown)}/{entry.name}", why=entry.why) for entry in left]
        if not left and not files:
            self._leave(shown, "an archive that holds no file")
        return True

    def _archives_in(self, folder: Path, shown: str) -> list[Path]:
        """Return the archives in an unpacked one, up to the number that may be opened."""
        archives = [path for path, is_folder in walk_files(folder) if not is_folder and is_archive(path.name)
                    and not is_litter(path.name)]
        most = max(0, MOST_INNER - self._opened)
        self._opened += len(archives[:most])
        self._note_unopened(archives[most:], folder, f"{printable(shown)}: holds more than {MOST_INNER} archives",
                            "the others")
        return archives[:most]

    def _open(self, inner: Path, shown: str) -> None:
        """Unpack an archive that came out of another archive, in its place. Archives inside it stay closed."""
        # No file here has this hidden name, since hidden files are not gathered.
        packed = inner.rename(self._folder / ".packed")
        self._files -= 1
        if self._unpacked(packed, inner, shown):
            packed.unlink()
            deep = [path for path, is_folder in walk_files(inner) if not is_folder and is_archive(path.name)]
            self._note_unopened(deep, inner, f"{printable(shown)}: holds archives", "they")
        else:
            packed.rename(inner)
            self._files += 1

    def _note_unopened(self, archives: Sequence[Path], folder: Path, what: str, which: str) -> None:
        """Note archives that are not opened, in one line."""
        if archives:
            names = [printable(str(path.relative_to(folder))) for path in archives[:MOST_NAMED]]
            names += ["…"] * (len(archives) > MOST_NAMED)
            self.problems.append(f"{what}; {which} are not opened ({', '.join(names)}): pack files, or archives of "
                                 "files")
            self._broken |= {*archives}

    def _open_notebooks(self, known: Mapping[str, str]) -> None:
        """Replace each notebook whose cells hold course files by a folder with these files."""
        notebooks = [path for path, is_folder in walk_files(self._folder)
                     if not is_folder and path.suffix.casefold() == NOTEBOOK and not is_litter(path.name)]
        for path in notebooks[:MOST_NOTEBOOKS]:
            try:
                files = read_notebook(path.read_bytes(), known)
            except NotebookError as error:
                self._celled[path] = str(error)
                continue
            if not files:
                self._celled[path] = NO_CELL
                continue
            path.unlink()
            path.mkdir()
            for name, file in files.items():
                (path / name).write_text(file.text, encoding="utf-8")
                self._cells[path / name] = file.origin

    def _inner(self) -> Path:
        """Return the folder that holds the files: the first, from the top, that holds anything but a single folder."""
        root = self._folder
        while True:
            inside = [path for path in root.iterdir() if not is_litter(path.name)]
            if len(inside) != 1 or not inside[0].is_dir() or inside[0].is_symlink():
                return root
            root = inside[0]

    def _leave(self, name: str, why: str, meant: Sequence[str] = ()) -> None:
        self.left.append(OmittedFile(name=printable(name), why=why, meant=list(meant)))


def write(chosen: ChosenFiles, folder: Path) -> None:
    """Copy the chosen files into a new folder."""
    folder.mkdir()
    for file, path in chosen.files.items():
        shutil.copyfile(path, folder / file)
    for path in chosen.beside:
        inside = path.relative_to(chosen.root)
        # A taken file may have the same name as this file, or as the folder that holds this file.
        if path.is_file() and inside.parts[0] not in chosen.files:
            target = folder / inside
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, target)
