# The answer is right; afterwards the input is changed for whoever compares with it.
# verdict: wrong_answer
# expect: out is right, but x changed
import torch
# shared: triton
# shared: silu_kernel
def silu(x, out):
    silu_kernel[(triton.cdiv(x.numel(), 8192),)](x, out, x.numel(), BLOCK=8192)
    silu_kernel[(triton.cdiv(x.numel(), 8192),)](x, x, x.numel(), BLOCK=8192)
