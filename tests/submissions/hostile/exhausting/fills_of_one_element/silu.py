# Sixteen thousand fills of one element of a large tensor, after each of which all of it would be looked at.
# verdict: wrong_answer, time_limit, runtime_error
import torch
# shared: triton
# shared: silu_kernel
def silu(x, out):
    n = x.numel()
    large = torch.empty(1 << 24, device=x.device)
    for _ in range(16_000):
        large[:1] = 0
    silu_kernel[(triton.cdiv(n, 1024),)](x, out, n - 1, BLOCK=1024)
