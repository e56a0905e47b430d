"""Is the answer right, for every case of every assignment?"""

from collections.abc import Callable

from grader.judge.attempt import Attempt
from grader.model.assignment import Case
from grader.model.result import CheckResult

Verify = Callable[[CheckResult], None]


def test_case(attempt: Attempt, case: Case, verify: Verify) -> None:
    verify(attempt.check(case))
