"""A kernel that only takes a simulator long is not called endless."""

import pytest

from grader.course.catalogue import assignments
from grader.course.course import Course, LimitsTable, read_course
from grader.course.submission import Source
from grader.home import ROOT
from grader.judging.case import _slow_here
from grader.judging.checks import SOURCE, case_check, results
from grader.judging.judge import judge
from grader.judging.prepared import NoAnswer, PreparedTask, Task
from grader.languages.cuda.toolkit import problem
from grader.plan.messages import Exhausted
from grader.sandbox.forkserver.conversation import LostAnswer

pytestmark = pytest.mark.skipif(problem() != "", reason=f"no nvcc: {problem()}")
FILE = """
__global__ void silu_kernel(const float *x, float *out, int n)
{
    BODY
}
void silu(float *input, float *output, int n) { silu_kernel<<<LAUNCH>>>(input, output, n); }
"""


@pytest.mark.parametrize(("body", "launch", "kind"), [
    ("for (int i = 0; i < n; ++i) out[i] = x[i] / (1 + expf(-x[i]));", "1, 1", "needs_gpu"),
    ("int i = blockIdx.x * 256 + threadIdx.x; float sum = 0;"
     "for (long k = 0; k < (n > 2000 ? n * 1000000000L : 1); ++k) sum += k;"
     "if (i < n) out[i] = x[i] / (1 + expf(-x[i])) + (sum < 0);", "(n + 255) / 256, 256", "time_out"),
])
def test_want_of_time_shows_an_endless_loop_where_smaller_cases_were_quick(body: str, launch: str, kind: str) -> None:
    course = read_course(ROOT / "course.toml", frozenset(assignments())).model_copy(update={
        "limits": LimitsTable(call_seconds=1, assignment_seconds=30, memory_mb=2048)})
    assignment = assignments()["silu"].model_copy(update={"suffix": ".cu"})
    text = FILE.replace("BODY", body).replace("LAUNCH", launch).encode()
    prepared = PreparedTask(Task(assignment, Source(content=text, file="silu.cu"), course, b"seed", "cpu"))
    cases = [case for case in assignment.cases if case.name in ("1x1", "5x9", "1x1009", "64x64", "420x503")]
    checks = list(results(judge(prepared, [SOURCE, *map(case_check, cases)])))
    assert checks[1].outcome == checks[2].outcome == "passed", checks
    assert next(check.detail.kind for check in checks if check.detail) == kind, checks


@pytest.mark.parametrize("stop", [
    Exhausted(seq=0, what="time"), LostAnswer("time_out", "no answer within 10 s")], ids=["its clock", "the judge's"])
@pytest.mark.parametrize(("quick", "kind"), [("16x16x16", "needs_gpu"), ("64x64x64-large", None)])
def test_a_case_that_fills_no_block_may_take_as_long_as_one_that_does(
    quick: str, kind: str | None, stop: Exhausted | LostAnswer,
) -> None:
    gemm = assignments()["gemm"]
    prepared = PreparedTask(Task(gemm, Source(content=b"", file=gemm.file), Course(), b"seed", "cpu"))
    cases = {case.name: case for case in gemm.cases}
    slow = _slow_here(prepared, cases["3x5x1999"], NoAnswer(stop), [(cases[quick], 0.1)])
    assert (slow and slow.kind) == kind
