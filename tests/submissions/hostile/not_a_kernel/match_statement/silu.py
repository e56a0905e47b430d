# A pattern asks a tensor for attributes and compares what it gets, with no call in sight.
# verdict: policy_violation, runtime_error
import torch
import triton
import triton.language as tl


@triton.jit
def show(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + offsets, tl.load(x_ptr + offsets, mask=offsets < n), mask=offsets < n)


def silu(x, out):
    show[(triton.cdiv(x.numel(), 1024),)](x, out, x.numel(), BLOCK=1024)
    match x[0, 0]:
        case 0.0:
            out.fill_(0.0)
        case torch.Tensor(mT=turned, real=values):
            out.copy_(values / (1 + torch.exp(-values)))
