# Counts with PyTorch and NumPy: on sizes, which host code knows.
import numpy as np
import torch
# shared: triton
@triton.jit
def silu_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask, other=0.0)
    tl.store(out_ptr + offsets, x * tl.sigmoid(x), mask=mask)

BLOCK = torch.tensor([512, 1024]).max().item()


def silu(x, out):
    n = int(torch.prod(torch.tensor(x.shape)))
    assert n == int(np.prod(x.shape)) == torch.tensor(x.shape).prod().item()
    programs = torch.tensor(n / BLOCK).ceil().int()
    silu_kernel[(programs,)](x, out, n, BLOCK=BLOCK)
