"""Host code that disturbs its planning: the planner answers, in time, and goes on."""

import time

import pytest

from grader.plan.messages import Failed
from grader.plan.plan import Launch, Plan
from tests.languages.cuda.compiling import needs_nvcc
from tests.languages.cuda.planner.harness import File, build, elementwise, plan

pytestmark = needs_nvcc

FILE = File("hostile", "launches", elementwise(100))


@pytest.mark.parametrize(("symbol", "answers"), [
    ("ends_early", (Failed,)), ("calls_more", (Failed, Plan)), ("takes_more", (Failed, Plan)),
    ("takes_unknown", (Failed,)), ("writes_everywhere", (Failed,)), ("forges_a_record", (Failed,)),
    ("forges_launches", (Failed,)), ("floods", (Failed,)), ("closes_all", (Failed,)), ("leaves_a_thread", (Plan,)),
    ("leaves_a_process", (Plan,)), ("ignores_signals", (Failed,)), ("catches_faults", (Failed,)),
    ("kills_itself", (Failed,)), ("leaves_silently", (Failed,)), ("leaves_a_loop", (Failed,)),
    ("maps_the_gpu", (Plan,)), ("takes_all_memory", (Failed,)), ("breaks_the_stack", (Failed, Plan)),
    ("breaks_the_heap", (Failed, Plan)), ("depends_on_chance", (Failed,)), ("copies_chance", (Failed,)),
])  # fmt: skip
def test_a_planner_answers_and_goes_on(symbol: str, answers: tuple[type, ...]) -> None:
    before = time.monotonic()
    # What ends by itself has time on a busy machine, though less than a process lives that it leaves.
    seconds = 2 if answers == (Failed,) else 5
    first, second = FILE.plans(symbol, elementwise(100), elementwise(7), seconds=seconds)
    assert isinstance(first, answers), first
    assert isinstance(second, answers), second
    assert time.monotonic() - before < 30


@pytest.mark.parametrize(("loading", "failure"), [
    ("for (;;) ;", "time_out"), ("exit(1);", "exception"), ("*(volatile int *)8 = 1;", "exception"),
    ("throw 1;", "exception")])
def test_what_a_file_does_while_it_is_loaded_counts(loading: str, failure: str) -> None:
    source = f"#include <cstdlib>\n__attribute__((constructor(101))) static void load() {{\n  {loading}\n}}\n"
    made = build(source + "void silu(float *x, float *y, int n) {}", "silu", elementwise(4))
    assert isinstance(made, bytes), made
    (found,) = plan(made, elementwise(4), seconds=1)
    assert isinstance(found, Failed), found
    # A loop without a body has the line of its function.
    assert found.failure == failure and found.line in (2, 3), found


def test_memory_that_loading_takes_is_kept() -> None:
    source = """__global__ void k(const float *x, float *y) { y[threadIdx.x] = x[threadIdx.x]; }
struct Scratch { float *at; Scratch() { cudaMalloc(&at, 64); cudaMemset(at, 0, 64); } ~Scratch() { cudaFree(at); } };
static Scratch scratch;
void silu(float *x, float *y, int n) { k<<<1, 16>>>(scratch.at, y); }"""
    made = build(source, "silu", elementwise(16))
    assert isinstance(made, bytes), made
    (found,) = plan(made, elementwise(16))
    assert isinstance(found, Plan), found
    assert [operation.op for operation in found.setup] == ["fill"] and found.steady == found.first
    assert isinstance(found.first[0], Launch) and found.buffers[2].kept and found.buffers[2].line == 2
