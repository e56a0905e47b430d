# A pattern asks a tensor for attributes and compares what it gets, with no call in sight.
# verdict: policy_violation, runtime_error
import torch
# shared: triton
# shared: show_kernel
def silu(x, out):
    show[(triton.cdiv(x.numel(), 1024),)](x, out, x.numel(), BLOCK=1024)
    match x[0, 0]:
        case 0.0:
            out.fill_(0.0)
        case torch.Tensor(mT=turned, real=values):
            out.copy_(values / (1 + torch.exp(-values)))
