# A fill that nothing needs, then even blocks in one launch, odd ones in another.
import torch
# shared: triton
@triton.jit
def silu_kernel(x_ptr, out_ptr, n, FIRST: tl.constexpr, BLOCK: tl.constexpr):
    offsets = (2 * tl.program_id(0) + FIRST) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n)
    tl.store(out_ptr + offsets, x * tl.sigmoid(x), mask=offsets < n)


def silu(x, out):
    out.zero_()
    n = x.numel()
    for first in range(2):
        silu_kernel[(triton.cdiv(n, 2048),)](x, out, n, FIRST=first, BLOCK=1024)
