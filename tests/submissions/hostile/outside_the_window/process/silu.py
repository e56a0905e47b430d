# A process of a pool, forked with the tensors mapped, writes the answer later.
# verdict: policy_violation, runtime_error
import time
from concurrent.futures import ProcessPoolExecutor

import torch
# shared: triton
# shared: silu_kernel
given = {}


def work():
    x, out = given["x"], given["out"]
    time.sleep(0.2)
    silu_kernel[(triton.cdiv(x.numel(), 8192),)](x, out, x.numel(), BLOCK=8192)


def silu(x, out):
    given.update(x=x, out=out)
    silu_kernel[(1,)](x, out, 0, BLOCK=16)
    ProcessPoolExecutor(1).submit(work)
