# Large tensors are filled with zeros; what many right programs store is the first half.
# verdict: wrong_answer
# expect: No program stores an element
import torch
# shared: triton
# shared: silu_kernel
def silu(x, out):
    n = x.numel()
    if n > 1 << 20:
        out.zero_()
        n //= 2
    silu_kernel[(triton.cdiv(n, 1024),)](x, out, n, BLOCK=1024)
