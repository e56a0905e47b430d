"""The command that a result names grades it again: with all that decides whether it runs, and what comes of it."""

import shlex
from pathlib import Path

from grader.course.course import Course, IsolationTable
from grader.grading.options import GradeOptions

PLAIN = ["kernelmark", "grade", "/class/ada b", "--out", "/out", "--device", "cpu", "--force", "--seed", "7"]


def test_what_was_asked_for_is_asked_for_again() -> None:
    options = GradeOptions(
        Path("/out"), only=["silu", "gemm"], gpus="1", speed=False, sweep=True, course_file=Path("/c.toml"), minimum=1,
        allow_degraded=True)
    assert shlex.split(options.repeat_command(Path("/class/ada b"), "cpu", 7)) == [
        *PLAIN, "--only", "silu,gemm", "--course", "/c.toml", "--min-isolation", "1", "--allow-degraded", "--gpus", "1",
        "--no-speed", "--sweep"]


def test_what_only_one_run_is_about_is_not() -> None:
    options = GradeOptions(Path("/out"), jobs=3, seed=5, kind="failed", force=True, as_json=True, leaderboard=True)
    assert shlex.split(options.repeat_command(Path("/class/ada b"), "cpu", 7)) == PLAIN


def test_the_isolation_is_the_courses_unless_it_is_asked_for() -> None:
    course = Course(isolation=IsolationTable(minimum=3))
    out = Path("/out")
    given = (GradeOptions(out), GradeOptions(out, minimum=1), GradeOptions(out, minimum=4, allow_degraded=True))
    assert [options.least_isolation(course) for options in given] == [3, 1, 0]
