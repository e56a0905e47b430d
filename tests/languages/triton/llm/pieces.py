# mypy: disable-error-code="untyped-decorator, no-untyped-def, no-untyped-call"
"""Pieces of other kernels: histograms, scans, gathers, loops whose length the data decide."""

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
def offsets_kernel(lengths_ptr, x_ptr, out_ptr, B, BATCH: tl.constexpr, BLOCK: tl.constexpr):
    """The sum of each ragged row; its elements begin where those of the rows before end."""
    b = tl.arange(0, BATCH)
    lengths = tl.load(lengths_ptr + b, mask=b < B, other=0)
    ends = tl.cumsum(lengths, 0)
    row = tl.program_id(0)
    end = tl.sum(tl.where(b == row, ends, 0))
    start = end - tl.load(lengths_ptr + row)
    total = tl.zeros((BLOCK,), tl.float32)
    while start < end:
        at = start + tl.arange(0, BLOCK)
        total += tl.load(x_ptr + at, mask=at < end, other=0.0)
        start += BLOCK
    tl.store(out_ptr + row, tl.sum(total))


def ragged(lengths, x, out):
    offsets_kernel[(lengths.numel(),)](lengths, x, out, lengths.numel(),
                                       BATCH=triton.next_power_of_2(lengths.numel()), BLOCK=16)


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
