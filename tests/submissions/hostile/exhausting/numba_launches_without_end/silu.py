# Launches without end.
# verdict: runtime_error, time_limit
import math

from numba import cuda, float32


@cuda.jit
def silu_kernel(x, out):
    i = cuda.grid(1)
    if i < x.size:
        out[i] = x[i] / (float32(1) + math.exp(-x[i]))


def silu(x, out):
    while True:
        silu_kernel[(x.numel() + 255) // 256, 256](x.view(-1), out.view(-1))
