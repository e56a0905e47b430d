# The same count, kept where a new worker might find it again.
# verdict: wrong_answer
import os

import torch
# shared: triton
# shared: silu_kernel
def silu(x, out):
    calls = int(os.environ.get("KERNELMARK_HOSTILE", "0")) + 1
    os.environ["KERNELMARK_HOSTILE"] = str(calls)
    n = x.numel() if calls <= 4 else x.numel() - 1
    silu_kernel[(triton.cdiv(n, 8192),)](x, out, n, BLOCK=8192)
