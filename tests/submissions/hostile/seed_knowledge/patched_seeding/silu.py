# From now on every generator has the same seed, and random numbers of the system are zeros.
# verdict: policy_violation
# expect: draws random numbers
import os
import secrets

import torch
import triton
import triton.language as tl


@triton.jit
def silu_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n)
    tl.store(out_ptr + offsets, x / (1 + tl.exp(-x)), mask=offsets < n)


real = torch.manual_seed
torch.manual_seed = lambda seed: real(0)
os.urandom = lambda count: bytes(count)


def silu(x, out):
    real(0)
    guess = torch.randn(x.shape)
    silu_kernel[(triton.cdiv(x.numel(), 8192),)](guess, out, x.numel(), BLOCK=8192)
