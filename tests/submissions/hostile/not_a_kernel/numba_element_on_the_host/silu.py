# Chooses the launch by a value.
# verdict: policy_violation
# expect: reads a number
import math

from numba import cuda, float32


@cuda.jit
def silu_kernel(x, out):
    i = cuda.grid(1)
    if i < x.size:
        out[i] = x[i] / (float32(1) + math.exp(-x[i]))


def silu(x, out):
    first = cuda.as_cuda_array(x)[0, 0]
    if float(first) > 0:
        silu_kernel[(x.numel() + 255) // 256, 256](x.view(-1), out.view(-1))
