# Computes in a finalizer, whose exceptions Python prints and forgets; the kernel only copies.
# verdict: policy_violation, wrong_answer
import torch
import triton
import triton.language as tl


@triton.jit
def show(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + offsets, tl.load(x_ptr + offsets, mask=offsets < n), mask=offsets < n)


class Later:
    def __init__(self, x, out):
        self.x, self.out = x, out

    def __del__(self):
        self.out.copy_(self.x / (1 + torch.exp(-self.x)))


def silu(x, out):
    show[(triton.cdiv(x.numel(), 1024),)](x, out, x.numel(), BLOCK=1024)
    Later(x, out)
