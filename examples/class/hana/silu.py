import triton
import triton.language as tl

from common import BLOCK, ceil_div


@triton.jit
def silu_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n)
    tl.store(out_ptr + i, x / (1 + tl.exp(-x)), mask=i < n)


def silu(x, out):
    silu_kernel[(ceil_div(x.numel(), BLOCK),)](x, out, x.numel(), BLOCK=BLOCK)
