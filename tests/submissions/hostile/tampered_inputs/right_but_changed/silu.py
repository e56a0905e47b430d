# The answer is right; afterwards the input is changed for whoever compares with it.
# verdict: wrong_answer
# expect: out is right, but x changed
import torch
import triton
import triton.language as tl


@triton.jit
def silu_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n)
    tl.store(out_ptr + offsets, x / (1 + tl.exp(-x)), mask=offsets < n)


def silu(x, out):
    silu_kernel[(triton.cdiv(x.numel(), 8192),)](x, out, x.numel(), BLOCK=8192)
    silu_kernel[(triton.cdiv(x.numel(), 8192),)](x, x, x.numel(), BLOCK=8192)
