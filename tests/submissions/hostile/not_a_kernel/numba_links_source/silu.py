# The kernel is written in C++, and linked.
# verdict: policy_violation
# expect: not defined in the submission's file
import math

from numba import cuda, float32


SOURCE = """
extern "C" __device__ int silu_of(float *value, float x) { *value = x / (1.0f + expf(-x)); return 0; }
"""
silu_of = cuda.declare_device("silu_of", "float32(float32)", link=cuda.CUSource(SOURCE))


@cuda.jit
def silu_kernel(x, out):
    i = cuda.grid(1)
    if i < x.size:
        out[i] = silu_of(x[i])


def silu(x, out):
    silu_kernel[(x.numel() + 255) // 256, 256](x.view(-1), out.view(-1))
