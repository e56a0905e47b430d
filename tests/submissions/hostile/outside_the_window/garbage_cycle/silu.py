# A cycle of garbage launches the kernel whenever Python collects it.
# verdict: wrong_answer
import torch
import triton
import triton.language as tl


@triton.jit
def silu_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n)
    tl.store(out_ptr + offsets, x / (1 + tl.exp(-x)), mask=offsets < n)


class Later:
    def __init__(self, x, out):
        self.x, self.out, self.me = x, out, self

    def __del__(self):
        x, out = self.x, self.out
        silu_kernel[(triton.cdiv(x.numel(), 8192),)](x, out, x.numel(), BLOCK=8192)


def silu(x, out):
    silu_kernel[(1,)](x, out, 0, BLOCK=16)
    Later(x, out)
