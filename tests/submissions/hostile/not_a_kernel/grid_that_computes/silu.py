# The grid is a function, called in the middle of a launch; this one computes.
# verdict: policy_violation
import torch
import triton
import triton.language as tl


@triton.jit
def show(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + offsets, tl.load(x_ptr + offsets, mask=offsets < n), mask=offsets < n)


def silu(x, out):
    def grid(meta):
        out.copy_(x / (1 + torch.exp(-x)))
        return (1,)

    show[grid](x, out, 1, BLOCK=1024)
