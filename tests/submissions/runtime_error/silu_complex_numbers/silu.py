# A dtype that Triton does not have, in a tensor of the host's own.
# expect: kernels have no torch.complex64
# expect: keep the two parts of complex numbers as float32
import torch
# shared: triton
# shared: silu_kernel
def silu(x, out):
    n = x.numel()
    parts = torch.zeros(n, dtype=torch.complex64, device=x.device)
    silu_kernel[(triton.cdiv(n, 1024),)](x, out, n, BLOCK=1024)
    out.copy_(torch.view_as_real(parts)[:, 0].view(out.shape))
