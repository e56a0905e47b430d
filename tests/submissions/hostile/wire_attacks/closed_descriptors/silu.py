# Closes every descriptor it has, and goes on.
# verdict: runtime_error
# expect: closed its channel
import os
import time

import torch
# shared: triton
# shared: silu_kernel
def silu(x, out):
    silu_kernel[(triton.cdiv(x.numel(), 8192),)](x, out, x.numel(), BLOCK=8192)
    os.closerange(0, 256)
    time.sleep(30)
