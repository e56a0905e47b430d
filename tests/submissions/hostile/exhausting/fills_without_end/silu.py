# Fills a temporary of 64 GB a thousand times: a line of Python, and an hour of memory's work.
# verdict: memory_limit, time_limit, runtime_error
import torch
# shared: triton
# shared: silu_kernel
def silu(x, out):
    large = torch.empty(1 << 34, device=x.device)
    for value in range(1000):
        large.fill_(value)
    silu_kernel[(triton.cdiv(x.numel(), 1024),)](x, out, x.numel(), BLOCK=1024)
