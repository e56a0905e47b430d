# mypy: disable-error-code="untyped-decorator, no-untyped-def, no-untyped-call"
"""Rows as int8 with a scale each, and as fp8."""

import torch
import triton
import triton.language as tl
from triton.language.extra import libdevice


@triton.jit
def rint_kernel(x_ptr, q_ptr, scale_ptr, N, BLOCK: tl.constexpr):
    row, cols = tl.program_id(0), tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * N + cols, mask=cols < N, other=0.0).to(tl.float32)
    scale = tl.max(tl.abs(x), axis=0) / 127.0
    scale = tl.where(scale == 0.0, 1.0, scale)
    q = tl.clamp(libdevice.rint(x / scale), -128.0, 127.0)
    tl.store(q_ptr + row * N + cols, q.to(tl.int8), mask=cols < N)
    tl.store(scale_ptr + row, scale)


def rint(x, q, scales):
    rint_kernel[(x.shape[0],)](x, q, scales, x.shape[1], BLOCK=triton.next_power_of_2(x.shape[1]))


@triton.jit
def nearbyint_kernel(x_ptr, q_ptr, scale_ptr, N, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    cols = tl.arange(0, BLOCK)
    top = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, N, BLOCK):
        x = tl.load(x_ptr + row * N + start + cols, mask=start + cols < N, other=0)
        top = tl.maximum(top, tl.abs(x.to(tl.float32)))
    highest = tl.max(top)
    scale = highest * (1.0 / 127) if highest > 0 else 1.0
    tl.store(scale_ptr + row, scale)
    for start in range(0, N, BLOCK):
        x = tl.load(x_ptr + row * N + start + cols, mask=start + cols < N, other=0).to(tl.float32)
        q = tl.extra.cuda.libdevice.nearbyint(tl.div_rn(x, scale)).to(tl.int32)
        q = tl.minimum(tl.maximum(q, -127), 127)
        tl.store(q_ptr + row * N + start + cols, q, mask=start + cols < N)


def nearbyint(x, q, scales):
    M, N = x.shape
    nearbyint_kernel[(M,)](x, q, scales, N, BLOCK=16)


@triton.jit
def even(x):
    """Halves to even, of what is small enough: the sum has no bits left for fractions."""
    return (x + 12582912.0) - 12582912.0


@triton.jit
def magic_kernel(x_ptr, q_ptr, scale_ptr, M, N, ROWS: tl.constexpr, COLS: tl.constexpr):
    rows, cols = tl.program_id(0) * ROWS + tl.arange(0, ROWS), tl.arange(0, COLS)
    mask = (rows[:, None] < M) & (cols[None, :] < N)
    at = rows[:, None] * N + cols[None, :]
    x = tl.load(x_ptr + at, mask=mask, other=0.0).to(tl.float32)
    amax = tl.max(tl.abs(x), 1)
    scale = tl.where(amax > 0, amax / 127, 1.0)
    q = even(tl.fdiv(x, scale[:, None]))
    tl.store(q_ptr + at, q.to(q_ptr.dtype.element_ty), mask=mask)
    tl.store(scale_ptr + rows, scale, mask=rows < M)


def magic(x, q, scales):
    M, N = x.shape
    magic_kernel[(triton.cdiv(M, 4),)](x, q, scales, M, N, ROWS=4, COLS=triton.next_power_of_2(N))


@triton.jit
def fp8_kernel(x_ptr, q_ptr, scale_ptr, N, LARGEST: tl.constexpr, BLOCK: tl.constexpr):
    row, cols = tl.program_id(0), tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * N + cols, mask=cols < N, other=0.0).to(tl.float32)
    scale = tl.maximum(tl.max(tl.abs(x), axis=0), 1e-12) / LARGEST
    tl.store(q_ptr + row * N + cols, (x / scale).to(q_ptr.dtype.element_ty), mask=cols < N)
    tl.store(scale_ptr + row, scale)


def fp8(x, q, scales):
    largest = torch.finfo(q.dtype).max
    fp8_kernel[(x.shape[0],)](x, q, scales, x.shape[1], LARGEST=largest, BLOCK=triton.next_power_of_2(x.shape[1]))


@triton.jit
def scaled_product_kernel(a_ptr, b_ptr, a_scale_ptr, b_scale_ptr, out_ptr, K, M: tl.constexpr, N: tl.constexpr,
                          BLOCK: tl.constexpr):
    m, n, k = tl.arange(0, M), tl.arange(0, N), tl.arange(0, BLOCK)
    total = tl.zeros((M, N), tl.int32)
    for start in range(0, K, BLOCK):
        a = tl.load(a_ptr + m[:, None] * K + start + k[None, :])
        b = tl.load(b_ptr + n[:, None] * K + start + k[None, :])
        total = tl.dot(a, tl.trans(b), total, out_dtype=tl.int32)
    y = total.to(tl.float32) * tl.load(a_scale_ptr + m)[:, None] * tl.load(b_scale_ptr + n)[None, :]
    tl.store(out_ptr + m[:, None] * N + n[None, :], y)


def scaled_product(a, b, a_scales, b_scales, out):
    scaled_product_kernel[(1,)](a, b, a_scales, b_scales, out, a.shape[1], a.shape[0], b.shape[0], BLOCK=32)
