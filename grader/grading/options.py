"""The options of a grading."""

from __future__ import annotations

import os
import shlex
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from grader import home
from grader.course.course import Course
from grader.course.roster import Names

if TYPE_CHECKING:
    from grader.classroom.attempts.choice import Kind


@dataclass(frozen=True)
class GradeOptions:
    """The options that the command line gave; each default is the command's own.

    `minimum` is the least isolation level, by default the course's; `allow_degraded` accepts a weaker one. `gpus` are
    the numbers of the GPUs to grade on, by default all. `jobs` is the number of submissions that are graded side by
    side; 0 is the most that the machine allows. `sweep` also times right kernels at many sizes. `as_json` reports on
    standard output, one JSON object a line; `leaderboard` also writes that page. `roster` names the students on the
    class page; `names` is the form in which they are shown there, by default the course's.
    """

    out: Path
    only: Sequence[str] = ()
    device: str = "auto"
    gpus: str = ""
    speed: bool = True
    sweep: bool = False
    jobs: int = 0
    seed: int | None = None
    course_file: Path = field(default_factory=home.file)
    minimum: int | None = None
    allow_degraded: bool = False
    kind: Kind = "grade"
    force: bool = False
    as_json: bool = False
    leaderboard: bool = False
    roster: Path | None = None
    names: Names | None = None

    def least_isolation(self, course: Course) -> int:
        """Return the least isolation level for grading."""
        if self.allow_degraded:
            return 0
        return course.isolation.minimum if self.minimum is None else self.minimum

    def repeat_command(self, folder: Path, device: str, seed: int) -> str:
        """Return the command that repeats the grading of a student's folder on this machine, with every option that can
        change the result."""
        words = ["kernelmark", "grade", str(folder.absolute()), "--out", str(self.out.absolute()), "--device", device,
                 "--force", "--seed", str(seed)]
        words += ["--only", ",".join(self.only)] if self.only else []
        words += home.here().words(self.course_file)
        words += ["--min-isolation", str(self.minimum)] if self.minimum is not None else []
        words += ["--allow-degraded"] if self.allow_degraded else []
        words += ["--gpus", self.gpus] if self.gpus else []
        words += [] if self.speed else ["--no-speed"]
        words += ["--sweep"] if self.sweep else []
        return os.fsencode(shlex.join(words)).decode("utf-8", "replace")
