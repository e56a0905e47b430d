# The kernel is right; the grid has a program for each row.
# expect: starts 3 programs
# expect: covers only the first 3,072
# proved: line 22 makes every case right: a different grid
# never: exchanged
# never: the mask of
import torch
# shared: triton
# shared: masked_kernel
def silu(x, out):
    n = x.numel()
    silu_kernel[(x.shape[0],)](x, out, n, BLOCK=1024)
