"""Assignments as wide as the contract, judged without a GPU: right files pass, wrong ones are told what is wrong."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from grader.course.assignment import Answer, Assignment
from grader.course.cases import cases
from grader.course.course import Course
from grader.course.submission import Source
from grader.judging.judgement import Judgement
from grader.judging.prepared import Prepared, Task
from grader.kit.author import rows_of
from grader.results.result import CheckResult, Detail
from tests.judging import contract
from tests.languages.cuda.compiling import needs_nvcc

HEAD = "import torch\nimport triton\nimport triton.language as tl\n\n\n"
ROWS = HEAD + """\
@triton.jit
def kernel(x, total, largest, place, N, BLOCK: tl.constexpr):
    row, at = tl.program_id(0), tl.arange(0, BLOCK)
    v = tl.load(x + row * N + at, mask=at < N, other=float("-inf"))
    tl.store(total + row, tl.sum(tl.where(at < N, v, 0.0)))
    tl.store(largest + row, tl.max(v))
    tl.store(place + row, tl.argmax(v, axis=0).to(tl.int64))


def rows(x, total, largest, place):
    kernel[(x.shape[0],)](x, total, largest, place, x.shape[1], BLOCK=triton.next_power_of_2(x.shape[1]))
"""
DECAY = HEAD + """\
@triton.jit
def kernel(x, state, sign, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = 0.5 * tl.load(state + at, mask=at < n) + tl.load(x + at, mask=at < n)
    tl.store(state + at, v, mask=at < n)
    tl.store(sign + at, v > 0, mask=at < n)


def decay(x, state, sign):
    n = x.numel()
    kernel[(triton.cdiv(n, 256),)](x, state, sign, n, BLOCK=256)
"""
APPEND = HEAD + """\
@triton.jit
def kernel(row, at, cache, N, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(cache + tl.load(at) * N + i, tl.load(row + i, mask=i < N), mask=i < N)


def append(row, at, cache):
    kernel[(1,)](row, at, cache, row.shape[0], BLOCK=triton.next_power_of_2(row.shape[0]))
"""
SUMS = HEAD + """\
@triton.jit
def kernel(a, b, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + at, tl.load(a + at, mask=at < n) + tl.load(b + at, mask=at < n), mask=at < n)


def sums(a, b, out):
    kernel[(triton.cdiv(a.numel(), 256),)](a, b, out, a.numel(), BLOCK=256)
"""
PAIRS = HEAD + """\
@triton.jit
def kernel(x, shift, out, rest, n, m, NEGATE: tl.constexpr, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    even = tl.load(x + 2 * at, mask=at < n).to(tl.float32)
    odd = tl.load(x + 2 * at + 1, mask=at < n).to(tl.float32)
    v = even + odd
    if NEGATE:
        v = -v
    tl.store(out + at, v.to(tl.bfloat16), mask=at < n)
    tl.store(rest + at, at + shift, mask=at < m)


def pairs(x, shift, negate, out, rest):
    assert type(shift) is int and type(negate) is bool
    kernel[(triton.cdiv(out.numel(), 256),)](x, shift, out, rest, out.numel(), rest.numel(), NEGATE=negate, BLOCK=256)
"""
NARROW = HEAD + """\
@triton.jit
def kernel(x, low, level, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + at, mask=at < n)
    tl.store(low + at, v.to(tl.float8e4nv), mask=at < n)
    rounded = tl.floor(v * 2 + 0.5)
    tl.store(level + at, tl.minimum(tl.maximum(rounded, -127.0), 127.0).to(tl.int8), mask=at < n)


def narrow(x, low, level):
    kernel[(triton.cdiv(x.numel(), 256),)](x, low, level, x.numel(), BLOCK=256)
"""
STRIDED = HEAD + """\
@triton.jit
def kernel(x, out, M, N, xm, xn, om, on, BLOCK: tl.constexpr):
    row, at = tl.program_id(0), tl.arange(0, BLOCK)
    v = tl.load(x + row * xm + at * xn, mask=at < N)
    tl.store(out + row * om + at * on, v * v, mask=at < N)


def strided(x, out):
    M, N = x.shape
    kernel[(M,)](x, out, M, N, x.stride(0), x.stride(1), out.stride(0), out.stride(1),
                 BLOCK=triton.next_power_of_2(N))
"""
FLAGS = HEAD + """\
@triton.jit
def kernel(keep, x, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + at, mask=at < n)
    tl.store(out + at, tl.where(tl.load(keep + at, mask=at < n), v, 0), mask=at < n)


def flags(keep, x, out):
    kernel[(triton.cdiv(x.numel(), 256),)](keep, x, out, x.numel(), BLOCK=256)
"""
DROPOUT = HEAD + """\
@triton.jit
def kernel(x, p, scale, seed, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + at, mask=at < n)
    keep = tl.rand(seed, at) >= p
    tl.store(out + at, tl.where(keep, scale * v / (1 - p), 0.0), mask=at < n)


def dropout(x, p, scale, seed, out):
    kernel[(triton.cdiv(x.numel(), 256),)](x, p, scale, seed, out, x.numel(), BLOCK=256)
"""
LARGEST = HEAD + """\
@triton.jit
def kernel(x, out, N, BLOCK: tl.constexpr):
    row, at = tl.program_id(0), tl.arange(0, BLOCK)
    v = tl.load(x + row * N + at, mask=at < N, other=float("-inf"))
    tl.store(out + row, tl.max(tl.where(v == tl.max(v), at, -1)).to(tl.int64))


def largest(x, out):
    kernel[(x.shape[0],)](x, out, x.shape[1], BLOCK=triton.next_power_of_2(x.shape[1]))
"""
SQUARED = HEAD + """\
@triton.jit
def kernel(x, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + at, mask=at < n).to(tl.float32)
    tl.store(out + at, v * v, mask=at < n)


def squared(x, out):
    kernel[(triton.cdiv(x.numel(), 256),)](x, out, x.numel(), BLOCK=256)
"""
MIXED = """\
#include <cuda_bf16.h>

__global__ void kernel(const __nv_bfloat16 *x, const long long *at, int shift, bool negate, float *state,
                       __nv_bfloat16 *moved, long long *next, int cols)
{
    int row = blockIdx.x;
    for (int column = threadIdx.x; column < cols; column += blockDim.x) {
        float v = __bfloat162float(x[row * cols + column]);
        moved[row * cols + column] = __float2bfloat16((negate ? -v : v) + shift);
    }
    if (threadIdx.x == 0) {
        state[row] = 0.5f * state[row] + __bfloat162float(x[row * cols + at[row]]);
        next[row] = at[row] + shift;
    }
}

void mixed(const __nv_bfloat16 *x, const long long *at, int shift, bool negate, float *state, __nv_bfloat16 *moved,
           long long *next, int rows, int cols)
{
    kernel<<<rows, 64>>>(x, at, shift, negate, state, moved, next, cols);
}
"""
RIGHT = [
    (contract.ROWS, ROWS), (contract.DECAY, DECAY), (contract.APPEND, APPEND), (contract.SUMS, SUMS),
    (contract.PAIRS, PAIRS), (contract.NARROW, NARROW), (contract.STRIDED, STRIDED), (contract.FLAGS, FLAGS),
    (contract.DROPOUT, DROPOUT), (contract.LARGEST, LARGEST), (contract.SQUARED, SQUARED), (contract.MIXED, MIXED)]


def _judged(assignment: Assignment, text: str) -> list[CheckResult]:
    task = Task(assignment, Source(content=text.encode(), file=assignment.file), Course(), b"one", "cpu")
    return Judgement(Prepared(task)).take_all()


WRONG = [
    pytest.param(contract.ROWS, ROWS, "tl.store(place + row, tl.argmax(v, axis=0).to(tl.int64))", "pass", "unwritten",
                 "place was never written", "The call wrote total and largest and not place",
                 id="one output unwritten"),
    pytest.param(contract.ROWS, ROWS, "tl.sum(tl.where(at < N, v, 0.0))", "2 * tl.sum(tl.where(at < N, v, 0.0))",
                 "wrong_values", "total: all 64 elements are wrong", "2 times the right one", id="first output wrong"),
    pytest.param(contract.ROWS, ROWS, "tl.argmax(v, axis=0).to(tl.int64)", "tl.full((), 0, tl.int64)", "wrong_values",
                 "place: ", "Which of the elements is the largest?", id="a mistake in whole numbers"),
    pytest.param(contract.ROWS, ROWS, "total, largest, place, x.shape[1]", "largest, total, place, x.shape[1]",
                 "wrong_values", "total: ", "exchanged", id="outputs exchanged"),
    pytest.param(contract.DECAY, DECAY, "tl.store(state + at, v, mask=at < n)", "pass", "unwritten",
                 "state was left as it was in", "The call wrote sign and not state", id="not updated"),
    pytest.param(contract.DECAY, DECAY, "0.5 * tl.load(state + at, mask=at < n) + ", "", "wrong_values", "state: ",
                 "would be right if state held zeros", id="replaced instead of updated"),
    pytest.param(contract.DECAY, DECAY, "v > 0", "v < 0", "wrong_values", "sign[", "", id="bools"),
    pytest.param(contract.APPEND, APPEND, "tl.load(at) * N", "tl.load(at)", "wrong_values", "cache[", "",
                 id="another row"),
    pytest.param(contract.SUMS, SUMS, "out + at, tl.load(a + at, mask=at < n)",
                 "out + at, tl.load(a + at, mask=at < n).to(tl.float64).to(tl.int64)", "wrong_values", "expected", "",
                 id="64 bits through float64"),
    pytest.param(contract.SUMS, SUMS, "tl.load(b + at, mask=at < n)", "tl.load(b + at, mask=at < n) + 1",
                 "wrong_values", "", "1 too large", id="one too large"),
    pytest.param(contract.PAIRS, PAIRS, "NEGATE=negate", "NEGATE=False", "wrong_values", "out: ", "other sign",
                 id="a bool not heeded"),
    pytest.param(contract.PAIRS, PAIRS, "at + shift,", "at,", "wrong_values", "rest: ", "", id="an int not heeded"),
    pytest.param(contract.NARROW, NARROW, "v.to(tl.float8e4nv)", "(v * 1.2).to(tl.float8e4nv)", "wrong_values",
                 "low: ", "", id="float8"),
    pytest.param(contract.NARROW, NARROW, "v * 2 + 0.5", "v * 2 + 2.5", "wrong_values", "level: ", "", id="int8"),
    pytest.param(contract.STRIDED, STRIDED, "x.stride(0), x.stride(1), out", "N, 1, out", "not_finite", "out[",
                 "x is not contiguous: it has strides (73, 1)", id="strides of an input"),
    pytest.param(contract.STRIDED, STRIDED, "out.stride(0), out.stride(1)", "1, M", "unwritten", "", "",
                 id="strides of an output"),
    pytest.param(contract.STRIDED, STRIDED, "kernel[(M,)](x,", "kernel[(M,)](x.contiguous(),", "policy",
                 "into another layout", "", id="made contiguous"),
    pytest.param(contract.STRIDED, STRIDED, "mask=at < N)\n\n\ndef",
                 "mask=at < N)\n    tl.store(out + M, 1.0)\n\n\ndef", "out_of_bounds",
                 "between the elements of out, which has strides (1, 38)", "stride", id="a gap"),
    pytest.param(contract.FLAGS, FLAGS, "v, 0)", "0, v)", "wrong_values", "out[", "", id="the other ones kept"),
    pytest.param(contract.DROPOUT, DROPOUT, "tl.rand(seed, at) >= p", "tl.rand(seed, at) >= p / 2", "wrong_values",
                 "elements were dropped; p is", "random number", id="another share"),
    pytest.param(contract.DROPOUT, DROPOUT, "v / (1 - p)", "v", "wrong_values", "out[", "", id="not scaled"),
    pytest.param(contract.DROPOUT, DROPOUT, "tl.rand(seed, at)", "tl.rand(7, at)", "wrong_values",
                 "The answer is the same whatever seed is", "Does seed reach", id="seed not heeded"),
    pytest.param(contract.DROPOUT, DROPOUT.replace("out, n,", "out, turns, n,", 1).replace(
        "x, p, scale, seed, out, x", "x, p, scale, seed, out, torch.zeros(1, dtype=torch.int32, device=x.device), x"),
        "tl.rand(seed, at)", "tl.rand(seed, tl.atomic_add(turns, 1) * BLOCK + tl.arange(0, BLOCK))", "wrong_values",
        "Two calls on the same inputs and the same scale and seed give different answers.", "order of programs",
        id="an unstable answer"),
    pytest.param(contract.LARGEST, LARGEST, "at, -1)", "at, -1) + 1000000007", "wrong_values",
                 "out[0] is 1000000", "", id="an index out of range"),
    pytest.param(contract.LARGEST, LARGEST, "at, -1)", "at, -1) - 1000000007", "wrong_values",
                 "out[0] is -99999", "", id="an index below 0"),
    pytest.param(contract.SQUARED, SQUARED, "v * v", "v.to(tl.float8e4nv).to(tl.float32) * v", "wrong_values",
                 "out[", "", id="fewer digits"),
    pytest.param(contract.MIXED, MIXED, "state[row] = ", "float unused = ", "unwritten", "state was left as it was in",
                 "The call wrote moved and next and not state", id="CUDA C++: not updated", marks=needs_nvcc),
    pytest.param(contract.MIXED, MIXED, "0.5f * state[row] + ", "", "wrong_values", "state: ",
                 "would be right if state held zeros", id="CUDA C++: replaced instead of updated", marks=needs_nvcc),
    pytest.param(contract.MIXED, MIXED, "negate ? -v : v", "v", "wrong_values", "moved: ", "other sign",
                 id="CUDA C++: a bool not heeded", marks=needs_nvcc),
    pytest.param(contract.MIXED, MIXED, "(negate ? -v : v) + shift", "(negate ? -v : v)", "wrong_values", "moved: ",
                 "too small", id="CUDA C++: an int not heeded", marks=needs_nvcc),
    # The compiler loads the lower half of each index alone, whose elements lie two apart.
    pytest.param(contract.MIXED, MIXED, "at[row] + shift", "(int)at[row]", "wrong_values", "next: ", "too small",
                 id="CUDA C++: whole numbers of 64 bits", marks=needs_nvcc),
    pytest.param(contract.MIXED, MIXED, "next[row] =", "next[0] =", "unwritten", "next: ", "blockIdx",
                 id="CUDA C++: one output partly written", marks=needs_nvcc),
    pytest.param(contract.DROPOUT, DROPOUT, "tl.rand(seed, at)", "tl.rand(scale, at)", "wrong_values",
                 "The answer is the same whatever seed is", "Does seed reach", id="another number for the seed"),
]
# Sizes that only a GPU runs whole, and what is said of them.
WRONG_AT_SIZE = ROWS.replace("tl.max(v))", "tl.where(N > 200, 0.0, tl.max(v)))")
BY_ROWS = dict.fromkeys(("total", "largest", "place"), Answer(rows=rows_of("x")))
LARGE = [
    pytest.param(contract.ROWS, {}, "80x300", ROWS, "", "Run here as a whole: 80x300.", id="whole"),
    pytest.param(contract.ROWS, {}, "80x300", WRONG_AT_SIZE, "elements are wrong: largest[", "",
                 id="wrong in one output"),
    pytest.param(contract.ROWS, {}, "80x300",
                 ROWS.replace("tl.max(v))", "tl.max(v))\n    tl.store(x + row * N, 0.0, mask=N > 200)"),
                 "x changed during the call", "", id="an input changed"),
    pytest.param(contract.ROWS, {}, "2200000x1", ROWS, "",
                 "Left to a GPU: 2200000x1 (the assignment does not say which inputs a part of the answer depends on).",
                 id="too large as a whole"),
    pytest.param(contract.ROWS, BY_ROWS, "2200000x300", ROWS, "",
                 "Sizes that only a GPU runs whole were sampled here: 4 of 2,200,000 programs of 2200000x300.",
                 id="rows"),
    pytest.param(contract.ROWS, BY_ROWS, "80000x300", WRONG_AT_SIZE,
                 "elements that one program stores is wrong: largest[", "", id="rows of one output wrong"),
    pytest.param(contract.ROWS, {name: BY_ROWS[name] for name in ("total", "place")}, "80000x300", ROWS, "",
                 "programs of 80000x300. Left to a GPU: largest of 80000x300 (the assignment", id="one without rows"),
    pytest.param(contract.DECAY, dict.fromkeys(("state", "sign"), Answer(tolerance=None, rows=rows_of("x", "state"))),
                 "80000x300", DECAY, "", "4 of 93,750 programs of 80000x300.", id="updated rows"),
    pytest.param(contract.LARGEST, {"out": Answer(rows=rows_of("x"))}, "80000x300", LARGEST, "",
                 "4 of 80,000 programs of 80000x300.", id="what was answered decides"),
]


@pytest.mark.parametrize("assignment, answers, size, text, message, note", LARGE)
def test_large_sizes_are_looked_at_in_each_output(
    assignment: Assignment, answers: Mapping[str, Answer], size: str, text: str, message: str, note: str
) -> None:
    judged = {name: answer.model_copy(update={"tolerance": assignment.about(name).tolerance})
              for name, answer in answers.items()}
    alone = {"rows": judged["out"].rows} if "out" in judged else {"answers": {**assignment.answers, **judged}}
    large = assignment.model_copy(update={"cases": cases("M N", "3x5", gpu=size), **alone})
    target = next(check for check in _judged(large, text) if check.stage == "target")
    assert (message in target.detail.message) if target.detail else (target.outcome == "passed" and note in target.note)
    assert (target.detail is None) == (message == ""), target


def _wrong(assignment: Assignment, text: str, before: str, after: str) -> Detail:
    """What is said of the largest case that fails once a text is changed."""
    assert text.count(before) >= 1
    failed = [check.detail for check in _judged(assignment, text.replace(before, after)) if check.outcome == "failed"]
    assert failed and failed[-1] is not None
    return failed[-1]


@pytest.mark.parametrize("assignment, text", [
    pytest.param(*one, id=one[0].name, marks=[needs_nvcc] if one[0].forms else []) for one in RIGHT])
def test_right_files_pass(assignment: Assignment, text: str) -> None:
    checks = _judged(assignment, text)
    assert [(one.id, one.detail) for one in checks if one.outcome != "passed"] == []


@pytest.mark.parametrize("assignment, text, before, after, kind, message, hint", WRONG)
def test_wrong_files_are_told(
    assignment: Assignment, text: str, before: str, after: str, kind: str, message: str, hint: str
) -> None:
    detail = _wrong(assignment, text, before, after)
    assert (detail.kind, message in detail.message, hint in f"{detail.message} {detail.hint}") == (kind, True, True), (
        detail.message, detail.hint)


def test_each_output_has_figures_of_its_own() -> None:
    detail = _wrong(contract.ROWS, ROWS, "tl.max(v)", "tl.min(v)")
    assert detail.about == "largest" and detail.message.startswith("largest: ")
    total, largest, place = detail.outputs
    assert (total.wrong, total.error_map, place.wrong, place.worst) == (0, None, 0, None)
    assert largest.error_map == detail.error_map is not None and largest.worst == detail.worst
    kept = _wrong(contract.DECAY, DECAY.replace("tl.store(state + at, v, mask=at < n)", "pass"), "v > 0", "v > 0")
    assert kept.outputs[0].kept and "never written" not in kept.model_dump_json() and kept.corner is not None
    assert "unwritten" not in kept.corner.got[0]
    single = _wrong(contract.FLAGS, FLAGS, "v, 0)", "0, v)")
    assert single.outputs == [] and "outputs" not in single.model_dump_json()
