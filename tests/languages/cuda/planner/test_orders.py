"""Host inputs may be read in any order: pages of tokens are filled as host code touches them."""

from __future__ import annotations

import pytest

from grader.judging.plans.rules import check
from grader.plan.messages import Failed, Given
from grader.plan.plan import Copy, Plan
from tests.languages.cuda.compiling import needs_nvcc
from tests.languages.cuda.planner.harness import DEVICE, build, column, plan, size, tensor, with_function

SOURCE = """#include <cuda_runtime.h>
#include <sys/mman.h>
#include <algorithm>
#include <numeric>
#include <random>
#include <thread>
#include <vector>
#define PAGE 4096ul
#define GATHER(name, ...) void name(float *h_A, float *d_A, int rows, int cols) { \\
    std::vector<float> v(rows); \\
    auto read = [&](int i) { v[i] = h_A[(size_t)i * cols]; }; \\
    __VA_ARGS__; \\
    cudaMemcpy(d_A, v.data(), rows * sizeof(float), cudaMemcpyHostToDevice); }
#define APPEND(name, ...) void name(float *h_A, float *d_A, int rows, int cols) { \\
    std::vector<float> v; \\
    auto take = [&](size_t at) { v.push_back(h_A[at]); }; \\
    __VA_ARGS__; \\
    cudaMemcpy(d_A, v.data(), rows * sizeof(float), cudaMemcpyHostToDevice); }

static void in_any_order(int rows, void (*read)(int, void *), void *with) {
    std::vector<int> order(rows);
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(order.begin(), order.end(), std::mt19937(7));
    for (int i : order) read(i, with);
}
// Takes all mappings that Linux gives a process, and gives some back.
static void take_mappings(int back) {
    char *m = (char *)mmap(0, 140000 * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    for (long i = 0; i < 70000 && !mprotect(m + 2 * i * PAGE, PAGE, PROT_READ); i++) continue;
    if (back) munmap(m + PAGE, back * PAGE);
}
extern "C" {
GATHER(up, for (int i = 0; i < rows; i++) read(i))
GATHER(down, for (int i = rows; i--;) read(i))
GATHER(twice_down, for (int i = rows; i--;) read(i); for (int i = rows; i--;) read(i))
GATHER(down_and_up, for (int i = rows; i--;) read(i); for (int i = 0; i < rows; i++) read(i))
GATHER(both_ends, for (int i = 0; i < rows; i++) read(i % 2 ? rows - 1 - i / 2 : i / 2))
GATHER(odd_rows_down, for (int odd = 2; odd--;) for (int i = (rows - 1 - odd) / 2; i >= 0; i--) read(2 * i + odd))
GATHER(sevenths_down, for (int j = 0; j < 7; j++) for (int i = rows - 1 - j; i >= 0; i -= 7) read(i))
GATHER(blocks_down, for (int b = (rows + 63) / 64; b--;)
       for (int i = 64 * b; i < std::min(rows, 64 * b + 64); i++) read(i))
GATHER(any_order, in_any_order(rows, [](int i, void *of) { (*(decltype(read) *)of)(i); }, &read))
GATHER(by_threads, std::vector<std::thread> all;
       for (int t = 0; t < 2; t++) all.emplace_back([&, t] { for (int i = rows - 1 - t; i >= 0; i -= 2) read(i); });
       for (auto &one : all) one.join())
GATHER(few_mappings, take_mappings(60);
       in_any_order(rows, [](int i, void *of) { (*(decltype(read) *)of)(i); }, &read))
GATHER(no_mappings, take_mappings(0); read(0))
APPEND(reversed, for (int i = rows; i--;) take((size_t)i * cols))
APPEND(pairs_reversed, for (int i = rows / 2; i--;) take((size_t)2 * i * cols), take((size_t)2 * i * cols + 1))
APPEND(turned_pairs, for (int i = 0; i < rows / 3; i++) for (int j = 3; j--;) take((size_t)i * cols + j))
void two_vectors(float *h_x, float *h_y, float *out, int n) {
    std::vector<float> v(2 * n);
    for (int i = n; i--;) v[i] = h_x[i], v[n + i] = h_y[i];
    cudaMemcpy(out, v.data(), 2 * n * sizeof(float), cudaMemcpyHostToDevice);
}
}
"""
ORDERS = ["up", "down", "twice_down", "down_and_up", "both_ends", "odd_rows_down", "sevenths_down", "blocks_down",
          "any_order", "by_threads"]  # fmt: skip
# Rows of bytes, of less than a page, of a page, of pages.
SHAPES = [(4099, 8), (64, 64), (31, 1031), (300, 1024), (300, 8192)]


@pytest.fixture(scope="module")
def built() -> bytes:
    made = build(SOURCE, "up", column(*SHAPES[0]))
    assert isinstance(made, bytes), made
    return made


@needs_nvcc
@pytest.mark.parametrize("order", ORDERS)
def test_rows_may_be_read_in_any_order(built: bytes, order: str) -> None:
    found = plan(with_function(built, order), *(column(*shape) for shape in SHAPES), copies=True)
    for (rows, cols), one in zip(SHAPES, found, strict=True):
        assert isinstance(one, Plan), (rows, cols, one)
        gather, copy = one.first
        assert isinstance(gather, Copy) and isinstance(copy, Copy)
        assert (gather.source.offset, gather.source.shape, gather.source.strides) == (0, [rows], [cols])
        assert gather.target.buffer == copy.source.buffer and not gather.backwards


@needs_nvcc
def test_two_host_vectors_may_be_read_side_by_side() -> None:
    n = 100_000
    given: list[Given] = [
        tensor("x", n, place="host"), tensor("y", n, place="host"), tensor("out", 2 * n, output=True), size("n", n)]
    made = build(SOURCE, "two_vectors", given)
    assert isinstance(made, bytes), made
    (found,) = plan(made, given, copies=True)
    assert isinstance(found, Plan), found
    assert [(one.source.buffer, one.source.shape) for one in found.first if isinstance(one, Copy)] == [
        (0, [n]), (1, [n]), (3, [2 * n])]


@needs_nvcc
def test_pages_are_taken_away_where_no_mapping_is_left(built: bytes) -> None:
    (found,) = plan(with_function(built, "few_mappings"), column(300, 8192), copies=True)
    assert isinstance(found, Plan) and len(found.first) == 2, found
    (none,) = plan(with_function(built, "no_mappings"), column(300, 8192), copies=True)
    assert isinstance(none, Failed)
    assert (none.failure, none.message) == (
        "out_of_memory", "host code has taken so much memory that none is left to read `matrix` in")


@needs_nvcc
@pytest.mark.parametrize(("symbol", "rows", "shape", "strides", "backwards"), [
    ("reversed", 200_003, [200_003], [8], [0]),
    ("pairs_reversed", 1000, [500, 2], [16, 1], [0]),
    ("turned_pairs", 300, [100, 3], [8, 1], [1]),
    ("reversed", 2, [1], [0], []),
])  # fmt: skip
def test_a_gather_backwards_is_one_copy(
    built: bytes, symbol: str, rows: int, shape: list[int], strides: list[int], backwards: list[int]
) -> None:
    (found,) = plan(with_function(built, symbol), column(rows, 8), copies=True)
    assert isinstance(found, Plan), found
    gather = found.first[0]
    assert isinstance(gather, Copy)
    assert (gather.source.shape, gather.source.strides, gather.backwards) == (shape, strides, backwards)
    assert gather.source.offset == (0 if rows > 2 else 32)
    assert not check(found, column(rows, 8), device=DEVICE, copies=True)
