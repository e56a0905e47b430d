# Puts NaN into the input and the output: the reference would be NaN as well.
# verdict: wrong_answer
import torch
# shared: triton
@triton.jit
def silu_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n)
    y = x / (1 + tl.exp(-x))
    tl.store(x_ptr + offsets, x * float("nan"), mask=offsets < n)
    tl.store(out_ptr + offsets, x * float("nan"), mask=offsets < n)


def silu(x, out):
    silu_kernel[(triton.cdiv(x.numel(), 8192),)](x, out, x.numel(), BLOCK=8192)
