# A dtype that Triton does not have, in a tensor of the host's own.
# expect: kernels have no torch.complex64
# expect: keep the two parts of complex numbers as float32
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
    parts = torch.zeros(n, dtype=torch.complex64, device=x.device)
    silu_kernel[(triton.cdiv(n, 1024),)](x, out, n, BLOCK=1024)
    out.copy_(torch.view_as_real(parts)[:, 0].view(out.shape))
