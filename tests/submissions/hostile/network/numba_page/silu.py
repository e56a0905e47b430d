# Fetches a page.
# verdict: policy_violation, runtime_error
# expect: network
from urllib.request import urlopen

import math

from numba import cuda, float32


@cuda.jit
def silu_kernel(x, out):
    i = cuda.grid(1)
    if i < x.size:
        out[i] = x[i] / (float32(1) + math.exp(-x[i]))


def silu(x, out):
    urlopen("http://127.0.0.1:80/").read()
    silu_kernel[(x.numel() + 255) // 256, 256](x.view(-1), out.view(-1))
