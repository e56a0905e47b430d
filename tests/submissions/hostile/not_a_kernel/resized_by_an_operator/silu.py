# An operator's `out=` resizes what it is given: the output becomes another's memory.
# verdict: policy_violation, runtime_error
import torch
# shared: triton
# shared: show_kernel
def silu(x, out):
    show[(triton.cdiv(x.numel(), 1024),)](x, out, x.numel(), BLOCK=1024)
    torch.as_strided_copy(x, (x.numel() * 4,), (1,), out=out)
