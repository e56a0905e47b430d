"""Plans of calls that come after one with other sizes: what that has left behind is theirs."""

from __future__ import annotations

import pytest

from grader.judging.plans.rules import check
from grader.languages.cuda.confined.planner.memories import Memories, TakenMemory
from grader.plan.messages import Failed
from grader.plan.plan import Plan
from tests.languages.cuda.compiling import needs_nvcc
from tests.languages.cuda.planner.harness import DEVICE, build, column, elementwise, plan, with_function

pytestmark = needs_nvcc
SMALL, LARGE = 7, 1000

SOURCE = """#include <cuda_runtime.h>
#include <map>
#include <vector>
__device__ float table[4];
__global__ void scale(const float *x, float *y, int n) { if (threadIdx.x < n) y[threadIdx.x] = x[threadIdx.x]; }
__global__ void twice(float *x, float *y, int n) { if (threadIdx.x < n) y[threadIdx.x] = 2 * x[threadIdx.x]; }
__global__ void looked_up(const float *x, float *y, int n) {
    if (threadIdx.x < n) y[threadIdx.x] = table[threadIdx.x & 3] * x[threadIdx.x];
}
__global__ void zero(float *y) { y[0] = 0; }
extern "C" {
void of_the_first_call(float *x, float *y, int n) {
    static float *t = nullptr;
    if (!t)
        cudaMalloc(&t, n * sizeof(float));
    scale<<<1, 1024>>>(x, t, n);
    scale<<<1, 1024>>>(t, y, n);
}
void grows(float *x, float *y, int n) {
    static float *t = nullptr;
    static int room = 0;
    if (n > room) cudaFree(t), cudaMalloc(&t, n * sizeof(float)), room = n;
    scale<<<1, 1024>>>(x, t, n);
    scale<<<1, 1024>>>(t, y, n);
}
void by_size(float *x, float *y, int n) {
    static std::map<int, float *> all;
    if (!all[n]) cudaMalloc(&all[n], n * sizeof(float));
    scale<<<1, 1024>>>(x, all[n], n);
    scale<<<1, 1024>>>(all[n], y, n);
}
void large_enough(float *x, float *y, int n) {
    static float *t = nullptr, *u = nullptr;
    if (!t) cudaMalloc(&t, 1 << 20), cudaMalloc(&u, 1 << 20);
    scale<<<1, 1024>>>(x, t, n);
    twice<<<1, 1024>>>(t, u, n);
    scale<<<1, 1024>>>(u, y, n);
}
void symbol_once(float *x, float *y, int n) {
    static bool done = false;
    const float four[] = {4, 3, 2, 1};
    if (!done) cudaMemcpyToSymbol(table, four, sizeof four);
    done = true;
    looked_up<<<1, 1024>>>(x, y, n);
}
void prepared_once(float *x, float *y, int n) {
    static float *t = nullptr;
    if (!t) {
        const float four[] = {4, 3, 2, 1};
        cudaMalloc(&t, 16);
        cudaMemcpy(t, four, sizeof four, cudaMemcpyHostToDevice);
        zero<<<1, 1>>>(t);
    }
    scale<<<1, 4>>>(t, y, 4);
}
void input_kept(float *x, float *y, int n) {
    static float *t = x;
    scale<<<1, 1024>>>(t, y, n);
}
void fails_when_small(float *x, float *y, int n) {
    scale<<<n / 100, 256>>>(x, y, n);
}
void nothing_kept(float *x, float *y, int n) {
    scale<<<1, 1024>>>(x, y, n);
}

void pinned_of_the_first_call(float *h_A, float *d_A, int rows, int cols) {
    static float *p = nullptr;
    if (!p) cudaMallocHost(&p, rows * sizeof(float));
    for (int i = 0; i < rows; i++)
        p[i] = h_A[(size_t)i * cols];
    cudaMemcpy(d_A, p, rows * sizeof(float), cudaMemcpyHostToDevice);
}
void pinned_large_enough(float *h_A, float *d_A, int rows, int cols) {
    static float *p = nullptr;
    if (!p) cudaMallocHost(&p, 1 << 20);
    for (int i = 0; i < rows; i++) p[i] = h_A[(size_t)i * cols];
    cudaMemcpy(d_A, p, rows * sizeof(float), cudaMemcpyHostToDevice);
}
void column_kept(float *h_A, float *d_A, int rows, int cols) {
    static std::vector<float> v;
    for (int i = v.size(); i < rows; i++) v.push_back(h_A[(size_t)i * cols]);
    cudaMemcpy(d_A, v.data(), rows * sizeof(float), cudaMemcpyHostToDevice);
}
}
"""


@pytest.fixture(scope="module")
def built() -> bytes:
    made = build(SOURCE, "nothing_kept", elementwise(SMALL))
    assert isinstance(made, bytes), made
    return made


@pytest.fixture(scope="module")
def built_for_columns() -> bytes:
    made = build(SOURCE, "column_kept", column(SMALL, 3))
    assert isinstance(made, bytes), made
    return made


def line_of(symbol: str, text: str) -> int:
    begin = SOURCE.index(text, SOURCE.index(f"void {symbol}("))
    return SOURCE.count("\n", 0, begin) + 1


@pytest.mark.parametrize(("symbol", "setup", "first", "kept"), [
    ("of_the_first_call", "", "launch launch", [4 * SMALL]),
    ("grows", "", "launch launch", []),
    ("by_size", "", "launch launch", []),
    ("large_enough", "", "launch launch launch", [1 << 20, 1 << 20]),
    ("symbol_once", "fill data", "launch", [16]),
    ("prepared_once", "data launch", "launch", [16]),
    # Of a call on its own: in an earlier one, it was given other memory.
    ("input_kept", "", "launch", []),
    ("nothing_kept", "", "launch", []),
    ("fails_when_small", "", "launch", []),
])  # fmt: skip
def test_memory_that_an_earlier_call_keeps(
    built: bytes, symbol: str, setup: str, first: str, kept: list[int]
) -> None:
    small, large = plan(with_function(built, symbol), elementwise(SMALL), elementwise(LARGE))
    assert isinstance(small, Failed if symbol == "fails_when_small" else Plan), small
    assert isinstance(large, Plan), large
    assert not check(large, elementwise(LARGE), device=DEVICE, copies=False)
    assert " ".join(one.op for one in large.setup) == setup
    assert " ".join(one.op for one in large.first) == first
    assert [one.bytes for one in large.buffers if one.kept] == kept


def test_kept_memory_has_the_line_that_took_it(built: bytes) -> None:
    _, found = plan(with_function(built, "of_the_first_call"), elementwise(SMALL), elementwise(LARGE))
    assert isinstance(found, Plan)
    (kept,) = (one for one in found.buffers if one.kept)
    assert kept.line == line_of("of_the_first_call", "cudaMalloc(")
    # The same sizes again: as if nothing had been before.
    _, found = plan(with_function(built, "of_the_first_call"), elementwise(SMALL), elementwise(SMALL))
    assert isinstance(found, Plan) and not any(one.kept for one in found.buffers)


def test_pinned_memory_of_a_smaller_call_is_too_small(built_for_columns: bytes) -> None:
    small, large = plan(with_function(built_for_columns, "pinned_of_the_first_call"), column(SMALL, 3),
                        column(LARGE, 3), copies=True)
    assert isinstance(small, Plan), small
    assert isinstance(large, Failed), large
    assert (large.failure, large.line) == ("exception", line_of("pinned_of_the_first_call", "cudaMemcpy"))
    assert large.message == (f"host code writes past the end of pinned memory, which has {4 * SMALL} bytes, after a "
                             "call with other sizes")


@pytest.mark.parametrize("symbol", ["pinned_large_enough", "column_kept"])
def test_what_host_code_keeps_of_inputs_is_planned_without_an_earlier_call(
    built_for_columns: bytes, symbol: str
) -> None:
    _, found = plan(with_function(built_for_columns, symbol), column(SMALL, 3), column(LARGE, 3), copies=True)
    (alone,) = plan(with_function(built_for_columns, symbol), column(LARGE, 3), copies=True)
    assert isinstance(found, Plan) and found == alone


def test_addresses_are_those_of_the_newest_memory_there() -> None:
    memories = Memories()
    for base, size in ((0x7000, 0x1000), (0x9000, 0x1000), (0x5000, 0x2800), (0xC000, 0)):
        memories.take(TakenMemory(len(memories.all), base, size, "host"))
    found = [memories.find(address) for address in (0x5000, 0x7000, 0x77FF, 0x7900, 0x9000, 0xC000)]
    assert [one and one.number for one in found] == [2, 2, 2, None, 1, 3]
