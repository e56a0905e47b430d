# All of it in half precision, within a tolerance of a per cent.
# verdict: wrong_answer
import torch
# shared: triton
@triton.jit
def silu_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n)
    y = x / (1 + tl.exp(-x))
    h = x.to(tl.float16)
    tl.store(out_ptr + offsets, (h * tl.sigmoid(x).to(tl.float16)).to(tl.float32), mask=offsets < n)


def silu(x, out):
    silu_kernel[(triton.cdiv(x.numel(), 8192),)](x, out, x.numel(), BLOCK=8192)
