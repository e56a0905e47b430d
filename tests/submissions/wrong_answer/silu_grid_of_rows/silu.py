# The kernel is right; the grid has a program for each row.
# expect: starts 3 programs
# expect: each has 1,024 of
# expect: must be the kernel's
# never: exchanged
# never: the mask of
import torch
# shared: triton
# shared: masked_kernel
def silu(x, out):
    n = x.numel()
    silu_kernel[(x.shape[0],)](x, out, n, BLOCK=1024)
