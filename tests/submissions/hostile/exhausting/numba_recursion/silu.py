# A device function calls itself.
# verdict: runtime_error, time_limit
import math

from numba import cuda, float32


@cuda.jit(device=True)
def deep(n):
    return deep(n - 1) + deep(n - 2) if n > 1 else 1


@cuda.jit
def silu_kernel(x, out):
    out[cuda.grid(1) % x.size] = deep(x.size)


def silu(x, out):
    silu_kernel[(x.numel() + 255) // 256, 256](x.view(-1), out.view(-1))
