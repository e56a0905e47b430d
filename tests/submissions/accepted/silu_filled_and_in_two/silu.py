# A fill that nothing needs, then the first half in one launch, the rest in another.
import torch
# shared: triton
@triton.jit
def silu_kernel(x_ptr, out_ptr, first, n, BLOCK: tl.constexpr):
    offsets = first + tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n)
    tl.store(out_ptr + offsets, x * tl.sigmoid(x), mask=offsets < n)


def silu(x, out):
    out.zero_()
    n = x.numel()
    half = n // 2
    if half:
        silu_kernel[(triton.cdiv(half, 1024),)](x, out, 0, half, BLOCK=1024)
    silu_kernel[(triton.cdiv(n - half, 1024),)](x, out, half, n, BLOCK=1024)
