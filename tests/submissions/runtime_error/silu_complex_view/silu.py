# A view as complex numbers is passed to a kernel.
# expect: complex64
import torch
import triton
import triton.language as tl


@triton.jit
def silu_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n)
    tl.store(out_ptr + offsets, x / (1 + tl.exp(-x)), mask=offsets < n)


def silu(x, out):
    n = x.numel()
    pairs = torch.empty(2 * n, device=x.device).view(torch.complex64)
    silu_kernel[(triton.cdiv(n, 1024),)](pairs, out, n, BLOCK=1024)
