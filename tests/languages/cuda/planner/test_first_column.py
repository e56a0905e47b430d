"""Plans of host code that reads a host input: what it gathers becomes copies, and it may do nothing else with it."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from grader.judging.plans.rules import check
from grader.languages.cuda.confined.planner.tokens import TokenSource
from grader.plan.messages import Failed, Refused
from grader.plan.plan import Copy, Fill, Launch, Operation, Plan
from tests.languages.cuda.compiling import needs_nvcc
from tests.languages.cuda.planner.harness import DEVICE, build, column, plan, with_function

ROWS, COLS = 96, 2048

SOURCE = """#include <cuda_runtime.h>
#include <sys/random.h>
#include <cstring>
#include <thread>
#include <vector>
__global__ void first(const float *h, float *d, int rows, int cols) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < rows) d[i] = h[(size_t)i * cols];
}
#define TO_DEVICE cudaMemcpyHostToDevice
extern "C" {
void rows_at_once(float *h_A, float *d_A, int rows, int cols) {
    cudaMemcpy2D(d_A, 4, h_A, cols * sizeof(float), 4, rows, TO_DEVICE);
}
void vector(float *h_A, float *d_A, int rows, int cols) {
    std::vector<float> v(rows);
    for (int i = 0; i < rows; i++) v[i] = h_A[(size_t)i * cols];
    cudaMemcpy(d_A, v.data(), rows * sizeof(float), TO_DEVICE);
}
void in_chunks(float *h_A, float *d_A, int rows, int cols) {
    std::vector<float> v(rows);
    for (int i = 0; i < rows; i++) v[i] = h_A[(size_t)i * cols];
    for (int i = 0; i < rows; i += 32) cudaMemcpyAsync(d_A + i, &v[i], 32 * sizeof(float), TO_DEVICE);
}
void one_by_one(float *h_A, float *d_A, int rows, int cols) {
    for (int i = 0; i < rows; i++) cudaMemcpy(d_A + i, h_A + (size_t)i * cols, sizeof(float), TO_DEVICE);
}
void by_a_variable(float *h_A, float *d_A, int rows, int cols) {
    for (int i = 0; i < rows; i++) {
        float v = h_A[(size_t)i * cols];
        cudaMemcpy(d_A + i, &v, sizeof v, TO_DEVICE);
    }
}
void pinned(float *h_A, float *d_A, int rows, int cols) {
    float *p;
    cudaMallocHost(&p, rows * sizeof(float));
    for (int i = 0; i < rows; i++) p[i] = h_A[(size_t)i * cols];
    cudaMemcpyAsync(d_A, p, rows * sizeof(float), TO_DEVICE);
    cudaDeviceSynchronize();
    cudaFreeHost(p);
}
void pinned_kept(float *h_A, float *d_A, int rows, int cols) {
    static float *p = nullptr;
    if (!p) cudaHostAlloc(&p, rows * sizeof(float), cudaHostAllocMapped);
    for (int i = 0; i < rows; i++) p[i] = h_A[(size_t)i * cols];
    float *on_device;
    cudaHostGetDevicePointer(&on_device, p, 0);
    first<<<1, 1024>>>(on_device, d_A, rows, 1);
}
void whole(float *h_A, float *d_A, int rows, int cols) {
    float *m;
    cudaMalloc(&m, (size_t)rows * cols * sizeof(float));
    cudaMemcpy(m, h_A, (size_t)rows * cols * sizeof(float), TO_DEVICE);
    first<<<1, 1024>>>(m, d_A, rows, cols);
    cudaFree(m);
}
void whole_by_the_host(float *h_A, float *d_A, int rows, int cols) {
    size_t bytes = (size_t)rows * cols * sizeof(float);
    std::vector<float> v(rows * cols);
    std::memcpy(v.data(), h_A, bytes);
    float *m;
    cudaMalloc(&m, bytes);
    cudaMemcpy(m, v.data(), bytes, TO_DEVICE);
    first<<<1, 1024>>>(m, d_A, rows, cols);
}
void by_threads(float *h_A, float *d_A, int rows, int cols) {
    std::vector<float> v(rows);
    std::vector<std::thread> all;
    for (int t = 0; t < 4; t++)
        all.emplace_back([&, t] { for (int i = t; i < rows; i += 4) v[i] = h_A[(size_t)i * cols]; });
    for (auto &one : all) one.join();
    cudaMemcpy(d_A, v.data(), rows * sizeof(float), TO_DEVICE);
}
void two_columns(float *h_A, float *d_A, int rows, int cols) {
    std::vector<float> v(2 * rows);
    for (int i = 0; i < rows; i++) v[2 * i] = h_A[(size_t)i * cols], v[2 * i + 1] = h_A[(size_t)i * cols + 1];
    float *m;
    cudaMalloc(&m, 2 * rows * sizeof(float));
    cudaMemcpy(m, v.data(), 2 * rows * sizeof(float), TO_DEVICE);
    first<<<1, 1024>>>(m, d_A, rows, 2);
}
void in_walks(float *h_A, float *d_A, int rows, int cols) {
    std::vector<float> v(3 * rows);
    for (int walk = 0; walk < 3; walk++)
        for (int i = 0; i < rows; i++) v[walk * rows + i] = h_A[(size_t)i * cols + walk % 2 * 1024];
    float *m;
    cudaMalloc(&m, 3 * rows * sizeof(float));
    cudaMemcpy(m, v.data(), 3 * rows * sizeof(float), TO_DEVICE);
    first<<<1, 1024>>>(m, d_A, rows, 1);
}
void half_constant(float *h_A, float *d_A, int rows, int cols) {
    std::vector<float> v(rows, 1.0f);
    for (int i = 0; i < rows / 2; i++) v[i] = h_A[(size_t)i * cols];
    cudaMemcpy(d_A, v.data(), rows * sizeof(float), TO_DEVICE);
}
void backwards(float *h_A, float *d_A, int rows, int cols) {
    std::vector<float> v(rows);
    for (int i = 0; i < rows; i++) v[i] = h_A[(size_t)(rows - 1 - i) * cols];
    cudaMemcpy(d_A, v.data(), rows * sizeof(float), TO_DEVICE);
}
void to_a_kernel(float *h_A, float *d_A, int rows, int cols) { first<<<1, 1024>>>(h_A, d_A, rows, cols); }
void vector_to_a_kernel(float *h_A, float *d_A, int rows, int cols) {
    std::vector<float> v(rows);
    first<<<1, 1024>>>(v.data(), d_A, rows, 1);
}
void whole_pinned(float *h_A, float *d_A, int rows, int cols) {
    size_t bytes = (size_t)rows * cols * sizeof(float);
    float *p;
    cudaMallocHost(&p, bytes);
    std::memcpy(p, h_A, bytes);
    cudaMemcpy2D(d_A, 4, p, cols * sizeof(float), 4, rows, TO_DEVICE);
    cudaFreeHost(p);
}
void wide(float *h_A, float *d_A, int rows, int cols) {
    std::vector<float> v(40 * rows);
    for (int i = 0; i < rows; i++) std::memcpy(&v[40 * i], h_A + (size_t)i * cols, 160);
    float *m;
    cudaMalloc(&m, 160 * rows);
    cudaMemcpy(m, v.data(), 160 * rows, TO_DEVICE);
    first<<<1, 1024>>>(m, d_A, rows, 40);
}
void past_the_end(float *h_A, float *d_A, int rows, int cols) {
    cudaMemcpy(d_A, h_A, (rows + 4) * sizeof(float), TO_DEVICE);
}

void reads_past(float *h_A, float *d_A, int rows, int cols) {
    std::vector<float> v(rows);
    for (int i = 0; i < rows; i++) v[i] = h_A[(size_t)rows * cols - 3 + i];
    cudaMemcpy(d_A, v.data(), rows * sizeof(float), TO_DEVICE);
}
void reads_far_past(float *h_A, float *d_A, int rows, int cols) {
    float v = h_A[(size_t)rows * cols + 5000];
    cudaMemcpy(d_A, &v, sizeof v, TO_DEVICE);
}
void elements_for_bytes(float *h_A, float *d_A, int rows, int cols) {
    std::vector<float> v(rows);
    for (int i = 0; i < rows; i++) v[i] = h_A[(size_t)i * cols];
    cudaMemcpy(d_A, v.data(), rows, TO_DEVICE);
}
void elements_from_the_input(float *h_A, float *d_A, int rows, int cols) { cudaMemcpy(d_A, h_A, rows, TO_DEVICE); }
void more_than_it_holds(float *h_A, float *d_A, int rows, int cols) {
    std::vector<float> v(rows);
    for (int i = 0; i < rows; i++) v[i] = h_A[(size_t)i * cols];
    cudaMemcpy(d_A + 2, v.data(), (size_t)rows * cols * sizeof(float), TO_DEVICE);
}
void pinned_too_small(float *h_A, float *d_A, int rows, int cols) {
    float *p;
    cudaMallocHost(&p, rows);
    for (int i = 0; i < rows; i++) p[i] = h_A[(size_t)i * cols];
    cudaMemcpy(d_A, p, rows * sizeof(float), TO_DEVICE);
}
void pinned_far_too_small(float *h_A, float *d_A, int rows, int cols) {
    float *p;
    cudaMallocHost(&p, 16);
    for (int i = 0; i < 100 * rows; i++) p[i] = 1;
}

void computes(float *h_A, float *d_A, int rows, int cols) {
    std::vector<float> v(rows);
    for (int i = 0; i < rows; i++) v[i] = h_A[(size_t)i * cols] + 1;
    cudaMemcpy(d_A, v.data(), rows * sizeof(float), TO_DEVICE);
}
void negates(float *h_A, float *d_A, int rows, int cols) {
    float v = -h_A[0];
    cudaMemcpy(d_A, &v, sizeof v, TO_DEVICE);
}
void branches(float *h_A, float *d_A, int rows, int cols) {
    int positive = 0;
    for (int i = 0; i < rows; i++) positive += h_A[(size_t)i * cols] > 0;
    if (positive % 2) cudaMemset(d_A, 0, 4); else cudaMemset(d_A, 1, 8);
}
void draws_lots(float *h_A, float *d_A, int rows, int cols) {
    unsigned lot;
    getrandom(&lot, sizeof lot, 0);
    cudaMemset(d_A, 0, lot % 1000);
}
void sizes_by_values(float *h_A, float *d_A, int rows, int cols) {
    first<<<1, 1 + (int)(h_A[0] * h_A[0] * 1e6f) % 1000>>>(d_A, d_A, rows, cols);
}
void passes_a_value(float *h_A, float *d_A, int rows, int cols) {
    first<<<1, 1>>>(d_A, d_A, (int)(h_A[1] * 1e6f), cols);
}
void writes(float *h_A, float *d_A, int rows, int cols) {
    h_A[3] = 0;
    one_by_one(h_A, d_A, rows, cols);
}
void registers(float *h_A, float *d_A, int rows, int cols) {
    cudaHostRegister(h_A, rows * cols * sizeof(float), cudaHostRegisterDefault);
}
void back(float *h_A, float *d_A, int rows, int cols) {
    cudaMemcpy(h_A, d_A, rows * sizeof(float), cudaMemcpyDeviceToHost);
}
void wrong_way(float *h_A, float *d_A, int rows, int cols) {
    cudaMemcpy(d_A, h_A, rows * sizeof(float), cudaMemcpyDeviceToDevice);
}
void reads_the_output(float *h_A, float *d_A, int rows, int cols) {
    for (int i = 0; i < rows; i++) d_A[i] = h_A[(size_t)i * cols];
}
}
"""


@pytest.fixture(scope="module")
def built() -> bytes:
    made = build(SOURCE, "vector", column(ROWS, COLS))
    assert isinstance(made, bytes), made
    return made


def outcome(built: bytes, symbol: str, rows: int = ROWS, cols: int = COLS) -> Plan | Refused | Failed:
    (found,) = plan(with_function(built, symbol), column(rows, cols), copies=True)
    assert isinstance(found, Plan | Refused | Failed)
    return found


def told(operations: Sequence[Operation]) -> list[str]:
    """Copies as `0+4[96:2048] -> 2`: buffers, offsets in bytes, extents and strides in elements; others as words."""

    def view(one: Copy, which: str) -> str:
        of = one.source if which == "source" else one.target
        sizes = ",".join(f"{size}:{stride}" for size, stride in zip(of.shape, of.strides, strict=True))
        return f"{of.buffer}{f'+{of.offset}' if of.offset else ''}[{sizes}]"

    return [f"{view(one, 'source')} -> {view(one, 'target')}" if isinstance(one, Copy) else one.op
            for one in operations]


STAGED = [f"0[{ROWS}:{COLS}] -> 2[{ROWS}:1]", f"2[{ROWS}:1] -> 1[{ROWS}:1]"]


@needs_nvcc
@pytest.mark.parametrize(("symbol", "expected"), [
    ("rows_at_once", [f"0[{ROWS}:{COLS},1:1] -> 1[{ROWS}:1,1:1]"]),
    ("vector", STAGED),
    ("by_threads", STAGED),
    ("pinned", STAGED),
    ("in_chunks", [line for part in range(3) for line in (
        f"0{f'+{part * 32 * COLS * 4}' if part else ''}[32:{COLS}] -> 2{f'+{part * 128}' if part else ''}[32:1]",
        f"2{f'+{part * 128}' if part else ''}[32:1] -> 1{f'+{part * 128}' if part else ''}[32:1]")]),
    ("pinned_kept", [STAGED[0], "launch"]),
    ("whole", [f"0[{ROWS * COLS}:1] -> 2[{ROWS * COLS}:1]", "launch"]),
    ("whole_by_the_host", [f"0[{ROWS * COLS}:1] -> 2[{ROWS * COLS}:1]",
                           f"2[{ROWS * COLS}:1] -> 3[{ROWS * COLS}:1]", "launch"]),
    ("two_columns", [f"0[{ROWS}:{COLS},2:1] -> 2[{ROWS}:2,2:1]", f"2[{2 * ROWS}:1] -> 3[{2 * ROWS}:1]", "launch"]),
    ("whole_pinned", [f"0[{ROWS * COLS}:1] -> 2[{ROWS * COLS}:1]", f"2[{ROWS}:{COLS},1:1] -> 1[{ROWS}:1,1:1]"]),
    ("wide", [f"0[{ROWS}:{COLS},40:1] -> 2[{ROWS}:40,40:1]", f"2[{40 * ROWS}:1] -> 3[{40 * ROWS}:1]", "launch"]),
    ("half_constant", [f"0[{ROWS // 2}:{COLS}] -> 2[{ROWS // 2}:1]", "fill", STAGED[1]]),
])  # fmt: skip
def test_what_is_gathered_becomes_copies(built: bytes, symbol: str, expected: list[str]) -> None:
    found = outcome(built, symbol)
    assert isinstance(found, Plan), found
    assert told(found.first) == expected
    assert not check(found, column(ROWS, COLS), device=DEVICE, copies=True)


@needs_nvcc
def test_walks_meet_what_lies_between_the_pages_of_others(built: bytes) -> None:
    found = outcome(built, "in_walks", 300, 8192)
    assert isinstance(found, Plan), found
    assert told(found.first) == [
        "0[2:1024,300:8192] -> 2[2:300,300:1]", "0[300:8192] -> 2+2400[300:1]", "2[900:1] -> 3[900:1]", "launch"]


@needs_nvcc
@pytest.mark.parametrize(("symbol", "place"), [("vector", "host"), ("pinned", "pinned"), ("whole", "device")])
def test_memory_in_between_is_where_the_student_put_it(built: bytes, symbol: str, place: str) -> None:
    found = outcome(built, symbol)
    assert isinstance(found, Plan) and found.buffers[2].place == place


@needs_nvcc
def test_pieces_in_a_loop_stay_pieces(built: bytes) -> None:
    found = outcome(built, "one_by_one")
    assert isinstance(found, Plan) and len(found.first) == ROWS
    assert told(found.first)[1] == f"0+{4 * COLS}[1:1] -> 1+4[1:1]"
    through = outcome(built, "by_a_variable")
    assert isinstance(through, Plan) and len(through.first) == 2 * ROWS and len(through.buffers) == 3


@needs_nvcc
def test_pieces_beyond_a_plan_are_copied_together(built: bytes) -> None:
    found = outcome(built, "one_by_one", 20_000, 3)
    assert isinstance(found, Plan)
    assert told(found.first) == ["0[20000:3,1:1] -> 1[20000:1,1:1]"]
    assert not check(found, column(20_000, 3), device=DEVICE, copies=True)


@needs_nvcc
def test_a_gather_backwards_is_one_copy(built: bytes) -> None:
    found = outcome(built, "backwards", 5, 4)
    assert isinstance(found, Plan)
    assert told(found.first) == ["0[5:4] -> 2[5:1]", "2[5:1] -> 1[5:1]"]
    assert [one.backwards for one in found.first if isinstance(one, Copy)] == [[0], []]


@needs_nvcc
def test_a_second_call_has_numbers_of_its_own(built: bytes) -> None:
    found = outcome(built, "pinned_kept")
    assert isinstance(found, Plan) and found.steady is not None
    assert told(found.steady) == told(found.first) and not any(isinstance(one, Fill) for one in found.steady)


@needs_nvcc
@pytest.mark.parametrize(("symbol", "problem"), [
    ("to_a_kernel", "HostMemory"), ("vector_to_a_kernel", "HostMemory"), ("past_the_end", "BeyondBuffer")])
def test_what_a_gpu_cannot_do_is_the_judges_to_say(built: bytes, symbol: str, problem: str) -> None:
    found = outcome(built, symbol)
    assert isinstance(found, Plan), found
    (first, *_) = check(found, column(ROWS, COLS), device=DEVICE, copies=True)
    assert type(first).__name__ == problem
    assert any(isinstance(one, Launch | Copy) for one in found.first)


@needs_nvcc
@pytest.mark.parametrize(("symbol", "why", "operator", "line"), [
    ("computes", "arithmetic", "cudaMemcpy", "cudaMemcpy"),
    ("negates", "arithmetic", "cudaMemcpy", "cudaMemcpy"),
    ("branches", "truth", "if", "if (positive"),
    ("sizes_by_values", "truth", "if", "first<<<"),
    ("passes_a_value", "truth", "if", "first<<<"),
    ("writes", "input_written", "h_A", "h_A[3]"),
    ("registers", "option", "cudaHostRegister", "cudaHostRegister"),
    ("back", "read_values", "cudaMemcpy", "cudaMemcpy"),
    ("reads_the_output", "read_values", "d_A", "d_A[i]"),
])  # fmt: skip
def test_numbers_may_be_moved_alone(built: bytes, symbol: str, why: str, operator: str, line: str) -> None:
    found = outcome(built, symbol)
    assert isinstance(found, Refused), found
    assert (found.why, found.operator) == (why, operator), found
    begin = SOURCE.index(line, SOURCE.index(f"void {symbol}("))
    assert found.line == SOURCE.count("\n", 0, begin) + 1, found
    assert found.traceback.startswith(f"line {found.line}: ")


@needs_nvcc
def test_what_differs_by_chance_is_not_called_a_value(built: bytes) -> None:
    found = outcome(built, "draws_lots")
    assert isinstance(found, Failed), found
    assert (found.failure, found.message) == (
        "exception", "host code asks the GPU for something else each time it is called, with the same arguments")


@needs_nvcc
def test_a_copy_in_the_wrong_direction_says_where_memory_is(built: bytes) -> None:
    found = outcome(built, "wrong_way")
    assert isinstance(found, Failed)
    assert (found.failure, found.message) == (
        "exception", "cudaMemcpy: its source `h_A` is host memory, and this copy reads from the GPU's")


@needs_nvcc
@pytest.mark.parametrize(("symbol", "rows", "at", "message"), [
    ("reads_past", 5, "cudaMemcpy", "host code reads past the end of `h_A`, which has 60 bytes"),
    ("reads_far_past", 5, "float v", "host code reads past the end of `h_A`, which has 60 bytes"),
    ("elements_for_bytes", 5, "cudaMemcpy", "host code copies 5 bytes, which ends within an element of 4 bytes"),
    ("elements_from_the_input", 5, "cudaMemcpy",
     "cudaMemcpy copies 5 bytes of `h_A` and ends within an element of 4 bytes"),
    ("more_than_it_holds", 5, "cudaMemcpy", "cudaMemcpy copies 60 bytes to where `d_A` has 12 left"),
    ("pinned_too_small", 5, "cudaMemcpy", "host code writes past the end of pinned memory, which has 5 bytes"),
    ("pinned_far_too_small", 96, "for (", "host code writes past the end of pinned memory, which has 16 bytes"),
])  # fmt: skip
def test_mistakes_with_sizes_break_no_rule(built: bytes, symbol: str, rows: int, at: str, message: str) -> None:
    found = outcome(built, symbol, rows, 3)
    assert isinstance(found, Failed), found
    begin = SOURCE.index(at, SOURCE.index(f"void {symbol}("))
    assert (found.failure, found.message, found.line) == ("exception", message, SOURCE.count("\n", 0, begin) + 1)


@pytest.mark.parametrize("size", [4, 1 << 20, 1 << 29, (1 << 31) + 4])
def test_a_token_tells_its_place(size: int) -> None:
    numpy = pytest.importorskip("numpy")
    source = TokenSource(0, 0, 0, size)
    words = numpy.array([0x3F800000, 0x7FC00000, 0, 0xFFFFFFFF], numpy.uint32)
    places = source.places(words, 1232)
    assert (places[1:] == -1).all()
    assert -1 <= places[0] < max(size // 4, 1024)
