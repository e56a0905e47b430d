# A finalizer computes after the function has returned.
# expect: computes with a tensor
import torch
import triton
import triton.language as tl


@triton.jit
def ghost(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + offsets, tl.load(x_ptr + offsets, mask=offsets < 0), mask=offsets < 0)


class Later:
    def __init__(self, x, out):
        self.x, self.out = x.detach(), out.detach()

    def __del__(self):
        self.out[...] = self.x / (1 + 2.718281828459045 ** -self.x)


def silu(x, out):
    ghost[(1,)](x, out, 1, BLOCK=16)
    out.later = Later(x, out)
