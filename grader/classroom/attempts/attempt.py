"""An attempt: one assignment of one student, graded once; and the hashes of everything that it was graded from."""

from __future__ import annotations

import datetime
import hashlib
import json
from collections.abc import Sequence
from pathlib import Path, PurePath
from typing import NamedTuple

from pydantic import BaseModel, ConfigDict

from grader import home
from grader.course.catalogue import HIDDEN, shared_modules
from grader.course.course import Course
from grader.course.forms import SUFFIX
from grader.course.submission import Source
from grader.results.result import Environment
from grader.results.verdicts import GRADERS_FAULT, INFRASTRUCTURE_ERROR, UNJUDGED, UNTRIED, Verdict
from grader.results.version import JUDGE_VERSION, POINTS_VERSION

FACTS = ("device", "python", "torch", "triton", "numpy", "isolation", "kernelmark")
"""The fields of an environment by which attempts differ."""


class HandIn(NamedTuple):
    """A file as a student handed it in at some time; one of its attempts is selected. A folder without times may come
    back to a file after another one: `turn` counts these returns."""

    slug: str
    assignment: str
    submission: str
    submitted_at: str | None
    turn: int


class Attempt(BaseModel):
    """The head of a record: all that policy and comparison need without the checks.

    `submission`, `tests` and `environment` are hashes: of the file, of what it was graded with, and of where it was
    graded. `rules` is the hash of the rules that turn checks into points. `submitted_at` is ISO 8601 with a zone, and
    `late` is the platform's mark; either is None if the source does not say. If no code was run for this attempt, `of`
    is the attempt from which its checks come. `run` is the number of the grading that made it; attempts of one run
    share a log.
    """

    model_config = ConfigDict(extra="ignore", frozen=True)

    id: int = 0
    run: int = 0
    student: str
    slug: str
    members: tuple[str, ...] = ()
    assignment: str
    submission: str
    tests: str
    environment: str
    rules: str
    submitted_at: str | None = None
    late: bool | None = None
    turn: int = 0
    of: int | None = None
    verdict: Verdict = INFRASTRUCTURE_ERROR
    score: float = 0
    max_score: float = 0
    error: str = ""

    @property
    def hand_in(self) -> HandIn:
        return HandIn(self.slug, self.assignment, self.submission, self.submitted_at, self.turn)

    @property
    def key(self) -> tuple[str, str, str]:
        return self.submission, self.tests, self.environment

    @property
    def book(self) -> tuple[str, str]:
        """Return the hashes of what decides the checks, and of the rules that turn checks into points."""
        return self.tests, self.rules

    @property
    def failed(self) -> bool:
        """Return whether the attempt failed through the grader's fault."""
        return self.verdict in GRADERS_FAULT

    @property
    def judged(self) -> bool:
        return self.verdict not in UNJUDGED

    @property
    def empty(self) -> bool:
        """Return whether nothing was handed in to be judged: no file, no function, or the stub."""
        return self.verdict in UNTRIED

    @property
    def instant(self) -> datetime.datetime | None:
        return None if self.submitted_at is None else datetime.datetime.fromisoformat(self.submitted_at)


OF_POINTS = {"violation"}
"""Keys of `[policy]` that decide points only. All other keys decide checks."""


def hash_of_submission(source: Source, problems: Sequence[str] = ()) -> str:
    """Return the sha256 of a file; the same text in another language has another hash. A file that is missing or cannot
    be read gets a word instead, or the hash of the `problems` that the intake had with it."""
    if source.content is not None:
        digest, suffix = hashlib.sha256(source.content).hexdigest(), PurePath(source.file).suffix
        return digest if suffix in ("", SUFFIX) else _hash([suffix, digest])
    if source.problem is None and problems:
        return _hash(["missing", *problems])
    return source.problem.cause if source.problem else "missing"


def hash_of_tests(name: str, course: Course, root: Path | None = None) -> str:
    """Return the sha256 of everything that decides an assignment's checks: its Python files, its hidden cases, the
    version of the judge, and the limits of the course."""
    root = root or home.root()
    folder = root / "assignments" / name
    imported = [*shared_modules(root), folder]
    files = [*sorted(file for path in imported for file in ([path] if path.suffix else path.rglob("*.py"))),
             folder / HIDDEN]
    digests = [f"{path.relative_to(root)} {hashlib.sha256(path.read_bytes()).hexdigest()}"
               for path in files if path.is_file()]
    return _hash([digests, JUDGE_VERSION, course.limits.model_dump(), course.gpu.model_dump(),
                  course.policy.model_dump(exclude=OF_POINTS), course.structure.get(name, {}),
                  course.points_of(name).structure > 0])


def hash_of_rules(name: str, course: Course) -> str:
    """Return the sha256 of the rules that turn an assignment's checks and times into points."""
    threshold = course.threshold_of(name)
    return _hash([POINTS_VERSION, course.points_of(name).model_dump(),
                  course.points.model_dump(exclude={"correctness", "performance", "structure", "assignments"}),
                  course.policy.model_dump(include=OF_POINTS), threshold.floor, threshold.target])


def hash_of_environment(environment: Environment, speed: bool) -> str:
    """Return the sha256 of device, versions and isolation, and of whether `speed` is measured."""
    return _hash([environment.model_dump(include=set(FACTS)), speed])


def _hash(value: object) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()
