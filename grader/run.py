"""A class from start to end: what is to be graded, progress, files written, what went wrong."""

from __future__ import annotations

import contextlib
import os
import shlex
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from grader import catalogue
from grader.course import Course
from grader.grading import Graded, Job, grade_all
from grader.report.load import Failure, load_results
from grader.report.pages import write_class, write_student
from grader.result import Result
from grader.submission import Submission
from grader.suite.context import select

DEVICES = ("auto", "cpu", "cuda")
# A run that has less left than this would fail halfway through a class.
FREE_BYTES = 1 << 20


class PlanError(Exception):
    """The grading cannot start; one line."""


@dataclass(frozen=True)
class Plan:
    """What will be graded, and how."""

    jobs: list[Job]
    lanes: int
    out: Path


def plan(
    submissions: list[Submission], course: Course, *, out: Path, only: Sequence[str], device: str, jobs: int,
    seed: int | None,
) -> Plan:
    """Checks everything that can be known before a student's code runs. Raises PlanError."""
    try:
        chosen = tuple(select(catalogue.assignments(), only))
    except ValueError as error:
        raise PlanError(f"--only: {error}") from None
    if device not in DEVICES:
        raise PlanError(f"--device: {device!r}; one of {', '.join(DEVICES)} expected")
    if device == "auto":
        device = "cuda" if _has_gpu() else "cpu"
    elif device == "cuda" and not _has_gpu():
        raise PlanError("--device cuda: torch sees no CUDA device; a GPU and a CUDA build of torch expected")
    _check_writable(out)
    # On a GPU one after another: a neighbour would be in the way of its memory and its clock.
    lanes = 1 if device == "cuda" else min(jobs or _cores(), len(submissions))
    planned = [
        Job(submission, course, chosen if only else (), device, seed, _command(submission, only, seed))
        for submission in submissions]
    return Plan(planned, lanes, out)


def _has_gpu() -> bool:
    import torch

    return torch.cuda.is_available()


def _cores() -> int:
    return len(os.sched_getaffinity(0))


def _command(submission: Submission, only: Sequence[str], seed: int | None) -> str:
    words = ["kernelmark", "grade", str(submission.folder)]
    if only:
        words += ["--only", ",".join(only)]
    if seed is not None:
        words += ["--seed", str(seed)]
    return shlex.join(words)


def _check_writable(out: Path) -> None:
    try:
        out.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=out):
            pass
    except OSError as error:
        raise PlanError(f"--out {out}: {error.strerror}; a writable folder expected") from None


def grade_class(plan: Plan, console: Console, errors: Console) -> int:
    """Grades, writes every student's files as they come, then the class page. Returns how many failures of ours."""
    failures: list[Failure] = []
    started = time.monotonic()
    with _progress(plan, console) as tell:
        for graded in grade_all(plan.jobs, plan.lanes):
            trouble = _keep(graded, plan.out)
            tell(graded)
            for line in trouble:
                errors.print(f"kernelmark: {line}", markup=False)
            failures.extend(Failure(graded.submission.slug, line) for line in trouble)
    try:
        loaded = load_results(plan.out)
        told = {failure.folder for failure in failures}
        write_class(
            loaded.entries, plan.out, failures=failures + [f for f in loaded.failures if f.folder not in told])
    except OSError as error:
        failures.append(Failure("", f"class page not written: {error.strerror} ({plan.out})"))
        errors.print(f"kernelmark: {failures[-1].message}", markup=False)
    else:
        seconds = time.monotonic() - started
        console.print(f"{len(plan.jobs)} graded in {seconds:.0f} s: {plan.out / 'index.html'}", markup=False)
    return len(failures)


def _keep(graded: Graded, out: Path) -> list[str]:
    """Writes a student's files. Returns one line for each failure of ours."""
    submission, result = graded.submission, graded.result
    if result is None:
        return [f"{submission.student}: not graded: {graded.error}"]
    failed = [name for name, a in result.assignments.items() if a.verdict == "infrastructure_error"]
    lines = [f"{submission.student}: {name}: {result.assignments[name].message}" for name in failed]
    folder = out / submission.slug
    try:
        folder.mkdir(exist_ok=True)
        if failed and _stored(folder) is not None:
            # A failure of ours never replaces a grade.
            _write(folder / "result.failed.json", result.model_dump_json(by_alias=True, indent=1))
            return [f"{line} (the earlier result was kept)" for line in lines]
        _write(folder / "checks.log", graded.log)
        _write(folder / "result.json", result.model_dump_json(by_alias=True, indent=1))
        (folder / "result.failed.json").unlink(missing_ok=True)
        write_student(result, folder)
    except OSError as error:
        lines.append(f"{submission.student}: results not written: {error.strerror} ({folder})")
    return lines


def _stored(folder: Path) -> Result | None:
    """The result of an earlier grading in which nothing of ours failed."""
    try:
        stored = Result.model_validate_json((folder / "result.json").read_bytes())
    except (OSError, ValidationError):
        return None
    return None if any(a.verdict == "infrastructure_error" for a in stored.assignments.values()) else stored


def _write(path: Path, text: str) -> None:
    """Whole or not at all: a reader never sees half a file, and a full disk leaves the old one."""
    temporary = path.with_name(f".{path.name}.new")
    try:
        temporary.write_text(text, encoding="utf-8", errors="replace")
        temporary.replace(path)
    except OSError:
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)
        raise


@contextlib.contextmanager
def _progress(plan: Plan, console: Console) -> Iterator[Callable[[Graded], None]]:
    total = len(plan.jobs)
    if console.is_terminal:
        columns = (TextColumn("grading"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(),
                   TextColumn("left"), TimeRemainingColumn(), TextColumn("{task.description}", markup=False))
        with Progress(*columns, console=console, transient=True) as bar:
            task = bar.add_task("", total=total)

            def tell(graded: Graded) -> None:
                bar.console.print(_line(graded), markup=False)
                bar.update(task, advance=1)

            yield tell
        return
    done = 0
    started = time.monotonic()

    def tell_line(graded: Graded) -> None:
        nonlocal done
        done += 1
        left = (time.monotonic() - started) / done * (total - done)
        console.print(f"[{done}/{total}] {_line(graded)}  (about {left:.0f} s left)", markup=False, soft_wrap=True)

    yield tell_line


def _line(graded: Graded) -> str:
    result = graded.result
    if result is None:
        return f"{graded.submission.student}: not graded"
    right = sum(a.verdict == "accepted" for a in result.assignments.values())
    return (f"{result.student}: {result.score:g} of {result.measured_max:g} points, {right} of "
            f"{len(result.assignments)} right, {result.seconds:.1f} s")
