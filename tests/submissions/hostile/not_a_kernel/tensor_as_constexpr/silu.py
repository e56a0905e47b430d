# Passes the tensor as a constant: what the front end does with it happens on the host.
# verdict: runtime_error, policy_violation
import torch
# shared: triton
@triton.jit
def kernel(out_ptr, n, X: tl.constexpr, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + offsets, X.sum().item(), mask=offsets < n)


def silu(x, out):
    kernel[(triton.cdiv(x.numel(), 1024),)](out, x.numel(), X=x, BLOCK=1024)
