# Keeps a temporary of a gigabyte for each block, written by a fill: they exist only in the plan.
# verdict: memory_limit, runtime_error
import torch
# shared: triton
# shared: silu_kernel
def silu(x, out):
    kept = [torch.zeros(1 << 28, device=x.device) for _ in range(500)]
    silu_kernel[(triton.cdiv(x.numel(), 1024),)](x, out, x.numel(), BLOCK=1024)
    return kept
