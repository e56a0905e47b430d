"""Can the file be imported and its function called, and do its kernels compile for the course's GPU?"""

from collections.abc import Callable

from grader.judge.attempt import Attempt
from grader.model.result import CheckResult

Verify = Callable[[CheckResult], None]


def test_source(attempt: Attempt, verify: Verify) -> None:
    verify(attempt.read())


def test_target(attempt: Attempt, verify: Verify) -> None:
    verify(attempt.compiles())
