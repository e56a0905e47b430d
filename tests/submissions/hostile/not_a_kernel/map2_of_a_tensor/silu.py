# The same with map2_, which takes two tensors and is hardly known.
# verdict: policy_violation
import torch
# shared: triton
# shared: show_kernel
def silu(x, out):
    show[(triton.cdiv(x.numel(), 1024),)](x, out, x.numel(), BLOCK=1024)
    out.map2_(x, x, lambda _, v, w: v / (1 + 2.718281828459045 ** -w))
