"""What can be known to fail is found before anyone is graded: packages, folders, pages, assignments.

Each check raises PlanError, one line that says what, where and what was expected. `assignments` imports torch and is a
lane's to run; the others are quick, or have time while a lane starts.
"""

from __future__ import annotations

import importlib.util
import shutil
import tempfile
from collections.abc import Iterable, Sequence
from importlib import metadata
from pathlib import Path

from grader.model import catalogue
from grader.model.catalogue import ROOT, CatalogueError
from grader.model.submission import Submission

IMPORTED = ("torch", "triton", "numpy", "pytest", "pytest_timeout", "jinja2", "matplotlib", "einops")
# Bytes written at least for the class, for a student, and for each assignment of a student: four fifths of what a
# submission without a mistake takes.
BYTES_OF_CLASS, BYTES_OF_STUDENT, BYTES_OF_ASSIGNMENT, BYTES_OF_ATTEMPT = 24 << 10, 16 << 10, 8 << 10, 8 << 10
# A process of a submission has a folder there.
TEMPORARY_BYTES = 1 << 20
DEVICES = ("auto", "cpu", "cuda")


class PlanError(Exception):
    """The grading cannot start; one line."""

    def __init__(self, message: str) -> None:
        super().__init__(" ".join(message.split()))


def device(asked: str) -> None:
    """There is such a kind of device."""
    if asked not in DEVICES:
        raise PlanError(f"--device: {asked!r}; one of {', '.join(DEVICES)} expected")


def installed() -> None:
    """What a grading imports is there, and kernelmark has the version that every result names."""
    for name in IMPORTED:
        if importlib.util.find_spec(name) is None:
            raise PlanError(f"package {name}: not installed; what pyproject.toml lists expected (make setup)")
    try:
        metadata.version("kernelmark")
    except metadata.PackageNotFoundError:
        raise PlanError("package kernelmark: no metadata, which says its version; an installed package expected "
                        f"(pip install -e {ROOT})") from None


def temporary() -> None:
    """Processes of submissions can have folders of their own."""
    try:
        folder = tempfile.gettempdir()
        with tempfile.TemporaryDirectory():
            free = shutil.disk_usage(folder).free
    except OSError as error:
        raise PlanError(f"temporary folder: {error.strerror}; a writable folder expected in TMPDIR or /tmp") from None
    if free < TEMPORARY_BYTES:
        raise PlanError(f"temporary folder {folder}: {_room(free, TEMPORARY_BYTES)}")


def results(out: Path, submissions: Sequence[Submission], assignments: int) -> None:
    """Results can be written below `out`, which is made, and there is room for them."""
    try:
        out.mkdir(parents=True, exist_ok=True)
        for folder in (out, *(path for one in submissions if (path := out / one.slug).exists())):
            for name in ("result.json", "report.html", "checks.log", "index.html", "gradebook.csv", "leaderboard.html"):
                if (folder / name).is_dir():
                    raise PlanError(f"--out {folder / name}: is a folder; a file, or nothing, expected")
            with tempfile.TemporaryFile(dir=folder):
                pass
        free = shutil.disk_usage(out).free
    except OSError as error:
        raise PlanError(
            f"--out {error.filename or out}: {error.strerror}; a writable folder expected") from None
    # Files that are there already are replaced; attempts are added.
    new = sum(not (out / one.slug / "result.json").exists() for one in submissions)
    needed = BYTES_OF_CLASS + new * (BYTES_OF_STUDENT + assignments * BYTES_OF_ASSIGNMENT) + (
        len(submissions) * assignments * BYTES_OF_ATTEMPT)
    if free < needed:
        raise PlanError(f"--out {out}: {_room(free, needed)}")


def pages() -> None:
    """Reports can be drawn."""
    from jinja2 import TemplateSyntaxError

    from grader.report import trial

    expected = "pages that can be drawn expected"
    try:
        trial.draw()
    except TemplateSyntaxError as error:
        raise PlanError(f"{error.filename}, line {error.lineno}: {error.message}; {expected}") from None
    except Exception as error:
        raise PlanError(f"{catalogue.blame(error, trial.TEMPLATES)}; {expected}") from None


def assignments(names: Iterable[str]) -> None:
    """Those of these names have what grading needs, and their own functions work on their first case."""
    from grader.author.verify import Subject, trial

    name, folder = "", ROOT / "assignments"
    try:
        found = catalogue.assignments()
        for name in names:
            folder = ROOT / "assignments" / name
            for problem in trial(Subject(found[name], ROOT)):
                raise PlanError(f"{problem} (kernelmark verify {name} says more)")
    except CatalogueError as error:
        raise PlanError(str(error)) from None
    except PlanError:
        raise
    except Exception as error:
        raise PlanError(f"{catalogue.blame(error, folder)}; an assignment that works expected") from None



def _room(free: int, needed: int) -> str:
    return f"{free >> 10:,} KiB of disk are free; {needed >> 10:,} KiB or more expected"
