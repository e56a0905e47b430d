# Does the work and never returns.
# verdict: time_limit
import threading

import torch
# shared: triton
# shared: silu_kernel
def silu(x, out):
    silu_kernel[(triton.cdiv(x.numel(), 8192),)](x, out, x.numel(), BLOCK=8192)
    threading.Event().wait()
