"""The error model of CUDA C++: which changes it finds, how near to the front, and that each makes another file."""

from __future__ import annotations

import time
from typing import get_args

import pytest

from grader.languages.cuda.confined.edits import LARGEST, edits_of
from grader.languages.cuda.confined.edits.matching import Body, Fix, drafts, found
from grader.languages.cuda.confined.edits.roles import ROLES, WORDS, is_, neither
from grader.languages.cuda.source import code_words
from grader.languages.drafts import edits_in_order
from grader.plan.edits import EditKind, edited
from tests.members import Member, select
from tests.rows import each_row

MEMBERS = [one for one in select("accepted", "wrong_answer", "runtime_error") if one.title.startswith("cuda_")]
TRIED = 30
"""Edits of a file that there is time for."""
SUM = """#include <cuda_runtime.h>
// Not 1 <= 2.
__global__ void sum_kernel(const float *x, float *y, int rows, int cols)
{
    __shared__ float parts[128];
    float sum = 0.0f;
    for (int i = threadIdx.x; i < cols; i += blockDim.x)
        sum += x[(size_t)blockIdx.x * cols + i];
    parts[threadIdx.x] = sum;
    __syncthreads();
    for (int s = 64; s > 0; s /= 2) {
        if (threadIdx.x < s)
            parts[threadIdx.x] += parts[threadIdx.x + s];
        __syncthreads();
    }
    if (threadIdx.x == 0)
        y[blockIdx.x] = sqrtf(parts[0] / cols);
}
void sums(float *x, float *y, int rows, int cols)
{
    sum_kernel<<<rows, 128>>>(x, y, rows, cols);
}
"""
TURN = """__global__ void turn(const float *in, float *out, int rows, int cols)
{
    int row = blockIdx.y * 16 + threadIdx.y, col = blockIdx.x * 16 + threadIdx.x;
    if (row < rows && col < cols)
        out[col * rows + row] = in[row * cols + col];
}
void transpose(float *in, float *out, int rows, int cols)
{
    dim3 threads(16, 16);
    dim3 blocks((cols + 15) / 16, (rows + 15) / 16);
    turn<<<blocks, threads>>>(in, out, rows, cols);
}
"""

WALK = """__global__ void walk(const float *in, float *out, int rows, int cols)
{
    float sum = 0.0f, most[2][2] = {0.0f};
    float parts[4];
    for (int i = 0; i < 4; ++i)
        parts[i] = 0;
    int row = 0;
    while (row < rows) { sum = 0.0f; // {
        for (int i = 0; i < cols; ++i) {
            sum += in[row * cols + i];
            parts[i % 4] = fmaf(sum, 2.0f, parts[i % 4]);
        }
        out[row] = sum + parts[0];
        row += 1;
    }
}
"""
PIECES = """__global__ void pieces(const half *in, float *out, int count)
{
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> a;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> c;
    wmma::fill_fragment(c, 0.0f);
    for (int piece = blockIdx.x; piece < count; piece += gridDim.x) { wmma::fill_fragment(c, 0.0f);
        wmma::load_matrix_sync(a, in + piece * 256, 16);
        wmma::mma_sync(c, a, a, c);
        wmma::store_matrix_sync(out + piece * 256, c, 16, wmma::mem_row_major);
    }
}
"""
LANES = """__device__ float of_warp(float value)
{
    for (int apart = 16; apart > 0; apart /= 2)
        value += __shfl_xor_sync(0xffffffff, value, apart);
    return value;
}
__global__ void squares(const float *x, float *total, int n)
{
    const int t = threadIdx.x, lane = t % 32, own = threadIdx.x & 31;
    float sum = 0.0f;
    for (int warp = (blockIdx.x * blockDim.x + t) / 32; warp * 32 < n; warp += gridDim.x * blockDim.x / 32)
        sum += x[min(warp * 32 + lane, n - 1)];
    sum = of_warp(sum);
    if (threadIdx.x % 32 == 0)
        atomicAdd(total, sum);
}
__global__ void rest(const float *x, float *total, int n)
{
    float sum = 0.0f;
    for (int i = blockIdx.x * THREADS + threadIdx.x; i < n; i += gridDim.x * THREADS)
        sum += x[i];
    total[blockIdx.x] = of_warp(sum);
}
void sums(float *x, float *total, int n)
{
    int threads = 32;
    while (threads < n && threads < 1024)
        threads *= 2;
    squares<<<1, threads>>>(x, total, n);
}
"""
STAGES = """__global__ void stages(const half *x, float *y, int n)
{
    __shared__ half tile[2][32][32];
    __shared__ __align__(32) half room[32 * LINE], turned[32][33];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    float most = -3.402823466e38f, use = 0;
    for (int first = 0; first < n; first += 1024) {
        tile[1 - use][warp][lane] = x[first + threadIdx.x];
        turned[warp][lane] = tile[use][lane][warp];
        use = 1 - use;
    }
    for (int left = 512; left >= 32; left >>= 1)
        if (threadIdx.x < left)
            room[threadIdx.x] += room[threadIdx.x + left];
    wmma::load_matrix_sync(a, room + 16 * warp * LINE, LINE);
    y[lane] = __shfl_sync(0xffffffff, fmaxf(most, turned[lane][warp]), 0);
}
void staged(const half *x, float *y, int n)
{
    stages<<<1, (min(n, 1024) + 31) / 32 * 32>>>(x, y, n);
}
"""
QUADS = """__global__ void quads_kernel(const float4 *x, float4 *y, int n)
{
    int quads = n / 4, i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < quads)
        y[i] = x[i];
    const float *last = (const float *)x + 4 * quads;
    if (i < n % 4)
        ((float *)y)[4 * quads + i] = last[i];
}
__global__ void fours(const float4 *x, float4 *y, int n)
{
    for (int i = threadIdx.x; i < n / 4; i += blockDim.x)
        y[i] = x[i];
}
__global__ void shares(const float *x, float *y, int n, int m)
{
    const int share = (n + gridDim.x - 1) / gridDim.x, begin = blockIdx.x * share;
    const size_t end = (begin + share < n ? begin + share : n);
    for (int i = begin; i < end; ++i)
        y[i] = x[i];
    for (size_t i = begin; i < min(n, begin + 7); ++i)
        y[i] = x[i];
}
"""
VECTORS = """__device__ float gate(float z)
{
    const float tail = expf(-fabsf(z));
    if (z < 0.0f)
        return (1.0f / (1.0f + tail)) * tail;
    return 1.0f / (1.0f + tail);
}
__global__ void vectors(const float4 *x, const float2 *y, float4 *out, int n)
{
    float most = 0.0f, sum = 0.0f;
    for (int i = threadIdx.x; i < n; ++i) {
        const float now = fmaxf(most, x[i].x);
        sum = sum * expf(most - now) + expf(x[i].x - now);
        most = now;
        const float4 a = x[i];
        float4 b;
        b.x = gate(a.x);
        b.z = a.z * gate(a.z);
        sum += a.x * a.x + a.y * a.y + a.z * a.z + a.w * a.w;
        sum += y->x * y->x + y->y * y->y;
        out[i] = b;
    }
}
"""
COUNTS = """#define WARP 32
#define HALF 0.5f
#define WARPS 8  // 1.0
__global__ void counts(const float *x, float *y, unsigned *drawn, int n)
{
    const int lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
    const int first = blockIdx.x * WARPS * blockDim.x * 4 + threadIdx.x;
    for (int k = 0; k < 4; ++k)
        y[first + k * blockDim.x] = HALF * x[first];
    y[n - 1 - lane] = x[warp];
    atomicInc(drawn + 1, (unsigned)WARPS - 1);
    const unsigned ticket = atomicAdd(drawn, 1u);
    if (ticket == gridDim.x - 1)
        y[0] = 0.0f;
}
void counted(const float *x, float *y, int n)
{
    float *own;
    const size_t bytes = n * sizeof(float);
    cudaMalloc((void **)&own, (n + 1) * sizeof(*own));
    cudaMemset(own + 1, 0, n * sizeof(*(own + 1)));
    cudaMemcpy(own, x, bytes, cudaMemcpyDefault);
}
"""


@each_row(("text", "right", "wrong", "line"), [
    (COUNTS, "x % WARP,", "x % WARPS,", 9), (COUNTS, "WARPS * blockDim", "WARP * blockDim", 7),
    (COUNTS, "k * blockDim.x", "k", 9), (COUNTS, "n - 1 - lane", "n - lane", 10),
    (COUNTS, "gridDim.x - 1", "gridDim.x", 10), (COUNTS, "(unsigned)WARPS - 1", "(unsigned)WARPS", 10),
    (COUNTS, "(n + 1) * sizeof(*own)", "n + 1", 10), (COUNTS, "n * sizeof(*(own + 1))", "n", 10),
    (SUM, "i < cols", "i <= cols", 7), (SUM, "s = 64", "s = 32", 11), (SUM, "sum = 0.0f", "sum", 8),
    (SUM, "sqrtf", "rsqrtf", 17), (SUM, "parts[0] / cols", "parts[0] * cols", 17),
    (SUM, "= sum;\n    __syncthreads();", "= sum;\n", 9), (SUM, "blockIdx.x * cols", "blockIdx.x * rows", 8),
    (SUM, "(x, y, rows, cols);", "(x, y, cols, rows);", 20), (SUM, "parts[0] / cols", "parts[0] / rows", 17),
    (TURN, "col * rows + row]", "col * cols + row]", 5), (TURN, "(cols + 15) / 16, (rows + 15) / 16",
                                                          "(rows + 15) / 16, (cols + 15) / 16", 10),
    (TURN, "row < rows && col < cols", "row < cols && col < rows", 4),
    (TURN, "blockIdx.x * 16 + threadIdx.x", "blockIdx.x * 16 + threadIdx.y", 3),
    (TURN, "row < rows && col", "row < rows || col", 4),
    (LANES, "__shfl_xor_sync", "__shfl_down_sync", 15), (LANES, "threadIdx.x % 32 == 0", "threadIdx.x == 0", 20),
    (LANES, "blockDim.x / 32)", "blockDim.x)", 15), (LANES, "gridDim.x * THREADS", "gridDim.x", 20),
    (LANES, "threads *= 2", "threads += 32", 15), (QUADS, "x + 4 * quads", "x + quads", 8),
    (QUADS, "[4 * quads + i]", "[quads + i]", 8), (QUADS, "i < n / 4", "i < n", 13),
    (QUADS, "(begin + share < n ? begin + share : n)", "begin + share", 20),
    (QUADS, "min(n, begin + 7)", "begin + 7", 22),
    (STAGES, "tile[1 - use]", "tile[use]", 9),
    (STAGES, "lane = threadIdx.x % 32, warp = threadIdx.x / 32", "lane = threadIdx.x / 32, warp = threadIdx.x % 32", 9),
    (STAGES, "turned[lane][warp])", "turned[lane][lane])", 16), (STAGES, "left >= 32", "left > 32", 16),
    (STAGES, "* LINE, LINE)", "* LINE, TILE)", 15), (STAGES, "-3.402823466e38f", "-INFINITY", 16),
    (STAGES, "(min(n, 1024) + 31) / 32 * 32", "min(n, 1024)", 16),
    (WALK, "{ sum = 0.0f;", "{", 12), (PIECES, "{ wmma::fill_fragment(c, 0.0f);", "{", 9),
    (VECTORS, "b.x = gate(a.x)", "b.x = gate(a.y)", 21), (VECTORS, "a.z * gate(a.z)", "a.y * gate(a.z)", 21),
    (VECTORS, "a.z * a.z + a.w", "a.z * a.y + a.w", 21), (VECTORS, "y->y * y->y", "y->x * y->y", 21),
    (VECTORS, "(1.0f / (1.0f + tail)) * tail;", "1.0f / (1.0f + tail);", 21),
    (VECTORS, "    const float now", "    most = fmaxf(most, x[i].x); const float now", 21),
    (PIECES, " wmma::row_major", " wmma::col_major", 9), (PIECES, "mem_row_major", "mem_col_major", 9),
])
def test_a_mistake_is_mended_by_one_of_the_first_edits(text: str, right: str, wrong: str, line: int) -> None:
    assert text.count(right) == 1
    found = [edited(text.replace(right, wrong), edit) for edit in edits_of(
        text.replace(right, wrong), lines=[line]).edits[:TRIED]]
    # Spaces and brackets make no difference.
    assert any(_plain(one) == _plain(text) for one in found), found


def test_sizes_that_a_launch_exchanges_come_first_and_those_under_their_own_names_do_not() -> None:
    wrong = SUM.replace("(x, y, rows, cols);", "(x, y, cols, rows);")
    assert wrong != SUM and edited(wrong, edits_of(wrong, lines=[8]).edits[0]) == SUM
    assert edits_of(SUM, lines=[8]).edits[0].kind != "order"


@each_row(("text", "wrong", "right"), [
    (LANES, "threadIdx.x % 32 == 0", "threadIdx.x == 0"),
    (LANES, "gridDim.x * blockDim.x / 32", "gridDim.x * blockDim.x"),
    (LANES.replace("threadIdx.x % 32 == 0", "own == 0"), "own == 0", "threadIdx.x == 0"),
    (LANES.replace("threadIdx.x % 32 == 0", "lane == 0"), "lane == 0", "threadIdx.x == 0"),
    (LANES.replace("threadIdx.x % 32 == 0", "t == 0"), "t == 0", "t % 32 == 0"),
    (LANES.replace("threadIdx.x % 32 ==", "(threadIdx.x & 31) =="), "(threadIdx.x & 31) ==", "(threadIdx.x) =="),
])
def test_warps_and_blocks_may_stand_in_each_others_place(text: str, wrong: str, right: str) -> None:
    assert text.count(wrong) == 1
    found = [edited(text, edit) for edit in edits_of(text, lines=[14]).edits[:TRIED]]
    assert text.replace(wrong, right) in found


def test_bytes_and_last_numbers_stay_as_they_are() -> None:
    # What stands there counts bytes, and places are compared from the end.
    text = COUNTS.replace("if (ticket", "if (n - lane < 4 && min(n - lane, 4) && ticket")
    assert [edit for edit in edits_of(text).edits if edit.weight < 0.6 and edit.line > 7] == []


def test_what_each_round_of_a_loop_begins_with_is_set_again_there() -> None:
    text = WALK.replace(" sum = 0.0f; // {", "")
    again = [edit.spans[0].text for edit in edits_of(text).edits if edit.kind == "missing"]
    # A loop's own counter would never end, and nothing is added to `most`.
    assert again == [" sum = 0.0f;", " memset(parts, 0, sizeof(parts));",
                     " sum = 0.0f; memset(parts, 0, sizeof(parts));", " sum = 0.0f;"]
    # What is set in each round, or used behind the loop alone, is left.
    assert [edit for text in (SUM, WALK.replace("+ parts[0]", "")) for edit in edits_of(text).edits
            if edit.kind == "missing" and edit.line != 9] == []


@pytest.mark.parametrize(("wrong", "right"), [
    ("x > w || y > h", "x >= w || y >= h"), ("x <= w && y <= h && x > 0", "x < w && y < h && x > 0")])
def test_all_sides_of_a_condition_are_changed_together(wrong: str, right: str) -> None:
    text = "__global__ void f(float *a, int w, int h) {{ int x = threadIdx.x, y = threadIdx.y; if ({}) a[y * w] = x; }}"
    found = [edited(text.format(wrong), edit) for edit in edits_of(text.format(wrong)).edits[:TRIED]]
    assert text.format(right) in found


def test_a_name_is_set_behind_the_statement_that_uses_its_old_value() -> None:
    body = "d = d * expf(m - new_m) + e; m = new_m;"
    text = "__global__ void f(float *x) {{ float m = 0.0f, d = 0.0f, e = x[0], new_m = fmaxf(m, e); {} x[0] = d; }}"
    wrong = text.format("m = new_m; d = d * expf(m - new_m) + e;")
    right = [edit for edit in edits_of(wrong).edits if _plain(edited(wrong, edit)) == _plain(text.format(body))]
    assert [edit.kind for edit in right] == ["order"]
    # What the next statement does not use, or sets, may stay.
    for other in (body, "m = new_m; d = d * expf(e - new_m);", "m = new_m; m = m + new_m;", "m = 2.0f * e; d = m - e;"):
        assert [edit for edit in edits_of(text.format(other)).edits if "m = " in edit.spans[-1].text] == []


@each_row(("pattern", "code", "parts"), [
    ("a / b", "x = n / 2;", {"a": "n", "b": "2"}),
    ("a_number / b", "x = n / 2 / 3;", {"a": "2", "b": "3"}),
    ("a * a", "y = a * b * b;", {"a": "b"}),
    ("n_size < {m n}", "void f(int k, int l) { k < l; l < n; }", {"n": "l"}),
    ("f ( a... , b... )", "fg(g(x, y), (z), w);", {"f": "fg", "a": "g(x, y)", "b": "(z), w"}),
    ("threadIdx.x ... ;", "int i = threadIdx.x; int j = 2;", {"x": "x"}),
    ("a_shared [ i... ] = 0", "__shared__ int s[2]; t[0] = 0; s[t[i + 1]] = 0;", {"a": "s", "i": "t[i + 1]"}),
    # No more than a statement, none of a role that no token has, and not in front of the first token.
    ("f ( a... )", "f(x; y)", None), ("a_counted b", "n / 4", None), ("a b ;", ";;", None), ("a...  }", "{ }", None),
])
def test_a_pattern_matches_tokens(pattern: str, code: str, parts: dict[str, str] | None) -> None:
    match = next(found(pattern, Body(code_words(code), code, ROLES)), None)
    assert (match and {part: match.source(part) for part in parts or {}}) == parts


@each_row(("row", "code", "after"), [
    (Fix("name", 1, "a + b => b - a"), "y = x + 2 * z;", ["y = 2 - x * z;"]),
    (Fix("name", 1, "max ( a... , b... ) => a: b | b: a"), "max(g(x, y), z);", ["max(z, g(x, y));"]),
    (Fix("name", 1, "= v... ; => v: (v) * 2"), "x = y + 1;", ["x = (y + 1) * 2;"]),
    (Fix("name", 1, "= v... ; => v: (v) * 2"), "x = y;", ["x = y * 2;"]),
    (Fix("name", 1, "/ b => /: | b:"), "x = y / 2;", ["x = y;"]),
    (Fix("name", 1, "< => <=", together="statement"), "a < b && b < c; a < 1;", ["a <= b && b <= c; a < 1;"]),
    (Fix("name", 1, "< n_size => n: SIZE"), "void f(int k, int l) { k < l; }", ["void f(int k, int l) { k < k; }"]),
    (Fix("name", 1, "a + b => a - b", neither(is_("b", "1"))), "x + 1; x + 2;", ["x + 1; x - 2;"]),
])
def test_a_row_writes_what_it_says(row: Fix, code: str, after: list[str]) -> None:
    made = edits_in_order(code, drafts((row,), WORDS, Body(code_words(code), code, ROLES)), 99, lambda place: 1)
    assert [edited(code, edit) for edit in made.edits] == after


def _plain(text: str) -> str:
    return "".join(text.replace(" = 0;", " = 0.0f;").split())


@each_row("member", MEMBERS, ids=lambda one: one.name)
def test_every_edit_makes_another_file(member: Member) -> None:
    text = member.source
    edits = edits_of(text, lines=[5, 12]).edits
    after = [edited(text, edit) for edit in edits]
    assert len({text, *after}) == 1 + len(after)
    assert all(edit.line == 1 + text.count("\n", 0, edit.spans[0].start) for edit in edits)
    assert [edit.weight for edit in edits] == sorted(edit.weight for edit in edits)


def test_every_kind_has_words() -> None:
    kinds = {edit.kind for one in MEMBERS for edit in edits_of(one.source).edits}
    assert len(kinds) > 15 and kinds <= set(get_args(EditKind))


def test_comments_strings_and_macros_stay_as_they_are() -> None:
    text = '// a < b\n#define LESS(a, b) ((a) < (b))\nvoid f(int n) { g("1 < 2", n); /* i <= n */ }\n'
    assert edits_of(text).edits == []


@pytest.mark.full
@pytest.mark.parametrize("text", [
    "void f() {" * 6_000, "a < b;" * 10_000, "}" * LARGEST, "dim3 g(" * 9_000, "float acc[" * 6_000,
    "__global__ void k() { " + "threadIdx.x + threadIdx.y; " * 2_000 + "}",
    "void f(int a, int b) { a" + " + a" * 16_000 + "; }", "void f(int a, int b) { " + "a(a, b);" * 8_000 + "}",
    "x" * (LARGEST + 1), "__global__ void k() { int a = 0; " + "while (1) { a += a; b = a; " * 2_000 + "}" * 2_001,
    "__global__ void k() { int a = 0; while (1) { " + "a += a + a; " * 5_000 + "} }",
    "__global__ void k() { " + "float a = 0; a[" * 3_000 + "while (1) { " * 500,
    "__global__ void k(int n) { " + "a = n + a; a < " * 4_000 + "}",
    "__global__ void k(int n, int m) { " + "a < n && a < m; " * 3_000,
    "__global__ void k(int n) { float4 a; " + "q = n / 4, r = q + 1; " * 2_500 + "}",
    "__global__ void k() { " + "__shared__ half a[2][8]; a[t / 2][t % 2] = " * 1_500,
    "__global__ void k() { int b = threadIdx.x, c = threadIdx.y; __shared__ int a[2][2]; " + "a[b][c" * 8_000,
    "void f() { __shfl_sync(); } void g(int n) { " + "k<<<1, n " * 6_000 + "load_matrix_sync(a * b" * 200,
    "__global__ void k(int n) { " + "gridDim.x * blockDim.x / 32; " * 2_000 + "}",
    "".join(f"#define A{number} 1\n" for number in range(2_000)) + "__global__ void k(int n) { " + "".join(
        f"A{number} / n % A{number}; a = n - b + blockIdx.x * " for number in range(900)),
    "__global__ void k() { for (int k = 0; k < 4; k++) " + "a == atomicInc((k + b, " * 2_500,
    "void f() { " + "cudaMemset(a[(" * 4_000, "void f() { " + "a = cudaMalloc(a, a) == " * 2_500,
], ids=lambda text: text[:24])
def test_a_file_made_to_be_slow_is_not(text: str) -> None:
    began = time.process_time()
    assert len(edits_of(text, lines=[1]).edits) <= 4096
    assert time.process_time() - began < 10
