# The kernel is right; the grid counts blocks of twice its size.
# expect: each has 1,024 of
# expect: the block that the grid is counted with must be the kernel's
# never: exchanged
# never: //
# never: one program
import torch
# shared: triton
# shared: masked_kernel
def silu(x, out):
    n = x.numel()
    silu_kernel[(triton.cdiv(n, 2048),)](x, out, n, BLOCK=1024)
