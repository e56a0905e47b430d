# The kernel lies in a file of one's own, which is read and run.
# expect: Each file stands alone
import torch
import triton
import triton.language as tl

exec(open("kernels.py").read())


def silu(x, out):
    n = x.numel()
    silu_kernel[(triton.cdiv(n, 1024),)](x, out, n, BLOCK=1024)
