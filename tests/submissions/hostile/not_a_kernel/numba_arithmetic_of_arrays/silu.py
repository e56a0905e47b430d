# Operators of Numba's arrays, as if they were NumPy's.
# verdict: policy_violation
# expect: computes with
import math

from numba import cuda, float32


@cuda.jit
def silu_kernel(x, out):
    i = cuda.grid(1)
    if i < x.size:
        out[i] = x[i] / (float32(1) + math.exp(-x[i]))


def silu(x, out):
    a = cuda.as_cuda_array(x)
    cuda.as_cuda_array(out).copy_to_device(a * a)
