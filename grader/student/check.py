"""A student's own check before handing in: the judge's words in the terminal, a file at a time, and again when saved.

Everything happens in this process, which is the lane: a process less to start, and the next check takes a second.
What it imports late it imports while the fork server does the same.
"""

from __future__ import annotations

import contextlib
import os
import shlex
import shutil
import signal
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePath
from typing import TYPE_CHECKING

from rich.console import Console

from grader.console import INFRASTRUCTURE_ERROR
from grader.engine.forkserver.handle import InfrastructureError
from grader.judge.lane import close_lane, lane_zygote, on_interruption, open_lane
from grader.model import catalogue, desk
from grader.model.course import Course
from grader.model.desk import Desk
from grader.model.hidden import for_student
from grader.model.result import Result, with_assignments
from grader.model.submission import Submission, in_any_language, submission_of
from grader.run import preflight
from grader.run.preflight import PlanError

if TYPE_CHECKING:
    from grader.model.calibration import Calibration

POLL_SECONDS = 0.1
# Exit statuses, beside those of every command.
RIGHT, NOT_RIGHT = 0, 1

Stamp = tuple[int, int] | None
"""When a file was changed and how long it is; None if there is none."""


@dataclass(frozen=True)
class Options:
    """What a check is asked for. A report goes into the folder `out`, if there is to be one."""

    course: Course
    only: Sequence[str] = ()
    device: str = "auto"
    speed: bool = False
    seed: int | None = None
    out: Path | None = None
    words: Sequence[str] = ()


@dataclass(frozen=True)
class Checker:
    """Checks files in a lane that is open."""

    options: Options
    device: str
    calibrations: tuple[Calibration, ...]
    console: Console
    errors: Console

    def check(self, found: Desk, names: Sequence[str]) -> dict[str, Result]:
        """Checks these of the files found, and says what comes. What could not be checked has no result."""
        from grader.report import terminal

        results: dict[str, Result] = {}
        for name in names:
            path = found.files[name]
            with self.console.status(f"checking {path.name}"):
                result = self._judged(found, name, path)
            if result is None:
                continue
            results[name] = result
            block = terminal.kernel(result.assignments[name], _shown(path), _expected(name, path))
            self.console.print(block, crop=False)
        return results

    def close(self, found: Desk, results: Mapping[str, Result]) -> int:
        """Says what it comes to, writes the report, and returns the exit status."""
        for line in found.lines:
            self.console.print(line, markup=False, soft_wrap=True)
        assignments = {name: result.assignments[name] for name, result in results.items()}
        if results:
            from grader.report import terminal

            # One result, as of a single grading; what it was graded on is the same for all.
            last = [*results.values()][-1]
            joined = with_assignments(last, assignments, seconds=sum(result.seconds for result in results.values()))
            self.console.print(terminal.closing(joined))
            if self.options.out is not None:
                # jinja2 takes a while, and most checks want no page.
                from grader.report.pages import write_student

                page = write_student(joined, self.options.out)
                self.console.print(f"Report: {page}", markup=False, soft_wrap=True)
        graded = assignments.values()
        if len(results) < len(found.files) or any(a.ours for a in graded):
            return INFRASTRUCTURE_ERROR
        # What only a GPU can judge is not wrong.
        return RIGHT if found.complete and all(a.right or not a.judged for a in graded) else NOT_RIGHT

    def _judged(self, found: Desk, name: str, path: Path) -> Result | None:
        from grader.judge.device import sane
        from grader.model.job import draw_seed, read_job
        from grader.run.grading import grade

        if self.device == "cuda" and not sane():
            raise InfrastructureError("the GPU does not answer this process any more; start the command again")
        number = draw_seed() if self.options.seed is None else self.options.seed
        command = ["kernelmark", "check", str(path.absolute()), "--only", name, "--device", self.device,
                   "--seed", str(number), *(["--speed"] if self.options.speed else []), *self.options.words]
        try:
            with _handed_in(found.folder, path, _expected(name, path)) as submission:
                graded = grade(read_job(
                    submission, self.options.course, (name,), self.device, self.options.speed, number,
                    os.fsencode(shlex.join(command)).decode("utf-8", "replace"), self.calibrations))
        except Exception as error:
            self.errors.print(f"kernelmark: {path}: not checked: {type(error).__name__}: {error}", markup=False)
            return None
        if graded.result is None:
            self.errors.print(f"kernelmark: {path}: not checked: {graded.error}", markup=False)
        return graded.result and for_student(graded.result)


def check(target: Path, options: Options, console: Console, errors: Console, *, watch: bool = False) -> int:
    """Checks a file, or a folder's files of the course, and returns the exit status. With `watch` it returns once it is
    interrupted, with the status of what was checked last.

    Raises DeskError, PlanError, and CatalogueError: a usage error each.
    """
    found = find(target, options)
    preflight.device(options.device)
    if options.speed and options.device == "cpu":
        raise PlanError("--speed: a GPU expected, got --device cpu")
    preflight.installed()
    preflight.temporary()
    if options.out is not None:
        preflight.results(options.out, (), len(found.files))
    if not found.files and not watch:
        # What there is has other names, and it is not known which is meant.
        console.print("\n".join(found.lines), markup=False, soft_wrap=True)
        return NOT_RIGHT
    on_interruption(signal.default_int_handler)
    try:
        with console.status("starting"):
            checker = _opened(options, console, errors)
        return _checked(checker, target, found, watch=watch)
    except InfrastructureError as error:
        errors.print(f"kernelmark: {error}; kernelmark doctor says what this machine lacks", markup=False)
        return INFRASTRUCTURE_ERROR
    finally:
        close_lane()


def find(target: Path, options: Options) -> Desk:
    """The files that `target` has of the assignments asked for. Raises DeskError, PlanError."""
    known = catalogue.files()
    try:
        asked = options.course.select(known, options.only)
    except ValueError as error:
        raise PlanError(f"--only: {error}") from None
    return desk.find(target, known, asked, named=bool(options.only))


def _checked(checker: Checker, target: Path, found: Desk, *, watch: bool) -> int:
    stamps = _stamps(found)
    results = checker.check(found, list(found.files))
    status = checker.close(found, results)
    if not watch:
        return status
    with contextlib.suppress(KeyboardInterrupt):
        while True:
            checker.console.print("Watching: save a file to check it again; Ctrl-C ends this.", style="dim")
            stamps, saved = _saved(found, stamps)
            before = found.files
            with contextlib.suppress(desk.DeskError):
                found = find(target, checker.options)
            again = [name for name, path in found.files.items() if path in saved or path != before.get(name)]
            stamps = {**_stamps(found), **stamps}
            results = {name: results[name] for name in found.files if name in results and name not in again}
            results |= checker.check(found, again)
            status = checker.close(found, results)
    return status


def _opened(options: Options, console: Console, errors: Console) -> Checker:
    """Opens the lane: the strongest isolation that there is, and on one's own machine any will do."""
    open_lane()
    # While the fork server imports as much.
    from grader.judge.device import no_gpu
    from grader.model import calibration
    from grader.report import terminal  # noqa: F401
    from grader.run import grading  # noqa: F401

    catalogue.assignments()
    trouble = no_gpu() if options.device != "cpu" else "not asked for"
    if trouble and (options.device == "cuda" or options.speed):
        raise PlanError(f"{'--speed' if options.speed else '--device cuda'}: {trouble}")
    device = "cpu" if trouble else "cuda"
    try:
        found = calibration.read_folder(calibration.FOLDER) if options.speed else ()
    except calibration.CalibrationError as error:
        raise PlanError(str(error)) from None
    _ = lane_zygote().versions
    return Checker(options, device, found, console, errors)


def _expected(name: str, path: Path) -> str:
    """The name of an assignment's file in the language of `path`."""
    file = catalogue.files()[name]
    return next((one for one in in_any_language(file) if PurePath(one).suffix == path.suffix), file)


@contextlib.contextmanager
def _handed_in(folder: Path, path: Path, file: str) -> Iterator[Submission]:
    """A submission with the file under the name that is expected: where it is, or as a copy if it has another one."""
    submission = submission_of(folder)
    if path.parent == folder and path.name == file:
        yield submission
        return
    with tempfile.TemporaryDirectory(prefix="kernelmark-check-") as copy:
        shutil.copyfile(path, Path(copy, file))
        yield replace(submission, folder=Path(copy))


def _saved(found: Desk, seen: Mapping[Path, Stamp]) -> tuple[dict[Path, Stamp], set[Path]]:
    """Waits until files were saved. An editor may write in several steps: a file counts once it stays as it is."""
    before = dict(seen)
    while True:
        time.sleep(POLL_SECONDS)
        now = _stamps(found)
        saved = {path for path, stamp in now.items() if stamp is not None and stamp != seen.get(path)}
        if saved and now == before:
            return now, saved
        before = now


def _stamps(found: Desk) -> dict[Path, Stamp]:
    return {path: _stamp(path) for path in (*found.files.values(), *found.expected)}


def _stamp(path: Path) -> Stamp:
    try:
        info = path.stat()
    except OSError:
        return None
    return info.st_mtime_ns, info.st_size


def _shown(path: Path) -> str:
    """A path as one can click on it or type it where one is."""
    with contextlib.suppress(ValueError):
        return str(path.absolute().relative_to(Path.cwd()))
    return str(path)
