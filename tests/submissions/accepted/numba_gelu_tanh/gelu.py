# The formula as it stands, with math.tanh.
import math

from numba import cuda, float32


@cuda.jit
def gelu_kernel(x, out):
    i = cuda.grid(1)
    if i < x.size:
        v = x[i]
        inner = float32(math.sqrt(2 / math.pi)) * (v + float32(0.044715) * v ** 3)
        out[i] = float32(0.5) * v * (float32(1) + math.tanh(inner))


def gelu(x, out):
    gelu_kernel[(x.numel() + 255) // 256, 256](x.view(-1), out.view(-1))
