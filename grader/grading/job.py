"""A job, which is the complete input for grading one submission, and its outcome."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from grader.course import catalogue, scoring, workspace
from grader.course.calibration import Calibration
from grader.course.course import Course
from grader.course.submission import Submission, SubmittedFiles, read_sources
from grader.results.profile import KernelProfile
from grader.results.result import Result


def draw_seed() -> int:
    """Return a secret seed from the system. `--seed` with the same number repeats the inputs."""
    return secrets.randbits(63)


def seed_bytes(seed: int) -> bytes:
    """Return a seed as bytes, the key from which every input is drawn."""
    return hashlib.sha256(str(seed).encode()).digest()


@dataclass(frozen=True)
class Job:
    """The complete input for grading one submission, so that its folder need not be opened again. Every input follows
    from `seed`. Without a GPU neither `speed` nor speed at many sizes (`sweep`) is measured.

    `earlier` has, by assignment, the shares of the speed points that an earlier grading gave. `notes` tell the student
    how the submission arrived. With `profile` the kernel of a single assignment is also profiled, where that can be.
    """

    submission: Submission
    handed_in: SubmittedFiles
    course: Course
    only: tuple[str, ...] = ()
    device: str = "cpu"
    speed: bool = True
    sweep: bool = field(default=False, kw_only=True)
    profile: bool = field(default=False, kw_only=True)
    seed: int = field(default_factory=draw_seed)
    command: str = ""
    calibrations: tuple[Calibration, ...] = ()
    earlier: Mapping[str, scoring.EarlierShare] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


def read(folder: Path, names: Iterable[str], course: Course) -> SubmittedFiles:
    """Return the files of these assignments in a student's folder."""
    sources = read_sources(folder, names, course.source_bytes, course.counted)
    return workspace.handed_in(folder, sources, catalogue.files())


def read_job(submission: Submission, course: Course, only: tuple[str, ...] = (), *more: Any, **named: Any) -> Job:
    """Return a job for the present files of `only`, or of all assignments; `more` and `named` are further fields of
    Job."""
    names = catalogue.select(catalogue.files(), only)
    return Job(submission, read(submission.folder, names, course), course, only, *more, **named)


@dataclass(frozen=True)
class JobOutcome:
    """The outcome of a job: a result and the log of its checks, or the error of a failure of ours."""

    submission: Submission
    result: Result | None
    log: str = ""
    error: str = ""
    profile: KernelProfile | None = None

    @property
    def wrong(self) -> list[str]:
        """Return the assignments in the result that are not right."""
        assignments = {} if self.result is None else self.result.assignments
        return [name for name, assignment in assignments.items() if not assignment.right]
