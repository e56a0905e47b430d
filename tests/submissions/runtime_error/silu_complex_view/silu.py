# A view as complex numbers is passed to a kernel.
# expect: complex64
import torch
# shared: triton
# shared: silu_kernel
def silu(x, out):
    n = x.numel()
    pairs = torch.empty(2 * n, device=x.device).view(torch.complex64)
    silu_kernel[(triton.cdiv(n, 1024),)](pairs, out, n, BLOCK=1024)
