"""A judged task: its outcomes taken one by one, as pytest asks for them, or all at once."""

from __future__ import annotations

import time
from collections.abc import Generator

from grader.errors import InfrastructureError
from grader.judging.checks import CheckOutcome, expected_checks, our_failure, speed_checks, structure_checks
from grader.judging.judge import Extras, judge
from grader.judging.prepared import PreparedTask
from grader.results.result import CheckResult


class Judgement:
    """The outcomes of a task's checks. Set `selected` to indices of `expected`, call `take` for each of them in that
    order, and then `end`. `checks` holds a failure of ours for each check that was not taken; `seconds` is how long
    judging took."""

    def __init__(self, prepared: PreparedTask, *, speed: bool = False) -> None:
        self.task, self.extras, self.seconds = prepared.task, Extras(), 0.0
        assignment, device = self.task.assignment, self.task.device
        self.expected = (
            *expected_checks(assignment, device), *structure_checks(self.task.conditions.by_name),
            *(speed_checks(assignment) if speed else ()))
        self.checks = [our_failure(check, "The check was not run.") for check in self.expected]
        self.selected: list[int] = []
        self._prepared = prepared
        self._outcomes = self._judged()

    def _judged(self) -> Generator[CheckOutcome]:
        started = time.monotonic()
        try:
            self.extras = yield from judge(self._prepared, [self.expected[number] for number in self.selected])
        finally:
            self.seconds = time.monotonic() - started

    def take(self, number: int) -> CheckResult:
        """Return the next outcome, which has to belong to check `number`. If the outcome is a failure of ours, its
        error is raised."""
        try:
            outcome = next(self._outcomes)
        except StopIteration:
            raise InfrastructureError(f"the judge ended before check {self.expected[number].id}") from None
        except BaseException as error:
            self.checks[number] = our_failure(self.expected[number], f"{type(error).__name__}: {error}")
            raise
        assert outcome.check.id == self.expected[number].id
        self.checks[number] = outcome.check
        if outcome.error is not None:
            raise outcome.error
        return outcome.check

    def end(self) -> None:
        """Let the judge finish after its last outcome."""
        next(self._outcomes, None)

    def take_all(self) -> list[CheckResult]:
        """Return the outcomes of all expected checks. Raises the first error of a check."""
        self.selected = list(range(len(self.expected)))
        outcomes = [self.take(number) for number in self.selected]
        self.end()
        return outcomes
