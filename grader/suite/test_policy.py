"""Is the work done by the student's own kernels? The text is read before anything runs, the record judged after."""

from collections.abc import Callable

from grader.judge.attempt import Attempt
from grader.result import CheckResult

Verify = Callable[[CheckResult], None]


def test_source(attempt: Attempt, verify: Verify) -> None:
    verify(attempt.read())


def test_record(attempt: Attempt, verify: Verify) -> None:
    verify(attempt.record())
