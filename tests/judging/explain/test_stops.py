"""Whatever comes in place of an answer is explained, and nobody is blamed for what only a GPU can tell."""

import signal

from grader.judging.explain import explain_remarks, explain_stop
from grader.judging.explain.stops import Stop
from grader.judging.plans.residency import TooManyRegisters, TooManyTogether
from grader.judging.plans.rules import BeyondBuffer, GridTooLarge, HostMemory, NothingToCopy, NotOnTarget, TooMuchMemory
from grader.judging.running import execution
from grader.plan import compiled
from grader.plan.findings import EmptyGrid, MaskedUse
from grader.plan.messages import AbsentName, CannotSimulate, Exhausted, Failed, SkippedStatement
from grader.results.verdicts import FailureKind
from grader.sandbox.forkserver.conversation import LostAnswer
from tests.judging.toys import SILU
from tests.rows import each_row

SOURCE = "\n" * 9 + "    tl.store(out_ptr, x)\n    while True:\n"

STOPS: list[tuple[Stop, FailureKind, str, str]] = [
    (Failed(seq=1, failure="syntax_error", message="'(' was never closed", line=10), "syntax_error", "never closed",
     "unclosed bracket"),
    (Failed(seq=1, failure="compile_error", message="CompilationError: at 2:6:\ndef k(x):\n    tl.arange(0, 33)\n"
            "    ^\narange's range must be a power of 2", line=10), "compile_error",
     "CompilationError: arange's range must be a power of 2", "next_power_of_2"),
    (Failed(seq=1, failure="wrong_signature", message="silu(x)", line=10), "wrong_signature",
     "The function is defined as silu(x).", "called as silu(x, out)"),
    (Failed(seq=1, failure="autograd", message="ctx.scale is not set; set it in forward", line=10), "wrong_signature",
     "ctx.scale is not set; set it in forward.", "PyTorch, and the grader, call silu(x, out)."),
    (Failed(seq=1, failure="unsupported", message="a descriptor that rounds: leave it out", line=10), "unsupported",
     "Not supported in line 10: a descriptor that rounds: leave it out.", "who see a flag"),
    (Failed(seq=1, failure="too_large", message="16,385 operations", line=10), "over_limit", "16,385 operations",
     "not one for each row"),
    (CannotSimulate(seq=1, operation="inline assembly", kernel="k", line=10), "needs_gpu",
     "The grader cannot simulate `inline assembly` in line 10 of the kernel `k`: it needs a GPU.",
     "stay open until the file runs on a GPU. A kernel in triton.language alone can be checked here, too."),
    (CannotSimulate(seq=1, operation="tt.map_elementwise", kernel="k", line=10), "needs_gpu",
     "The grader cannot simulate `tt.map_elementwise` in line 10 of the kernel `k`: it needs a GPU.",
     "your file is not at fault"),
    (Exhausted(seq=1, what="operations", kernel="k", line=10), "time_out",
     "The kernel `k` takes more operations than the grader's limit allows in line 10.", "millions of programs"),
    (Exhausted(seq=1, what="operations", kernel="k", line=11, rounds=1234), "time_out",
     "allows: the loop in line 11 has made 1,234 iterations.", "condition in `while True:` ever become false"),
    (Exhausted(seq=1, what="time", kernel="k", line=10), "time_out",
     "The kernel `k` runs longer than the grader's limit allows in line 10.", "millions of programs"),
    (Exhausted(seq=1, what="memory", kernel="k"), "out_of_memory", "The kernel `k` ran out of memory.",
     "BLOCK_M x BLOCK_N"),
    (Exhausted(seq=1, what="memory"), "out_of_memory", "The call ran out of memory.", "BLOCK_M x BLOCK_N"),
    (Exhausted(seq=1, what="stalled", kernel="k", line=10), "time_out", "its programs wait for each other in line 10",
     "into an earlier launch"),
    (Exhausted(seq=1, what="unmet", kernel="k", line=10), "time_out", "threads wait in line 10 for a barrier or a flag",
     "what keeps that thread"),
    (Exhausted(seq=1, what="endless", kernel="k", line=11), "time_out", "line 11 changes nothing that its condition",
     "`while True:` compares"),
    (Exhausted(seq=1, what="endless", kernel="k"), "time_out", "the loop changes nothing", "the condition compares"),
    (LostAnswer("time_out", "no answer within 10 s"), "time_out", "No answer within 10 s", "loop that does not end"),
    (LostAnswer("crash", "the process was killed by SIGSEGV", signal=signal.SIGSEGV), "crash", "by SIGSEGV",
     "calls itself without end"),
    (GridTooLarge("k", 10, "y", 70_000, 65_535), "exception", "asks for 70,000 programs along y, but a GPU takes at "
     "most 65,535", "the grid's first one"),
    (GridTooLarge("k", 10, "x", 2**31, 2**31 - 1), "exception", "2,147,483,648 programs along x", "larger block."),
    (TooMuchMemory(2**42, 140 << 30, 10), "out_of_memory", "The call allocates 4,096.0 GiB, but the GPU has 140.0 GiB; "
     "the largest tensor is made in line 10.", "Allocate no more"),
    (TooMuchMemory(3 << 20, 1 << 20, 0), "out_of_memory", "3.0 MiB", "Allocate no more"),
    (TooMuchMemory(16 << 30, 8 << 30, 10, "host"), "out_of_memory", "16.0 GiB, but it may take 8.0 GiB of the host's "
     "memory", "Allocate no more"),
    (BeyondBuffer("x", 10, 4), "exception", "A view of x in line 10 ends 4 bytes after its memory.", "as_strided"),
    (BeyondBuffer("", 10, 4096, "k"), "exception", "tensor of your own in line 10, as the launch of `k` takes it,",
     "tensor descriptor"),
    (HostMemory("k", 10, "matrix"), "exception", "takes matrix, which lies in host memory", '.to("cuda")'),
    (HostMemory("k", 10, ""), "exception", "takes a tensor of your own", 'device="cuda"'),
    (TooManyTogether("k", 10, "launch_cooperative_grid=True", 13_173, 2112), "exception",
     "13,173 programs at a time (launch_cooperative_grid=True)", "further blocks in a loop"),
    (TooManyTogether("k", 10, "launch_cooperative_grid=True", 528, 132, 128), "exception",
     "holds at most 132, as each thread takes 128 registers", "further blocks in a loop"),
    (TooManyRegisters("k", 10, 1024, 127, 65_536), "exception", "each program has 1,024 threads of 127 registers, "
     "but may take at most 65,536 registers", "fewer threads in each program"),
    (NotOnTarget("k", 10, "launch_pdl", "sm_80"), "exception", "sets launch_pdl, which sm_80 does not have",
     "Leave launch_pdl out"),
    (compiled.Problem(message="PassManager::run failed", line=10), "compile_error", "PassManager", "smaller blocks"),
    (compiled.Problem(
        why="shared_memory", message="out of shared memory: a program needs 491,520 bytes, sm_90 has 232,448"),
     "compile_error", "491,520", "more shared memory than the GPU has"),
    (compiled.Problem(why="too_slow", message="the compiler takes too long: is a block of the kernel very large?"),
     "compile_error", "too long", "smaller blocks, and an ordinary `range`"),
    (Failed(seq=1, failure="kernel_too_long", message="a kernel of 1,153,096 characters in Triton's representation"),
     "over_limit", "1,153,096", "unrolled"),
    (Failed(seq=1, failure="too_many_kernels", message="more than 256 specialisations of kernels"), "over_limit",
     "256", "tl.constexpr"),
    (NothingToCopy(10), "exception", "no launch before it takes", "Launch the kernel"),
    (execution.GpuFailure("illegal_address", "an illegal memory access was encountered", "k", 10), "out_of_bounds",
     "illegal memory access", "outside every tensor"),
    (execution.GpuFailure("launch_failure", "CUDA error: unspecified launch failure", "k", 10), "exception",
     "launch failure", "device_assert"),
    (execution.GpuFailure("out_of_memory", "CUDA out of memory. Tried to allocate 20.00 GiB", "k", 10), "out_of_memory",
     "the call tried to allocate 20.00 GiB", "Allocate no more"),
    (execution.GpuFailure("time_limit", "no answer within 10 s", "k", 10), "time_out", "10 s", "does not end"),
]


@each_row(("stop", "kind", "message", "hint"), STOPS)
def test_what_comes_in_place_of_an_answer_is_explained(stop: Stop, kind: FailureKind, message: str, hint: str) -> None:
    detail = explain_stop(SILU, SOURCE, stop)
    assert detail.kind == kind
    assert message in detail.message and hint in detail.hint
    line = getattr(stop, "line", 0)
    assert (detail.place.line if detail.place else 0) == line
    if line == 10:
        assert detail.place is not None and detail.place.text == "tl.store(out_ptr, x)"


def test_what_was_left_out_of_a_file_is_said() -> None:
    skipped = [
        SkippedStatement(line=40, why="numbers", text="randn\n"), SkippedStatement(line=41, why="benchmark"),
        SkippedStatement(line=42, why="exception", text="E: a"),
        SkippedStatement(line=43, why="exception", text="E: b"),
        SkippedStatement(line=44, why="numbers", text="randn"),
        SkippedStatement(line=45, why="numbers", text="allclose"),
        SkippedStatement(line=9, why="print", text="max")]
    assert explain_remarks(SILU, skipped) == [
        "Lines 40, 44 and 45 were skipped: tensors have no values while a file is imported (`randn` and `allclose`).",
        "Line 41 was skipped: measuring time is the grader's work.",
        "Line 42 was skipped: it raised an exception (`E: a`).",
        "Line 43 was skipped: it raised an exception (`E: b`).",
        "Line 9 was skipped (`max`): host code has no values to print or check. In a kernel use tl.device_print or "
        "tl.device_assert. This costs no points."]
    many = [SkippedStatement(line=number, why="module", text=f"m{number}") for number in range(1, 11)]
    assert explain_remarks(SILU, many) == [
        "Lines 1, 2, 3, 4, 5, 6 and 4 more were skipped: there is no such module where kernels are graded (`m1`, `m2`, "
        "`m3`, `m4`, `m5`, `m6` and 4 more)."]


LEFT_OUT = {
    "module": ("nowhere", "there is no such module where kernels are graded (`nowhere`).", "each file stands alone"),
    "benchmark": ("", "measuring time is the grader's work.", "@triton.autotune"),
    "process": ("os.system", "(`os.system`).", "torch.cuda.get_device_name()"),
    "network": ("socket.connect", "(`socket.connect`).", "Write into the file"),
    "numbers": ("randn", "no values while a file is imported (`randn`).", "from shapes and types"),
}
RAISED = {
    "a file of one's own": ("FileNotFoundError: no such file", "stands alone"),
    "a package of one's own": ("ImportError: attempted relative import with no known parent package", "stands alone"),
    "a name of a library": ("ImportError: cannot import name 'tanh' from 'triton.language.math'",
                            "triton.language.math has no tanh in the version that grades"),
    "anything": ("ZeroDivisionError: division by zero", "triton.cdiv"),
}


@each_row(
    ("why", "text", "message", "hint"),
    [(why, *said) for why, said in LEFT_OUT.items()] +
    [("exception", text, f"it raised an exception (`{text}`).", hint) for text, hint in RAISED.values()],
    ids=[*LEFT_OUT, *RAISED])
def test_what_is_absent_is_told_by_the_line_left_out_and_is_no_matter_of_rules(
    why: str, text: str, message: str, hint: str
) -> None:
    skipped = SkippedStatement.model_validate({"line": 10, "why": why, "text": text})
    detail = explain_stop(SILU, SOURCE, AbsentName(seq=1, name="BLOCK", skipped=skipped, line=12))
    assert detail.kind == "import_error" and detail.place is not None and detail.place.line == 10
    assert detail.message.startswith("`BLOCK` is not defined: line 10, which defines it, was skipped, since ")
    assert detail.message.endswith(message) and hint in detail.hint


def test_an_answer_that_depends_on_masked_lanes_is_remarked_on_once() -> None:
    masked = MaskedUse(kernel="k", line=9, tensor="x_ptr")
    (remark,) = explain_remarks(SILU, [], [masked, EmptyGrid(kernel="k", line=1, grid=(0, 1, 1)), masked])
    assert "`x_ptr` in line 9 has a mask and no `other`" in remark and "other=0.0" in remark
