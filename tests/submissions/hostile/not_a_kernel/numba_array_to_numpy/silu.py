# NumPy asks for an array's values.
# verdict: policy_violation
# expect: NumPy
import numpy as np
import math

from numba import cuda, float32


@cuda.jit
def silu_kernel(x, out):
    i = cuda.grid(1)
    if i < x.size:
        out[i] = x[i] / (float32(1) + math.exp(-x[i]))


def silu(x, out):
    values = np.asarray(cuda.as_cuda_array(x))
    out[...] = float(values[0, 0])
