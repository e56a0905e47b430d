"""Host code that cannot be planned, and what its author is told."""

import pytest

from grader.plan.messages import Failed, Refused
from grader.plan.plan import Plan
from tests.languages.cuda.compiling import needs_nvcc
from tests.languages.cuda.planner.harness import File, build, elementwise, plan
from tests.rows import beside

DATA = beside(__file__)
pytestmark = needs_nvcc

FILE = File("refusals", "copies", elementwise(100))


@pytest.mark.parametrize(("symbol", "why", "operator", "at"), DATA["refused"])
def test_host_code_is_refused_what_makes_numbers(symbol: str, why: str, operator: str, at: str) -> None:
    found = FILE.plan(symbol)
    assert isinstance(found, Refused), found
    assert (found.why, found.operator, found.line) == (why, operator, FILE.line(at, symbol)), found
    assert found.traceback.startswith(f"line {found.line}: ")


@pytest.mark.parametrize(("symbol", "at", "message"), DATA["fails"])
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
