"""GELU in its tanh form: out = x/2 · (1 + tanh(√(2/π) · (x + 0.044715 x³))), element by element.

Bytes that must move: 4·M·N read and 4·M·N written. FLOP: about 9 an element, so memory decides the time.
"""

import math

from numba import cuda, float32

THREADS = 256
# Elements of a thread, which lie THREADS apart: threads that run together move neighbours.
EACH = 4


@cuda.jit(device=True)
def _gelu(value):
    # x/2 · (1 + tanh u) = x / (1 + exp(−2u)): one exponential, and nothing cancels.
    twice = float32(1.5957691216057308) * (value + float32(0.044715) * value * value * value)
    return value / (float32(1) + math.exp(-twice))


@cuda.jit
def gelu_kernel(x, out):
    # All loads of a thread are under way before its first store: one at a time cannot keep the memory busy.
    values = cuda.local.array(EACH, float32)
    start = cuda.blockIdx.x * EACH * THREADS + cuda.threadIdx.x
    for part in range(EACH):
        i = start + part * THREADS
        if i < x.size:
            values[part] = x[i]
    for part in range(EACH):
        i = start + part * THREADS
        if i < x.size:
            out[i] = _gelu(values[part])


def gelu(x, out):
    """x, out: (M, N) float32, contiguous."""
    gelu_kernel[(x.numel() + EACH * THREADS - 1) // (EACH * THREADS), THREADS](x.view(-1), out.view(-1))
