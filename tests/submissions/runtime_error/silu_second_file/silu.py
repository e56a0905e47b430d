# The kernel lies in a file of one's own beside this one.
# expect: stands alone
import torch
import triton

from silu_kernels import silu_forward


def silu(x, out):
    silu_forward[(triton.cdiv(x.numel(), 1024),)](x, out, x.numel(), BLOCK=1024)
