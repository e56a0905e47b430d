"""Assignments as wide as the contract, judged without a GPU: right files pass, and wrong ones are told what is wrong."""

from __future__ import annotations

import pytest

from grader.judge.judgement import Judgement
from grader.judge.prepared import Prepared, Task
from grader.model.assignment import Assignment
from grader.model.course import Course
from grader.model.result import CheckResult, Detail
from grader.model.submission import Source
from tests.judge import contract

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
def kernel(x, p, seed, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + at, mask=at < n)
    keep = tl.rand(seed, at) >= p
    tl.store(out + at, tl.where(keep, v / (1 - p), 0.0), mask=at < n)


def dropout(x, p, seed, out):
    kernel[(triton.cdiv(x.numel(), 256),)](x, p, seed, out, x.numel(), BLOCK=256)
"""
RIGHT = [
    (contract.ROWS, ROWS), (contract.DECAY, DECAY), (contract.APPEND, APPEND), (contract.SUMS, SUMS),
    (contract.PAIRS, PAIRS), (contract.NARROW, NARROW), (contract.STRIDED, STRIDED), (contract.FLAGS, FLAGS),
    (contract.DROPOUT, DROPOUT)]


def _judged(assignment: Assignment, text: str) -> list[CheckResult]:
    task = Task(assignment, Source(content=text.encode()), Course(), b"one", "cpu")
    return Judgement(Prepared(task)).take_all()


def _wrong(assignment: Assignment, text: str, before: str, after: str) -> Detail:
    """What is said of the largest case that fails once a text is changed."""
    assert text.count(before) >= 1
    failed = [check.detail for check in _judged(assignment, text.replace(before, after)) if check.outcome == "failed"]
    assert failed and failed[-1] is not None
    return failed[-1]


@pytest.mark.parametrize("assignment, text", [pytest.param(*one, id=one[0].name) for one in RIGHT])
def test_right_files_pass(assignment: Assignment, text: str) -> None:
    checks = _judged(assignment, text)
    assert [(one.id, one.detail) for one in checks if one.outcome != "passed"] == []
