# mypy: disable-error-code="untyped-decorator, no-untyped-def, no-untyped-call"
"""Rotary embedding of (tokens, heads, head_dim), by tables of cosines and sines or by positions."""

import math

import triton
import triton.language as tl


@triton.jit
def halves_kernel(x_ptr, cos_ptr, sin_ptr, out_ptr, heads, D: tl.constexpr, HALF: tl.constexpr):
    pid = tl.program_id(0)
    token = pid // heads
    i = tl.arange(0, HALF)
    cos = tl.load(cos_ptr + token * HALF + i)
    sin = tl.load(sin_ptr + token * HALF + i)
    first = tl.load(x_ptr + pid * D + i).to(tl.float32)
    second = tl.load(x_ptr + pid * D + HALF + i).to(tl.float32)
    tl.store(out_ptr + pid * D + i, (first * cos - second * sin).to(out_ptr.dtype.element_ty))
    tl.store(out_ptr + pid * D + HALF + i, (second * cos + first * sin).to(out_ptr.dtype.element_ty))


def halves(x, cos, sin, positions, theta, interleaved, out):
    T, H, D = x.shape
    assert not interleaved
    halves_kernel[(T * H,)](x, cos, sin, out, H, D, D // 2, num_warps=1)


@triton.jit
def pairs_kernel(x_ptr, cos_ptr, sin_ptr, out_ptr, stride_t, stride_h, H: tl.constexpr, D: tl.constexpr,
                 INTERLEAVED: tl.constexpr):
    token = tl.program_id(0)
    h, d, i = tl.arange(0, H), tl.arange(0, D), tl.arange(0, D // 2)
    at = token * stride_t + h[:, None] * stride_h + d[None, :]
    x = tl.load(x_ptr + at).to(tl.float32)
    cos = tl.load(cos_ptr + token * (D // 2) + i)[None, :]
    sin = tl.load(sin_ptr + token * (D // 2) + i)[None, :]
    if INTERLEAVED:
        a, b = tl.split(tl.reshape(x, (H, D // 2, 2)))
        y = tl.interleave(a * cos - b * sin, b * cos + a * sin)
    else:
        a, b = x.reshape(H, 2, D // 2).permute(0, 2, 1).split()
        y = tl.join(a * cos - b * sin, b * cos + a * sin).permute(0, 2, 1).reshape(H, D)
    tl.store(out_ptr + at, y.to(out_ptr.dtype.element_ty))


def pairs(x, cos, sin, positions, theta, interleaved, out):
    T, H, D = x.shape
    pairs_kernel[(T,)](x, cos, sin, out, x.stride(0), x.stride(1), H=H, D=D, INTERLEAVED=interleaved)


@triton.jit
def angles_kernel(x_ptr, pos_ptr, out_ptr, rows, heads, log_theta, interleaved, HALF: tl.constexpr, ROWS: tl.constexpr):
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    mask = (row < rows)[:, None]
    i = tl.arange(0, HALF)
    position = tl.load(pos_ptr + row // heads, mask=row < rows, other=0)
    inverse = tl.exp2(-(i.to(tl.float32) / HALF) * log_theta)
    angle = position.to(tl.float32)[:, None] * inverse[None, :]
    cos, sin = tl.cos(angle), tl.sin(angle)
    if interleaved:
        first, second = 2 * i, 2 * i + 1
    else:
        first, second = i, i + HALF
    base = row.to(tl.int64)[:, None] * (2 * HALF)
    a = tl.load(x_ptr + base + first[None, :], mask=mask, other=0.0).to(tl.float32)
    b = tl.load(x_ptr + base + second[None, :], mask=mask, other=0.0).to(tl.float32)
    tl.store(out_ptr + base + first[None, :], a * cos - b * sin, mask=mask)
    tl.store(out_ptr + base + second[None, :], b * cos + a * sin, mask=mask)


def angles(x, cos, sin, positions, theta, interleaved, out):
    T, H, D = x.shape
    grid = (triton.cdiv(T * H, 8),)
    angles_kernel[grid](x, positions, out, T * H, H, math.log2(theta), bool(interleaved), HALF=D // 2, ROWS=8)
