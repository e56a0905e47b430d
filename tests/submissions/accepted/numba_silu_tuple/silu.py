# The sizes as a tuple, numbers of several types, and a local array.
import numpy as np
import math

from numba import cuda, float32


@cuda.jit
def silu_kernel(x, out, sizes, one, flip):
    held = cuda.local.array(2, float32)
    i = cuda.grid(1)
    if i < sizes[0] * sizes[1]:
        held[0] = x[i // sizes[1], i % sizes[1]]
        held[1] = -held[0] if flip else held[0]
        out[i // sizes[1], i % sizes[1]] = held[0] / (one + math.exp(held[1]))


def silu(x, out):
    silu_kernel[(x.numel() + 255) // 256, 256](x, out, tuple(x.shape), np.float32(1), True)
