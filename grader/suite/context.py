"""What a run of the suite is about, and what it found: filled by the checks, read by `grader.grading`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import pytest

from grader.assignment import Assignment
from grader.course import Course
from grader.judge import roofs
from grader.judge.attempt import RECORD, SOURCE, Attempt
from grader.judge.company import Company, Member
from grader.judge.lane import at_once, lane_baselines, lane_zygote
from grader.result import CheckResult, Detail
from grader.submission import Source, read_source_file

Evidence = dict[str, dict[str, CheckResult]]
"""Assignment name, check id: what the check found. Nothing is assumed of a check that is not here."""


@dataclass
class Context:
    """One submission, the assignments to check, and the evidence so far. `together` all of them are checked, and
    several at once where that is faster."""

    folder: Path
    assignments: dict[str, Assignment]
    course: Course
    device: str
    seed: bytes
    asked_for_speed: bool
    evidence: Evidence = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)
    together: bool = False
    _company: Company | None = None

    @property
    def speed(self) -> bool:
        """Whether speed is measured: an interpreter's says nothing."""
        return self.asked_for_speed and self.device == "cuda"

    @property
    def places(self) -> int:
        """How many assignments are judged at the same time."""
        return min(at_once(self.device), len(self.assignments)) if self.together else 1

    def source(self, assignment: Assignment) -> Source:
        return read_source_file(self.folder, assignment.file, self.course.limits.source_kb * 1024)

    def attempt(self, assignment: Assignment) -> Attempt | Member:
        if self.speed and self._company is None:
            # While no submission is at work: it could lower them.
            with suppress(roofs.RoofsError):
                roofs.roofs()
        most = self.places
        if most == 1:
            return self._make(assignment, lambda: 0)
        if self._company is None:
            # Here, not in a thread that ends before they do.
            for number in range(most):
                lane_zygote(self.device, number)
            makers = {
                name: (partial(self._make, one), one.cases_for(self.device)) for name, one in self.assignments.items()}
            self._company = Company(makers, most, cuda=self.device == "cuda")
        return self._company.members[assignment.name]

    def close(self) -> None:
        """Ends what is still at work, when no further check will be asked for."""
        if self._company is not None:
            self._company.close()

    def _make(self, assignment: Assignment, place: Callable[[], int]) -> Attempt:
        return Attempt(
            lambda: lane_zygote(self.device, place()), assignment, self.source(assignment), self.course, self.seed,
            self.device, lambda: lane_baselines(self.device))

    def put(self, assignment: str, check: CheckResult) -> None:
        self.evidence.setdefault(assignment, {})[check.id] = check

    def overrule(self, assignment: str, check_id: str, detail: Detail) -> None:
        """A check that has passed is failed after all, by what was found later."""
        check = self.evidence[assignment][check_id]
        self.put(assignment, check.model_copy(update={"outcome": "failed", "detail": detail}))


CONTEXT = pytest.StashKey[Context]()
CHECK = pytest.StashKey[tuple[str, str]]()
"""Of an item: the assignment and the check id that it must bring evidence for."""


def our_failure(check_id: str, reason: str) -> CheckResult:
    """The evidence of a check that failed by no fault of the submission, or was never run."""
    detail = Detail(kind="infrastructure", message=reason[:2000], hint="The grader failed, not the submission.")
    if check_id == SOURCE:
        return CheckResult(id=check_id, stage="source", outcome="failed", detail=detail)
    if check_id == RECORD:
        return CheckResult(id=check_id, stage="record", outcome="failed", detail=detail)
    stage, _, case = check_id.partition("-")
    return CheckResult(
        id=check_id, stage="speed" if stage == "speed" else "case", case=case, outcome="failed", detail=detail)


def select(assignments: dict[str, Assignment], only: Sequence[str]) -> dict[str, Assignment]:
    """The assignments named in `only`, all of them if it is empty. Raises ValueError, one line."""
    for name in only:
        if name not in assignments:
            raise ValueError(f"{name!r} is no assignment; one of {', '.join(assignments)} expected")
    return {name: a for name, a in assignments.items() if not only or name in only}
