"""What a run of the suite is about, and what it found: filled by the checks, read by `grader.run.grading`."""

from __future__ import annotations

import threading
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, field

import pytest

from grader.judge.attempt import Attempt
from grader.judge.lane import AHEAD
from grader.model.assignment import Assignment
from grader.model.course import Course
from grader.model.launched import Inspection
from grader.model.result import CheckResult, Detail
from grader.model.submission import HandedIn

Evidence = dict[str, dict[str, CheckResult]]
"""Assignment name, check id: what the check found. Nothing is assumed of a check that is not here."""


@dataclass
class Context:
    """One submission, the assignments to check, and the evidence so far."""

    handed_in: HandedIn
    assignments: dict[str, Assignment]
    course: Course
    device: str
    seed: bytes
    asked_for_speed: bool
    evidence: Evidence = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)
    inspections: dict[str, Inspection | None] = field(default_factory=dict)
    remarks: dict[str, list[str]] = field(default_factory=dict)
    _attempts: dict[str, Attempt] = field(default_factory=dict)
    _making: threading.Lock = field(default_factory=threading.Lock)
    _ahead: Future[None] | None = None

    @property
    def speed(self) -> bool:
        """Whether speed is measured: a simulator's says nothing."""
        return self.asked_for_speed and self.device == "cuda"

    def attempt(self, assignment: Assignment) -> Attempt:
        """The one attempt at an assignment. Raises InfrastructureError."""
        with self._making:
            if assignment.name not in self._attempts:
                self._attempts[assignment.name] = Attempt(
                    assignment, self.handed_in.sources[assignment.name], self.course, self.seed, self.device,
                    quiet=self.wait_until_read)
            return self._attempts[assignment.name]

    def read_ahead(self) -> None:
        """Begins to prepare all attempts, one after another, beside what their checks do."""
        self._ahead = AHEAD.submit(self._read_ahead)

    def wait_until_read(self) -> None:
        """Returns when nothing is planned or compiled ahead any more."""
        if self._ahead is not None:
            self._ahead.result()

    def _read_ahead(self) -> None:
        for assignment in self.assignments.values():
            # The next call that needs it meets the same failure, and reports it.
            with suppress(Exception):
                self.attempt(assignment).prepare()

    def put(self, assignment: str, check: CheckResult) -> None:
        self.evidence.setdefault(assignment, {})[check.id] = check


CONTEXT = pytest.StashKey[Context]()
CHECK = pytest.StashKey[tuple[str, CheckResult]]()
"""Of an item: the assignment and the check that it must bring evidence for."""


def our_failure(check: CheckResult, reason: str) -> CheckResult:
    """The evidence of a check that failed by no fault of the submission, or was never run."""
    detail = Detail(kind="infrastructure", message=reason[:2000], hint="The grader failed, not the submission.")
    return check.model_copy(update={"outcome": "failed", "detail": detail})
