# An exception that cannot be turned into text, and raises on the way.
# verdict: runtime_error
import torch
import triton
import triton.language as tl


@triton.jit
def silu_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n)
    tl.store(out_ptr + offsets, x / (1 + tl.exp(-x)), mask=offsets < n)


class Evil(Exception):
    def __str__(self):
        raise Evil

    __repr__ = __str__


def silu(x, out):
    silu_kernel[(1,)](x, out, 1, BLOCK=16)
    raise Evil
