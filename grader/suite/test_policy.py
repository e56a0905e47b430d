"""Is the work done by the student's own kernels? The text is read before anything runs, the record judged after."""


def test_source(attempt, verify):
    verify(attempt.read())


def test_record(attempt, verify):
    verify(attempt.record())
