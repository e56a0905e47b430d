# The kernel is right; the grid is one program short.
# expect: triton.cdiv
# never: exchanged
# never: the mask of
import torch
# shared: triton
# shared: masked_kernel
def silu(x, out):
    n = x.numel()
    silu_kernel[(triton.cdiv(n, 1024) - 1,)](x, out, n, BLOCK=1024)
