# Streams and events, and a second array.
import math

from numba import cuda, float32


@cuda.jit
def negative_kernel(x, y):
    i = cuda.grid(1)
    if i < x.size:
        y[i] = math.exp(-x[i])


@cuda.jit
def quotient_kernel(x, y, out):
    i = cuda.grid(1)
    if i < x.size:
        out[i] = x[i] / (float32(1) + y[i])


def silu(x, out):
    one, other = cuda.stream(), cuda.stream()
    n = x.numel()
    y = cuda.device_array(n, dtype=float32)
    done = cuda.event()
    negative_kernel[(n + 255) // 256, 256, one](x.view(-1), y)
    done.record(one)
    done.wait(other)
    quotient_kernel[(n + 255) // 256, 256, other](x.view(-1), y, out.view(-1))
    other.synchronize()
