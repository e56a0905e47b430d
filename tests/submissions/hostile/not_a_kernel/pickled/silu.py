# Pickles the tensor: what comes back should have its numbers.
# verdict: policy_violation, runtime_error
import pickle

import torch
import triton
import triton.language as tl


@triton.jit
def show(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + offsets, tl.load(x_ptr + offsets, mask=offsets < n), mask=offsets < n)


def silu(x, out):
    show[(triton.cdiv(x.numel(), 1024),)](x, out, x.numel(), BLOCK=1024)
    values = pickle.loads(pickle.dumps(x))
    out.copy_(values / (1 + torch.exp(-values)))
