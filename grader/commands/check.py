"""A student's own check before handing in. Files are checked one by one; with --watch, again whenever they are saved.

This process is the lane, since starting another takes time: a repeated check takes a second. Slow imports are late, so
that they run in parallel with those of the fork server.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import shlex
import shutil
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console

from grader import temporary
from grader.console import INFRASTRUCTURE_ERROR, NOT_RIGHT, RIGHT, complain, program
from grader.course import catalogue
from grader.course.course import Course
from grader.course.submission import Submission, read_source_file, submission_of
from grader.course.workspace import SOURCE_BYTES, Workspace, expected_name
from grader.course.workspace import find as find_files
from grader.errors import InfrastructureError, UserError
from grader.grading import preflight
from grader.judging.running.lane import LANE, cache_trouble
from grader.languages import by_content
from grader.results.hidden import for_student
from grader.results.result import Result, with_assignments
from grader.results.verdicts import UNTRIED
from grader.sandbox.confine import surroundings

if TYPE_CHECKING:
    from grader.course.calibration import Calibration
    from grader.grading.job import Job

POLL_SECONDS = 0.1
# The number of seeds: a person must be able to type one. A grading's seed is a secret, and longer.
SEEDS = 1_000_000
LOOKING = "looking for a change that makes every case right"

Stamp = tuple[int, int] | None
"""The time of a file's last change, and its size; None if the file does not exist."""


@dataclass(frozen=True)
class CheckOptions:
    """The options of a check. With `out`, a report is written into that folder. `github`: GitHub Actions gets the
    results, too."""

    course: Course
    only: Sequence[str] = ()
    device: str = "auto"
    speed: bool = False
    seed: int | None = None
    out: Path | None = None
    github: bool = False
    words: Sequence[str] = ()


class SavedError(Exception):
    """A file that was saved during its check, so that its earlier text no longer matters."""


@dataclass(frozen=True)
class Checker:
    """A checker of files in an open lane. `jobs` are the last jobs, by assignment."""

    options: CheckOptions
    device: str
    calibrations: tuple[Calibration, ...]
    console: Console
    jobs: dict[str, Job] = field(default_factory=dict)
    # Until the check prints this word, GitHub Actions obeys no line: a student's file may print a command.
    token: str = field(default_factory=secrets.token_hex)

    def mends(self, name: str, path: Path) -> bool:
        """Return whether the check tries changes that would mend a file."""
        content = read_source_file(path.parent, path.name, SOURCE_BYTES).content or b""
        language = by_content(expected_name(path, name), content)
        return self.options.course.hints.level != "off" and language.edits

    def check(self, workspace: Workspace, names: Sequence[str]) -> dict[str, Result]:
        """Check the files of these assignments, print the results and return them. A file that could not be checked has
        no result."""
        # Late, see the module.
        from grader.grading.grading import without_guess
        from grader.pages import terminal

        results: dict[str, Result] = {}
        seed = secrets.randbelow(SEEDS) if self.options.seed is None else self.options.seed
        for name in names:
            path = workspace.files[name]
            with self.console.status(f"checking {path.name}"):
                result = self._judge(workspace, name, path, seed)
            if result is None:
                continue
            results[name] = result
            # Guesses are printed after the search, if it has found nothing better.
            shown = without_guess(result.assignments[name]) if self.mends(name, path) else result.assignments[name]
            block = terminal.kernel(shown, _shown_path(path), expected_name(path, name))
            self.console.print(block, crop=False)
        return results

    def mend(
        self, workspace: Workspace, results: Mapping[str, Result], saved: Callable[[], bool] = lambda: False
    ) -> dict[str, Result]:
        """Return these results, each with a change that makes every case right if one is found. Prints the change, or
        else what is guessed. Ends early once `saved` returns True."""
        return {name: result if saved() or not self.mends(name, workspace.files[name]) else
                self._mended(name, workspace.files[name], result, saved) for name, result in results.items()}

    def close(self, target: Path, workspace: Workspace, results: Mapping[str, Result], names: Sequence[str]) -> None:
        """Print the summary, and write the report. `names` are the assignments in `target` that were checked just
        now."""
        for line in workspace.lines:
            self.console.print(line, markup=False, soft_wrap=True)
        assignments = {name: result.assignments[name] for name, result in results.items()}
        if results:
            # Late, see the module.
            from grader.pages import terminal

            # Join the results as if one grading had made them; all have the same environment.
            last = [*results.values()][-1]
            joined = with_assignments(last, assignments, seconds=sum(result.seconds for result in results.values()))
            self.console.print(terminal.closing(joined))
            run = [name for name in names if name in results and assignments[name].verdict not in UNTRIED and any(
                check.stage == "case" and check.outcome != "not_run"
                for check in assignments[name].correctness.checks)]
            if run and self.options.seed is None:
                seed = self.jobs[run[0]].seed
                again = shlex.join(self._repeat_command(target, {name: workspace.files[name] for name in names}, seed))
                self.console.print(f"Seed {seed}; the same inputs again: {again}", style="dim", markup=False,
                                   soft_wrap=True)
            if self.options.out is not None:
                # Late: jinja2 is slow to import, and most checks write no page.
                from grader.pages.pages import write_student

                page = write_student(joined, self.options.out)
                self.console.print(f"Report: {page}", markup=False, soft_wrap=True)
            if self.options.github:
                # Late: few checks run in GitHub Actions.
                from grader.pages import actions

                root = os.environ.get("GITHUB_WORKSPACE", "")
                paths = {name: os.path.relpath(workspace.files[name], root or ".") for name in assignments}
                for line in (f"::{self.token}::", *actions.annotated(joined, paths)):
                    self.console.print(line, markup=False, soft_wrap=True)
                _summarise(actions.summary(joined, paths, workspace.lines))

    def status(self, workspace: Workspace, results: Mapping[str, Result]) -> int:
        """Return the exit status of a check with these results."""
        assignments = [result.assignments[name] for name, result in results.items()]
        if len(results) < len(workspace.files) or any(a.ours for a in assignments):
            return INFRASTRUCTURE_ERROR
        # A kernel that only a GPU can judge does not count as wrong.
        return RIGHT if workspace.complete and all(a.right or not a.judged for a in assignments) else NOT_RIGHT

    def _repeat_command(self, target: Path, files: Mapping[str, Path], seed: int) -> list[str]:
        """Return the command that checks these files again, on the same inputs."""
        only = ",".join(self.options.only)
        if len(files) == 1:
            ((name, target),) = files.items()
            only = "" if target.name == expected_name(target, name) else name
        return self._command(_shown_path(target), only, self.options.device, seed)

    def _command(self, target: str, only: str, device: str, seed: int) -> list[str]:
        return [program(), "check", target, *(["--only", only] if only else []),
                *(["--device", device] if device != "auto" else []), *(["--speed"] if self.options.speed else []),
                "--seed", str(seed), *self.options.words]

    def _judge(self, workspace: Workspace, name: str, path: Path, seed: int) -> Result | None:
        # Late, see the module.
        from grader.grading.grading import grade
        from grader.grading.job import read_job
        from grader.judging.running.device import sane

        if self.device == "cuda" and not sane():
            raise InfrastructureError("the GPU does not answer this process any more; start the command again")
        command = self._command(str(path.absolute()), name, self.device, seed)
        try:
            with _handed_in(workspace.folder, path, expected_name(path, name)) as submission:
                job = self.jobs[name] = read_job(
                    submission, self.options.course, (name,), self.device, self.options.speed, seed,
                    os.fsencode(shlex.join(command)).decode("utf-8", "replace"), self.calibrations)
                outcome = grade(job)
        except Exception as error:
            complain(f"{path}: not checked: {type(error).__name__}: {error}; run kernelmark doctor, then check again")
            return None
        if outcome.result is None:
            complain(f"{path}: not checked: {outcome.error}")
        return outcome.result and for_student(outcome.result)

    def _mended(self, name: str, path: Path, result: Result, saved: Callable[[], bool]) -> Result:
        # Late, see the module.
        from grader.grading.grading import mended
        from grader.pages import terminal

        with self.console.status(LOOKING) as status:
            def progress(tried: int, most: int) -> None:
                if saved():
                    raise SavedError
                status.update(f"{LOOKING}: {tried} of {most}")

            try:
                assignment = mended(self.jobs[name], name, result.assignments[name], progress)
            except SavedError:
                return result
            except Exception as error:
                complain(f"{path}: the search for a change failed: {type(error).__name__}: {error}; the check itself "
                         "stands")
                assignment = result.assignments[name]
        if assignment.repair is None:
            if assignment.guess:
                self.console.print(terminal.guessed(assignment, _shown_path(path)), crop=False)
            return result
        result = for_student(with_assignments(result, {name: assignment}))
        self.console.print(terminal.mended(result.assignments[name], _shown_path(path)), crop=False)
        return result


def check(target: Path, options: CheckOptions, console: Console, *, watch: bool = False) -> int:
    """Check a file, or a folder's files of the course, and return the exit status. With `watch` the check ends at an
    interruption, with the status of the last round.

    Raises UserError, which are usage errors.
    """
    workspace = find(target, options)
    preflight.device(options.device)
    if options.speed and options.device == "cpu":
        raise UserError("--speed: needs a GPU; remove --device cpu")
    preflight.installed()
    preflight.temporary()
    preflight.tools(workspace.files.values())
    if options.out is not None:
        preflight.results(options.out, (), len(workspace.files))
    if not workspace.files and not watch:
        # The files have other names, so it is not known which assignments they are for.
        console.print("\n".join(workspace.lines), markup=False, soft_wrap=True)
        if options.github:
            # Late: few checks run in GitHub Actions.
            from grader.pages import actions

            _summarise(actions.sentences(workspace.lines))
        return NOT_RIGHT
    surroundings.withhold([target if target.is_dir() else target.parent, *filter(None, [options.out])])
    try:
        with console.status("starting"):
            checker = _open_checker(options, console)
        return _checked(checker, target, workspace, watch=watch)
    except InfrastructureError as error:
        complain(f"{error}; kernelmark doctor says what this machine lacks")
        return INFRASTRUCTURE_ERROR
    finally:
        LANE.close()


def find(target: Path, options: CheckOptions) -> Workspace:
    """Return the files in `target` of the assignments asked for. Raises UserError."""
    known = catalogue.files()
    names = options.course.select(known, options.only, "--only: ")
    return find_files(target, known, names, named=bool(options.only))


def _checked(checker: Checker, target: Path, workspace: Workspace, *, watch: bool) -> int:
    stamps, again = _stamps(workspace), list(workspace.files)
    results: dict[str, Result] = {}
    status: int | None = None
    if checker.options.github:
        checker.console.print(f"::stop-commands::{checker.token}", markup=False)
    try:
        while True:
            checked = checker.check(workspace, again)
            results |= checked
            status = checker.status(workspace, results)
            saved_since = partial(_changed, workspace, stamps) if watch else lambda: False
            results |= checker.mend(workspace, checked, saved_since)
            checker.close(target, workspace, results, again)
            if not watch:
                return status
            checker.console.print("Watching: save a file to check it again; Ctrl-C ends this.", style="dim")
            stamps, saved = _wait_for_files(workspace, stamps)
            before = workspace.files
            with contextlib.suppress(UserError):
                workspace = find(target, checker.options)
            again = [name for name, path in workspace.files.items() if path in saved or path != before.get(name)]
            stamps = {**_stamps(workspace), **stamps}
            results = {name: results[name] for name in workspace.files if name in results and name not in again}
    except KeyboardInterrupt:
        if not watch or status is None:
            raise
        return status


def _open_checker(options: CheckOptions, console: Console) -> Checker:
    """Open the lane with the strongest isolation available, and return a checker. Any level is allowed, since students
    run their own code on their own machine."""
    LANE.open()
    # Late, so that this import runs in parallel with the fork server's.
    from grader.course import calibration
    from grader.grading import grading  # noqa: F401
    from grader.judging.running.device import no_gpu
    from grader.pages import terminal  # noqa: F401

    catalogue.assignments()
    trouble = no_gpu() if options.device != "cpu" else "not asked for"
    if trouble and (options.device == "cuda" or options.speed):
        option = "--speed" if options.speed else "--device cuda"
        raise UserError(f"{option}: {trouble}; run kernelmark doctor, or leave {option} out")
    device = "cpu" if trouble else "cuda"
    calibrations = calibration.read_folder() if options.speed else ()
    if trouble := cache_trouble():
        complain(trouble)
    _ = LANE.fork_server.handle.ready
    return Checker(options, device, calibrations, console)


def _summarise(text: str) -> None:
    """Append Markdown to the summary of the present job of GitHub Actions, if there is one."""
    if path := os.environ.get("GITHUB_STEP_SUMMARY"):
        with Path(path).open("a", encoding="utf-8") as summary:
            summary.write(text)


@contextlib.contextmanager
def _handed_in(folder: Path, path: Path, file: str) -> Iterator[Submission]:
    """Yield a submission that holds the file under its expected name: in its own folder, or as a copy if its name
    differs."""
    submission = submission_of(folder)
    if path.parent == folder and path.name == file:
        yield submission
        return
    with temporary.folder("check") as copy:
        shutil.copyfile(path, copy / file)
        yield replace(submission, folder=copy)


def _wait_for_files(workspace: Workspace, seen: Mapping[Path, Stamp]) -> tuple[dict[Path, Stamp], set[Path]]:
    """Wait until files are saved, and return them. A file counts once it stops changing: an editor may write in several
    steps."""
    before = dict(seen)
    while True:
        time.sleep(POLL_SECONDS)
        now = _stamps(workspace)
        saved = {path for path, stamp in now.items() if stamp is not None and stamp != seen.get(path)}
        if saved and now == before:
            return now, saved
        before = now


def _changed(workspace: Workspace, seen: Mapping[Path, Stamp]) -> bool:
    return any(stamp is not None and stamp != seen.get(path) for path, stamp in _stamps(workspace).items())


def _stamps(workspace: Workspace) -> dict[Path, Stamp]:
    return {path: _stamp(path) for path in (*workspace.files.values(), *workspace.expected)}


def _stamp(path: Path) -> Stamp:
    try:
        info = path.stat()
    except OSError:
        return None
    return info.st_mtime_ns, info.st_size


def _shown_path(path: Path) -> str:
    """Return a path, relative to the working directory if it lies below that, for a user to type or click."""
    with contextlib.suppress(ValueError):
        return str(path.absolute().relative_to(Path.cwd()))
    return str(path)
