"""Checks for foreseeable failures, made before anyone is graded: packages, folders, pages, assignments.

Each check raises UserError, except `handed_in`, which returns a sentence. `assignments` imports torch and runs in a
lane. The other checks are quick, or run while a lane starts.
"""

from __future__ import annotations

import importlib.util
import shutil
import tempfile
from collections.abc import Collection, Iterable, Sequence
from importlib import metadata
from pathlib import Path

from grader import home, languages
from grader.course import catalogue
from grader.course.course import Course
from grader.course.submission import Submission, read_source_file
from grader.course.workspace import SOURCE_BYTES
from grader.errors import InfrastructureError, UserError, advised
from grader.sandbox.forkserver import isolation
from grader.sandbox.forkserver.isolation import Isolation

IMPORTED = ("torch", "triton", "numpy", "pytest", "pytest_timeout", "jinja2", "matplotlib", "einops")
# The least bytes written for the class, a student, an assignment's files and an attempt: four fifths of those of a
# submission without mistakes.
BYTES_OF_CLASS, BYTES_OF_STUDENT, BYTES_OF_ASSIGNMENT, BYTES_OF_ATTEMPT = 24 << 10, 16 << 10, 8 << 10, 8 << 10
# Bytes for temporary files: each process of a submission has a temporary folder.
TEMPORARY_BYTES = 1 << 20
# The most open files of a worker; the processes around it need fewer.
OPEN_FILES = 256
DEVICES = ("auto", "cpu", "cuda")



def device(name: str) -> None:
    """Check that `name` is a kind of device."""
    if name not in DEVICES:
        raise UserError(f"--device: {name!r} is no device; choose from {', '.join(DEVICES)}")


def installed() -> None:
    """Check that all packages for a grading are installed, and that kernelmark's version is known."""
    for name in IMPORTED:
        if importlib.util.find_spec(name) is None:
            raise UserError(f"package {name}: not installed; run {home.INSTALL}")
    try:
        metadata.version("kernelmark")
    except metadata.PackageNotFoundError:
        raise UserError(f"package kernelmark: not installed, so its version is unknown; run pip install -e {home.ROOT}"
                        ) from None


def temporary() -> None:
    """Check that processes of submissions can have temporary folders, and open enough files."""
    # Late: only POSIX systems have it.
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if 0 <= hard < OPEN_FILES:
        raise UserError(
            f"at most {hard} open files are allowed here, and {OPEN_FILES} are needed; raise the limit (ulimit -n)")
    if 0 <= soft < OPEN_FILES:
        resource.setrlimit(resource.RLIMIT_NOFILE, (OPEN_FILES, hard))
    with advised("set TMPDIR to a writable folder", "temporary folder"):
        folder = tempfile.gettempdir()
        with tempfile.TemporaryDirectory():
            free = shutil.disk_usage(folder).free
    if free < TEMPORARY_BYTES:
        raise UserError(f"temporary folder {folder}: {_room(free, TEMPORARY_BYTES)}")


def least_isolation(minimum: int) -> Isolation:
    """Return this machine's isolation. Raises UserError if its level is below a minimum."""
    try:
        measured = isolation.measure()
    except InfrastructureError as error:
        raise UserError(str(error)) from None
    if measured.level < minimum:
        raise UserError(
            f"isolation level {measured} on this machine, {minimum} {isolation.NAMES[minimum]} expected "
            f"({'; '.join(measured.missing)}); pass --allow-degraded only for code that you trust")
    return measured


def handed_in(submissions: Iterable[Submission], course: Course, names: Sequence[str]) -> str:
    """Return a sentence if no submission of the class has a file of these assignments; "" if any has."""
    if any(course.counted.present(submission.folder, names) for submission in submissions):
        return ""
    files = ", ".join(catalogue.files()[name] for name in names)
    return (f"No submission has any of {files}, so each gets 0 points; "
            "pass --course FILE if the class has another course")


def missing_tools(counted: Collection[str] = ()) -> dict[str, str]:
    """Return what this machine lacks for each language that it cannot judge, by the language's name; of those that
    count alone. Without any, all languages count."""
    return {language.name: missing for language in languages.front_ends().values()
            if (not counted or language.name in counted) and (missing := language.problem())}


def tools(files: Iterable[Path], counted: Collection[str] = ()) -> None:
    """Check that this machine has the tools for the languages of these files, those that count alone; without any, all
    languages count."""
    missing = missing_tools(counted)
    for path in files if missing else []:
        content = read_source_file(path.parent, path.name, SOURCE_BYTES).content or b""
        language = languages.by_content(path.name, content)
        if language.name in missing:
            raise UserError(f"{path}: {language.title} cannot be judged here: {missing[language.name]}, or leave the "
                            "language out of languages = […] in course.toml")


def results(out: Path, submissions: Sequence[Submission], assignments: int) -> None:
    """Make `out`, and check that results can be written there and that the disk has room for them."""
    folder = out
    try:
        out.mkdir(parents=True, exist_ok=True)
        for folder in (out, *(path for submission in submissions if (path := out / submission.slug).exists())):
            for name in ("result.json", "report.html", "checks.log", "index.html", "gradebook.csv", "leaderboard.html"):
                if (folder / name).is_dir():
                    raise UserError(f"--out {folder / name}: is a folder, where a file is to be written; remove it")
            with tempfile.TemporaryFile(dir=folder):
                pass
        free = shutil.disk_usage(out).free
    except OSError as error:
        # Name the folder, not the temporary file that was tried.
        where = folder if str(error.filename).startswith(f"{folder.absolute()}/tmp") else error.filename or out
        raise UserError(f"--out {where}: {error.strerror}; choose a writable folder") from None
    # Files that exist are replaced, but attempts are added.
    new = sum(not (out / submission.slug / "result.json").exists() for submission in submissions)
    needed = BYTES_OF_CLASS + new * (BYTES_OF_STUDENT + assignments * BYTES_OF_ASSIGNMENT) + (
        len(submissions) * assignments * BYTES_OF_ATTEMPT)
    if free < needed:
        raise UserError(f"--out {out}: {_room(free, needed)}")


def pages() -> None:
    """Check that reports can be written."""
    # Late: these modules are slow to import, and a lane starts meanwhile.
    from jinja2 import TemplateSyntaxError

    from grader.pages.pages import TEMPLATES, draw_trial

    advice = "restore the templates of pages"
    try:
        draw_trial()
    except TemplateSyntaxError as error:
        raise UserError(f"{error.filename}, line {error.lineno}: {error.message}; {advice}") from None
    except Exception as error:
        raise UserError(f"{catalogue.blame(error, TEMPLATES)}; {advice}") from None


def assignments(names: Iterable[str]) -> None:
    """Check that these assignments have what grading needs, and that their functions work on their first cases."""
    # Late: these modules import torch, which only lanes do.
    from grader.authoring.subject import Subject
    from grader.authoring.verify import trial

    name, root = "", home.root()
    folder = root / "assignments"
    try:
        known = catalogue.assignments()
        for name in names:
            folder = root / "assignments" / name
            for problem in trial(Subject(known[name], root)):
                raise UserError(f"{problem}; run kernelmark verify {name}")
    except UserError:
        raise
    except Exception as error:
        raise UserError(f"{catalogue.blame(error, folder)}; correct the assignment") from None


def _room(free: int, needed: int) -> str:
    return f"{free >> 10:,} KiB of disk are free; free at least {needed >> 10:,} KiB"
