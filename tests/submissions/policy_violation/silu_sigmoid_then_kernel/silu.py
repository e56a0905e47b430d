# PyTorch computes the sigmoid; the kernel only multiplies.
# expect: sigmoid
import torch
# shared: triton
@triton.jit
def multiply(x_ptr, s_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    tl.store(out_ptr + offs, tl.load(x_ptr + offs, mask=mask) * tl.load(s_ptr + offs, mask=mask), mask=mask)


def silu(x, out):
    s = torch.sigmoid(x)
    n = x.numel()
    multiply[(triton.cdiv(n, 1024),)](x, s, out, n, BLOCK=1024)
