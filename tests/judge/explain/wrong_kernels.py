"""Kernels that Triton's front end refuses, each for a mistake that students make, and what the hint must hold."""

# mypy: disable-error-code="no-untyped-def, no-untyped-call, untyped-decorator, name-defined"

from __future__ import annotations

import math
from typing import Any

import torch
import triton
import triton.language as tl

SIZE = 32


def double(value):
    return value * 2


@triton.jit
def torch_call(x, n, BLOCK: tl.constexpr):
    tl.store(x, torch.exp(tl.load(x)))


@triton.jit
def math_call(x, n, BLOCK: tl.constexpr):
    tl.store(x, math.exp(tl.load(x)))


@triton.jit
def plain_helper(x, n, BLOCK: tl.constexpr):
    tl.store(x, double(tl.load(x)))


@triton.jit
def global_size(x, n, BLOCK: tl.constexpr):
    tl.store(x + tl.arange(0, SIZE), 1.0)


@triton.jit
def odd_block(x, n, BLOCK: tl.constexpr):
    tl.store(x + tl.arange(0, 33), 1.0)


@triton.jit
def block_of_an_argument(x, n, BLOCK: tl.constexpr):
    tl.store(x + tl.arange(0, n), 1.0)


@triton.jit
def huge_block(x, n, BLOCK: tl.constexpr):
    tl.store(x + tl.arange(0, 2097152), 1.0)


@triton.jit
def chained(x, n, BLOCK: tl.constexpr):
    lanes = tl.arange(0, BLOCK)
    tl.store(x + lanes, 1.0, mask=0 <= lanes < n)


@triton.jit
def misspelt(x, n, BLOCK: tl.constexpr):
    tl.store(x, tl.sigmoidd(tl.load(x)))


@triton.jit
def undefined(x, n, BLOCK: tl.constexpr):
    tl.store(x + offsets, 1.0)  # noqa: F821


@triton.jit
def set_in_one_branch(x, n, BLOCK: tl.constexpr):
    if n > 3:
        value = 1.0
    tl.store(x, value)


@triton.jit
def shapes(x, n, BLOCK: tl.constexpr):
    tl.store(x + tl.arange(0, BLOCK), tl.load(x + tl.arange(0, BLOCK)) + tl.load(x + tl.arange(0, 64)))


@triton.jit
def one_address(x, n, BLOCK: tl.constexpr):
    tl.store(x, tl.load(x + tl.arange(0, BLOCK)))


@triton.jit
def no_pointer(x, n, BLOCK: tl.constexpr):
    tl.store(x, tl.load(n + tl.arange(0, BLOCK)))


@triton.jit
def indexed(x, n, BLOCK: tl.constexpr):
    tl.store(x, x[0])


@triton.jit
def indexed_by_a_block(x, n, BLOCK: tl.constexpr):
    tl.store(x, x[tl.arange(0, BLOCK)])


@triton.jit
def assigned(x, n, BLOCK: tl.constexpr):
    x[0] = 1.0


@triton.jit
def printed(x, n, BLOCK: tl.constexpr):
    print(tl.load(x))


@triton.jit
def changing_type(x, n, BLOCK: tl.constexpr):
    total = 0
    for i in range(n):
        total += tl.load(x + i)
    tl.store(x, total)


@triton.jit
def if_of_a_block(x, n, BLOCK: tl.constexpr):
    value = tl.load(x + tl.arange(0, BLOCK))
    if value > 0:
        value = value + 1
    tl.store(x + tl.arange(0, BLOCK), value)


@triton.jit
def exp_of_integers(x, n, BLOCK: tl.constexpr):
    tl.store(x + tl.arange(0, BLOCK), tl.exp(tl.arange(0, BLOCK)))


@triton.jit
def divided_offsets(x, n, BLOCK: tl.constexpr):
    tl.store(x + tl.arange(0, BLOCK) / 2, 1.0)


@triton.jit
def small_dot(x, n, BLOCK: tl.constexpr):
    at = x + tl.arange(0, 8)[:, None] * 8 + tl.arange(0, 8)[None, :]
    tl.store(at, tl.dot(tl.load(at), tl.load(at)))


@triton.jit
def mismatched_dot(x, n, BLOCK: tl.constexpr):
    at = x + tl.arange(0, 32)[:, None] * 16 + tl.arange(0, 16)[None, :]
    tl.store(at, tl.dot(tl.load(at), tl.load(at)))


@triton.jit
def a_list(x, n, BLOCK: tl.constexpr):
    values = [2 * i for i in range(4)]
    tl.store(x, values[0])


@triton.jit
def a_try(x, n, BLOCK: tl.constexpr):
    try:
        tl.store(x, 1.0)
    finally:
        pass


@triton.jit
def a_break(x, n, BLOCK: tl.constexpr):
    for i in range(n):
        if i > 3:
            break


@triton.jit
def a_return(x, n, BLOCK: tl.constexpr):
    for i in range(n):
        if i > 3:
            return


@triton.jit
def fourth_axis(x, n, BLOCK: tl.constexpr):
    tl.store(x + tl.program_id(3), 1.0)


@triton.jit
def python_float(x, n, BLOCK: tl.constexpr):
    tl.store(x, float(tl.load(x)))


@triton.jit
def static_check(x, n, BLOCK: tl.constexpr):
    tl.static_assert(BLOCK == 7, "seven lanes")


@triton.jit
def other_alone(x, n, BLOCK: tl.constexpr):
    tl.store(x, tl.load(x, other=0.0))


@triton.jit
def unknown_keyword(x, n, BLOCK: tl.constexpr):
    tl.store(x, 1.0, masked=True)


@triton.jit
def wide_factor(x, n, BLOCK: tl.constexpr):
    tl.store(x, tl.load(x).to(tl.uint8) * 256)


HINTS: list[tuple[Any, str]] = [
    (torch_call, "triton.language only"), (math_call, "triton.language only"),
    (plain_helper, "put @triton.jit above double"), (global_size, "does not see SIZE"),
    (odd_block, "next_power_of_2"), (block_of_an_argument, "`BLOCK: tl.constexpr`"), (huge_block, "too large"),
    (chained, "(a <= b) & (b < c)"), (misspelt, "has no sigmoidd"), (undefined, "Is offsets misspelt"),
    (set_in_one_branch, "Is value misspelt"), (shapes, "different shapes"), (one_address, "add the offsets"),
    (no_pointer, "need a pointer"), (indexed, "tl.load(pointer + offsets, mask)"), (printed, "tl.device_print"),
    (indexed_by_a_block, "tl.load(pointer + offsets, mask)"), (assigned, "tl.store(pointer + offsets, value, mask)"),
    (changing_type, "total changes its type"),
    (if_of_a_block, "tl.where"), (exp_of_integers, ".to(tl.float32)"), (divided_offsets, "use //"),
    (small_dot, "at least 16"), (mismatched_dot, "second dimension of the first"), (a_list, "no lists"),
    (a_try, "cannot contain this (Try)"), (a_break, "cannot be left early"), (a_return, "cannot be left early"),
    (fourth_axis, "three axes"), (python_float, "float() works on Python's numbers"), (static_check, "static_assert"),
    (other_alone, "mask as well"), (unknown_keyword, "no parameter masked"),
    (wide_factor, "What is computed of uint8 is uint8 again"),
]
