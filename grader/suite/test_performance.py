"""How fast is it? Measured on a GPU, once every answer was right."""

from collections.abc import Callable

from grader.judge.attempt import Attempt
from grader.model.assignment import TimedCase
from grader.model.result import CheckResult

Verify = Callable[[CheckResult], None]


def test_speed(attempt: Attempt, timed: TimedCase, verify: Verify) -> None:
    verify(attempt.time(timed))
