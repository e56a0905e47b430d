"""Host code that cannot be planned, and what its author is told."""

import pytest

from grader.plan.messages import Failed, Refused
from grader.plan.plan import Plan
from tests.languages.cuda.compiling import needs_nvcc
from tests.languages.cuda.planner.harness import File, build, elementwise, plan

pytestmark = needs_nvcc

FILE = File("refusals", "copies", elementwise(100))


@pytest.mark.parametrize(("symbol", "why", "operator", "at"), [
    ("brings_back", "read_values", "cudaMemcpy", "cudaMemcpy"),
    ("brings_back_any", "read_values", "cudaMemcpy", ""),
    ("from_symbol", "read_values", "cudaMemcpyFromSymbol", ""),
    ("managed", "read_values", "cudaMallocManaged", ""),
    ("reads", "read_values", "x", "printf"),
    ("reads_temporary", "read_values", "memory of cudaMalloc", ""),
    ("copies", "copy", "cudaMemcpy", ""),
    ("writes_input", "input_written", "cudaMemset", ""),
    ("library", "library", "cublasCreate_v2", ""),
    ("driver", "process", "dlopen", ""),
    ("unknown", "other", "cudaMallocArray", ""),
    ("forks", "process", "fork", ""),
    ("starts", "process", "system", ""),
    ("registers_memory", "option", "cudaHostRegister", ""),
    ("gives_clusters", "option", "cudaLaunchAttributeClusterDimension", "cudaLaunchKernelEx"),
])  # fmt: skip
def test_host_code_is_refused_what_makes_numbers(symbol: str, why: str, operator: str, at: str) -> None:
    found = FILE.plan(symbol)
    assert isinstance(found, Refused), found
    assert (found.why, found.operator, found.line) == (why, operator, FILE.line(at, symbol)), found
    assert found.traceback.startswith(f"line {found.line}: ")


@pytest.mark.parametrize(("symbol", "at", "message"), [
    ("too_many_threads", "k<<<", "the launch fails: a block has 1 to 1024 threads, this one has 2048"),
    ("no_blocks", "", "the launch fails: a grid has at least one block, this one is 0 x 1 x 1"),
    ("too_many_along_y", "", "the launch fails: a grid has at most 2147483647 blocks along x and 65535 along y and z, "
                             "this one is 1 x 70000 x 1"),
    ("too_deep", "", "the launch fails: a block has at most 64 threads along z, this one has 128"),
    ("beyond_bounds", "", "the launch fails: __launch_bounds__ of this kernel allows blocks of 64 threads, this "
                          "one has 128"),
    ("too_much_shared", "", "the launch fails: a block has 49152 bytes of shared memory unless cudaFuncSetAttribute "
                            "asks for more, this one takes 60000"),
    ("asks_too_much", "cudaFunc", "cudaFuncSetAttribute: a block has at most 232448 bytes of shared memory, 300000 are "
                                  "asked for"),
    ("checked", "k<<<", "the launch fails: a block has 1 to 1024 threads, this one has 2048"),
    ("exits", "", "host code ends its process: exit(3)"),
    ("aborts", "", "host code ends its process: abort()"),
    ("draws_lots", "k<<<", "host code asks the GPU for something else each time it is called, with the same arguments"),
    ("copies_lots", "cudaMemcpy",
     "host code copies something else to the GPU each time it is called, with the same arguments"),
    ("asserts", "", "an assertion of host code fails"),
    ("throws", "", "host code throws: not today"),
    ("out_of_range", "", "host code throws: vector::_M_range_check: __n (which is 100) >= this->size() (which is 1)"),
    ("crashes", "*p = 1", "host code crashes: it accesses memory that is not there (SEGV)"),
    ("divides", "", "host code crashes: it divides a whole number by zero (FPE)"),
    ("recurses", "", "host code crashes: it accesses memory that is not there (SEGV)"),
    ("used_after_free", "", "the launch gives k memory that was freed before"),
    ("from_the_host", "", "cudaMemcpy: its source `x` lies in GPU memory already, and this copy reads from the host's: "
                          "give it to the kernel as it is"),
    ("past_symbol", "", "cudaMemcpyToSymbol: the variable has 4 bytes, and 8 are copied to byte 0 of it"),
    ("short_pitch", "", "cudaMemset2D: the pitch is less than the width of 4 bytes"),
    ("no_such_device", "", "there is one GPU, number 0; this asks for number 1"),
    ("in_a_thread", "", "the launch fails: a block has 1 to 1024 threads, this one has 2048"),
])  # fmt: skip
def test_host_code_fails_where_a_gpus_would(symbol: str, at: str, message: str) -> None:
    found = FILE.plan(symbol)
    assert isinstance(found, Failed), found
    assert (found.failure, found.message, found.line) == ("exception", message, FILE.line(at, symbol))


def test_a_signal_does_to_host_code_what_it_does_outside() -> None:
    for symbol, message in (("kills_itself", "raise(SIGKILL)"), ("kills_its_group", "kill(SIGTERM)")):
        found = FILE.plan(symbol)
        assert isinstance(found, Failed) and found.message == f"host code ends its process: {message}", found
    assert isinstance(FILE.plan("asks_after_another"), Plan)


def test_a_deeper_stack_is_not_supported() -> None:
    found = FILE.plan("deepens_the_stack")
    assert isinstance(found, Failed), found
    assert (found.failure, found.line) == ("unsupported", FILE.line("cudaLimitStackSize, 16384"))
    assert found.message.startswith("this asks for a stack of 16384 bytes, and each thread has 1024 here")


def test_a_kernel_that_cannot_be_planned_fails_where_it_is_launched() -> None:
    found = FILE.plan("launches_what_is_unplanned")
    assert isinstance(found, Failed), found
    assert (found.failure, found.line) == ("unsupported", FILE.line("void takes_memory"))
    assert found.message.startswith("This kernel calls malloc (or new)")
    assert isinstance(FILE.plan("leaves_it_out"), Plan)


@pytest.mark.parametrize(("symbol", "failure", "seconds"), [
    ("forever", "time_out", 5), ("too_much_memory", "out_of_memory", 20), ("without_end", "too_large", 20)])
def test_host_code_is_bounded(symbol: str, failure: str, seconds: float) -> None:
    found = FILE.plan(symbol, seconds=seconds)
    assert isinstance(found, Failed), found
    assert found.failure == failure and found.line - FILE.line("", symbol) in (0, 1)


def test_a_planner_goes_on_after_host_code_that_failed() -> None:
    source = "extern \"C\" void silu(float *x, float *y, int n) { if (n == 1) *(volatile int *)0 = 1; }"
    made = build(source, "silu", elementwise(1))
    assert isinstance(made, bytes)
    first, second = plan(made, elementwise(1), elementwise(2))
    assert isinstance(first, Failed) and isinstance(second, Plan) and not second.first


@pytest.mark.parametrize(("body", "attempted"), [
    ("\n    // not written yet: silu\n", False), ("\n    // silu: not written yet\n    int blocks = n / 256;\n", False),
    ("\n    // not written yet: silu\n    k<<<1, 256>>>(x, y, n);\n", True), ("\n", True),
    ("\n    // not written yet: gelu\n", True),
])  # fmt: skip
def test_a_stub_that_asks_for_nothing_is_not_attempted(body: str, attempted: bool) -> None:
    source = f"__global__ void k(const float *x, float *y, int n) {{}}\nvoid silu(float *x, float *y, int n) {{{body}}}"
    made = build(source, "silu", elementwise(100))
    assert isinstance(made, bytes), made
    (found,) = plan(made, elementwise(100), text=source)
    if attempted:
        assert isinstance(found, Plan), found
    else:
        assert isinstance(found, Failed), found
        assert (found.failure, found.line) == ("not_attempted", 3)
