# A forked child returns from the function and answers; the parent sleeps.
# verdict: policy_violation
# expect: os.fork
import os
import time

import torch
# shared: triton
# shared: silu_kernel
def silu(x, out):
    if os.fork():
        time.sleep(30)
    silu_kernel[(triton.cdiv(x.numel(), 8192),)](x, out, x.numel(), BLOCK=8192)
