# From now on every generator has the same seed, and random numbers of the system are zeros.
# verdict: policy_violation
# expect: draws random numbers
import os
import secrets

import torch
# shared: triton
# shared: silu_kernel
real = torch.manual_seed
torch.manual_seed = lambda seed: real(0)
os.urandom = lambda count: bytes(count)


def silu(x, out):
    real(0)
    guess = torch.randn(x.shape)
    silu_kernel[(triton.cdiv(x.numel(), 8192),)](guess, out, x.numel(), BLOCK=8192)
