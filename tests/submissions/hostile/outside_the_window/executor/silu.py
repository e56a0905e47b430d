# A pool of threads finishes the last tenth of the rows; nobody waits for it.
# verdict: wrong_answer
import time
from concurrent.futures import ThreadPoolExecutor

import torch
# shared: triton
# shared: silu_kernel
pool = ThreadPoolExecutor(2)


def rest(x, out):
    time.sleep(0.2)
    silu_kernel[(triton.cdiv(x.numel(), 8192),)](x, out, x.numel(), BLOCK=8192)


def silu(x, out):
    n = x.numel() - max(x.numel() // 10, 1)
    silu_kernel[(max(triton.cdiv(n, 8192), 1),)](x, out, n, BLOCK=8192)
    pool.submit(rest, x, out)
