# The kernel is right; the grid counts blocks of twice its size.
# expect: covers only the first 5,120
# proved: line 22 makes every case right: a different grid
# never: exchanged
# never: //
# never: one program
import torch
# shared: triton
# shared: masked_kernel
def silu(x, out):
    n = x.numel()
    silu_kernel[(triton.cdiv(n, 2048),)](x, out, n, BLOCK=1024)
