# Imports a module that does not exist for the grader: a helper file of the student's own.
# expect: stands alone
import triton

from my_kernels import silu_kernel


def silu(x, out):
    n = x.numel()
    silu_kernel[(triton.cdiv(n, 1024),)](x, out, n, BLOCK=1024)
