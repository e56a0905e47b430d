"""Is the answer right, for every case of every assignment?"""


def test_case(attempt, case, verify):
    verify(attempt.check(case))
