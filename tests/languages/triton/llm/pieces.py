# mypy: disable-error-code="untyped-decorator, no-untyped-def, no-untyped-call"
"""Pieces of other kernels: histograms, scans, gathers, searches, sorted keys, int8 with scales, random numbers."""

import torch
import triton
import triton.language as tl


@triton.jit
def histogram_kernel(x_ptr, out_ptr, n, BINS: tl.constexpr, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offs, mask=offs < n, other=0).to(tl.int32)
    counts = tl.histogram(x, BINS, mask=offs < n)
    tl.atomic_add(out_ptr + tl.arange(0, BINS), counts.to(out_ptr.dtype.element_ty))


def histogram(x, out):
    out.fill_(0)
    histogram_kernel[(triton.cdiv(x.numel(), 64),)](x, out, x.numel(), BINS=out.numel(), BLOCK=64)


@triton.jit
def decay(a, x, b, y):
    return a * b, b * x + y


@triton.jit
def recurrence_kernel(a_ptr, x_ptr, out_ptr, T, REVERSE: tl.constexpr, BLOCK: tl.constexpr):
    row, t = tl.program_id(0), tl.arange(0, BLOCK)
    a = tl.load(a_ptr + row * T + t, mask=t < T, other=1.0)
    x = tl.load(x_ptr + row * T + t, mask=t < T, other=0.0)
    _, h = tl.associative_scan((a, x), 0, decay, reverse=REVERSE)
    tl.store(out_ptr + row * T + t, h, mask=t < T)


def recurrence(a, x, reverse, out):
    B, T = x.shape
    recurrence_kernel[(B,)](a, x, out, T, REVERSE=reverse, BLOCK=triton.next_power_of_2(T))


@triton.jit
def permute_kernel(x_ptr, index_ptr, out_ptr, N: tl.constexpr, M: tl.constexpr):
    rows, cols = tl.arange(0, M), tl.arange(0, N)
    at = rows[:, None] * N + cols[None, :]
    x, index = tl.load(x_ptr + at), tl.load(index_ptr + at)
    y = tl.gather(x, index.to(tl.int32), axis=1)
    even, odd = y.reshape(M, N // 2, 2).split()
    tl.store(out_ptr + at, tl.flip(tl.interleave(odd, even), 1))


def permute(x, index, out):
    permute_kernel[(1,)](x, index, out, N=x.shape[1], M=x.shape[0])


@triton.jit
def search_kernel(keys_ptr, sorted_ptr, out_ptr, n, size, BLOCK: tl.constexpr):
    """Where each key would be put into an ascending vector."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    key = tl.load(keys_ptr + i, mask=i < n, other=0)
    low = tl.zeros((BLOCK,), tl.int64)
    high = tl.zeros((BLOCK,), tl.int64) + size
    while tl.max((low < high).to(tl.int32), 0) > 0:
        middle = (low + high) // 2
        going = low < high
        value = tl.load(sorted_ptr + middle, mask=going, other=0)
        right = going & (value < key)
        high = tl.where(going & ~right, middle, high)
        low = tl.where(right, middle + 1, low)
    tl.store(out_ptr + i, low, mask=i < n)


def search(keys, ascending, out):
    search_kernel[(triton.cdiv(keys.numel(), 32),)](keys, ascending, out, keys.numel(), ascending.numel(), BLOCK=32)


@triton.jit
def flags_kernel(x_ptr, keep_ptr, out_ptr, any_ptr, n, scale, negate, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    keep = tl.load(keep_ptr + i, mask=i < n, other=False)
    x = tl.load(x_ptr + i, mask=i < n, other=0)
    factor = -scale if negate else scale
    tl.store(out_ptr + i, tl.where(keep, x * factor, x), mask=i < n)
    tl.store(any_ptr + tl.program_id(0), tl.reduce_or(keep.to(tl.int32), 0) != 0)


def flags(x, keep, scale, negate, out, found):
    assert keep.dtype == torch.bool and keep.dtype is not torch.uint8 and isinstance(negate, bool)
    n = x.numel()
    flags_kernel[(found.numel(),)](x, keep, out, found, n, scale, negate, BLOCK=32)


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


@triton.jit
def packed_kernel(x_ptr, values_ptr, indices_ptr, N, K, BLOCK: tl.constexpr, TOP: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * N + cols, mask=cols < N, other=-float("inf")).to(tl.float32)
    bits = x.to(tl.int32, bitcast=True)
    # In the order of the numbers: of negative ones all bits but the sign are turned.
    order = tl.where(bits < 0, bits ^ 0x7FFFFFFF, bits).to(tl.int64)
    key = (order << 32) | (BLOCK - 1 - cols).to(tl.int64)
    best = tl.topk(key, TOP)
    index = (BLOCK - 1 - (best & 0xFFFFFFFF)).to(tl.int64)
    order = (best >> 32).to(tl.int32)
    value = tl.where(order < 0, order ^ 0x7FFFFFFF, order).to(tl.float32, bitcast=True)
    i = tl.arange(0, TOP)
    tl.store(values_ptr + row * K + i, value.to(values_ptr.dtype.element_ty), mask=i < K)
    tl.store(indices_ptr + row * K + i, index, mask=i < K)


def packed(x, k, values, indices):
    N = x.shape[1]
    packed_kernel[(x.shape[0],)](x, values, indices, N, k, BLOCK=triton.next_power_of_2(N),
                                 TOP=triton.next_power_of_2(k))


@triton.jit
def sorted_kernel(x_ptr, values_ptr, indices_ptr, M, N, K: tl.constexpr, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    rows, cols = tl.program_id(0) * ROWS + tl.arange(0, ROWS), tl.arange(0, BLOCK)
    x = tl.load(x_ptr + rows[:, None] * N + cols[None, :], mask=(rows < M)[:, None] & (cols < N)[None, :],
                other=-float("inf")).to(tl.float32)
    bits = x.to(tl.uint32, bitcast=True)
    sign = bits >> 31
    flipped = bits ^ tl.where(sign == 1, 0xFFFFFFFF, 0x80000000).to(tl.uint32)
    key = (flipped.to(tl.uint64) << 16) | (0xFFFF - cols).to(tl.uint64)[None, :]
    key = tl.sort(key, dim=1, descending=True)
    index = (0xFFFF - (key & 0xFFFF)).to(tl.int64)
    flipped = (key >> 16).to(tl.uint32)
    bits = flipped ^ tl.where(flipped >> 31 == 1, 0x80000000, 0xFFFFFFFF).to(tl.uint32)
    mask = (rows < M)[:, None] & (cols < K)[None, :]
    at = rows[:, None] * K + cols[None, :]
    tl.store(values_ptr + at, bits.to(tl.float32, bitcast=True), mask=mask)
    tl.store(indices_ptr + at, index, mask=mask)


def in_order(x, k, values, indices):
    M, N = x.shape
    sorted_kernel[(triton.cdiv(M, 2),)](x, values, indices, M, N, K=k, ROWS=2, BLOCK=triton.next_power_of_2(N))


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
