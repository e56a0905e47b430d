# The kernel lies in a package of one's own.
# expect: Each file stands alone
import torch
import triton
import triton.language as tl

from .kernels import silu_kernel


def silu(x, out):
    n = x.numel()
    silu_kernel[(triton.cdiv(n, 1024),)](x, out, n, BLOCK=1024)
