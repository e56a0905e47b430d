# The `out=` of an operator that looks like a view.
# verdict: policy_violation
import torch
# shared: triton
# shared: show_kernel
def silu(x, out):
    show[(triton.cdiv(x.numel(), 1024),)](x, out, x.numel(), BLOCK=1024)
    torch.sigmoid(x, out=out)
