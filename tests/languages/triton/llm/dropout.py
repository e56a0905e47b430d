# mypy: disable-error-code="untyped-decorator, no-untyped-def, no-untyped-call"
"""Dropout by a seed, and other uses of Triton's random numbers."""

import triton
import triton.language as tl


@triton.jit
def rand_kernel(x_ptr, out_ptr, n, p, seed, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    x = tl.load(x_ptr + offs, mask=mask)
    keep = tl.rand(seed, offs) > p
    tl.store(out_ptr + offs, tl.where(keep, x / (1 - p), 0.0), mask=mask)


def rand(x, p, seed, out):
    rand_kernel[(triton.cdiv(x.numel(), 256),)](x, out, x.numel(), p, seed, BLOCK=256)


@triton.jit
def four_kernel(x_ptr, out_ptr, n, p, seed, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    r0, r1, r2, r3 = tl.rand4x(seed, pid * BLOCK + tl.arange(0, BLOCK))
    r = tl.reshape(tl.join(tl.join(r0, r1), tl.join(r2, r3)), (4 * BLOCK,))
    offs = pid * (4 * BLOCK) + tl.arange(0, 4 * BLOCK)
    x = tl.load(x_ptr + offs, mask=offs < n, other=0.0).to(tl.float32)
    scale = 1.0 / (1.0 - p)
    y = x * (r >= p).to(tl.float32) * scale
    tl.store(out_ptr + offs, y.to(out_ptr.dtype.element_ty), mask=offs < n)


def four(x, p, seed, out):
    four_kernel[(triton.cdiv(x.numel(), 256),)](x, out, x.numel(), p, seed, BLOCK=64)


@triton.jit
def integers_kernel(x_ptr, out_ptr, n, limit, scale, seed, BLOCK: tl.constexpr):
    offs = (tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)).to(tl.int64)
    bits = tl.randint(seed, offs).to(tl.uint32, bitcast=True)
    x = tl.load(x_ptr + offs, mask=offs < n)
    if x.dtype != tl.float32:
        x = x.to(tl.float32)
    tl.store(out_ptr + offs, tl.where(bits >= limit.to(tl.uint32), x * scale, 0), mask=offs < n)


def integers(x, p, seed, out):
    n = x.numel()
    integers_kernel[(triton.cdiv(n, 128),)](x, out, n, int(p * 2**32), 1 / (1 - p), seed, BLOCK=128)


@triton.jit
def philox_kernel(x_ptr, out_ptr, n, p, seed, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    zero = offs * 0
    u = tl.uint_to_uniform_float(tl.philox(seed, offs, zero, zero, zero)[0])
    x = tl.load(x_ptr + offs, mask=offs < n, other=0)
    tl.store(out_ptr + offs, x * (u > p) / (1 - p), mask=offs < n)


def philox(x, p, seed, out):
    philox_kernel[(triton.cdiv(x.numel(), 64),)](x, out, x.numel(), p, seed, BLOCK=64)
