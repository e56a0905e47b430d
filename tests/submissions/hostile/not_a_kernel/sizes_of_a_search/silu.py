# nonzero has as many rows as there are positive numbers: a bit of the contents for each call.
# verdict: policy_violation
import torch
# shared: triton
# shared: show_kernel
def silu(x, out):
    show[(triton.cdiv(x.numel(), 1024),)](x, out, x.numel(), BLOCK=1024)
    for i in range(x.numel()):
        one = x.view(-1)[i : i + 1]
        out.view(-1)[i].fill_(len(torch.nonzero(one)))
