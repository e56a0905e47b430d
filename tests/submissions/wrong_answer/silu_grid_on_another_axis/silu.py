# The kernel is right; the grid counts programs along an axis that it does not ask for.
# expect: covers only the first 1,024
# never: exchanged
# never: the mask of
# on a gpu: runtime_error, wrong_answer; there its grid for a larger case is more than a GPU takes
import torch
# shared: triton
# shared: masked_kernel
def silu(x, out):
    n = x.numel()
    silu_kernel[(1, triton.cdiv(n, 1024))](x, out, n, BLOCK=1024)
