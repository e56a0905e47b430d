"""Fatima: half of the assignments so far, the rest next week."""

import triton
import triton.language as tl


@triton.jit
def sigmoid(x):
    # Never takes exp of a positive number, so nothing overflows.
    e = tl.exp(-tl.abs(x))
    return tl.where(x >= 0, 1 / (1 + e), e / (1 + e))


@triton.jit
def silu_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    first = tl.program_id(0).to(tl.int64) * BLOCK
    index = first + tl.arange(0, BLOCK)
    inside = index < n
    x = tl.load(x_ptr + index, mask=inside, other=0.0)
    tl.store(out_ptr + index, x * sigmoid(x), mask=inside)


def silu(x, out):
    silu_kernel[(triton.cdiv(x.numel(), 2048),)](x, out, x.numel(), BLOCK=2048)
