# einops makes a copy where a view will not do.
# expect: copies a view into another layout of memory
import triton
import triton.language as tl
from einops import rearrange


@triton.jit
def copy(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y_ptr + offsets, tl.load(x_ptr + offsets, mask=offsets < n), mask=offsets < n)


def transpose(x, out):
    flat = rearrange(x, "m n -> (n m)")
    copy[(triton.cdiv(x.numel(), 1024),)](flat, out, x.numel(), BLOCK=1024)
