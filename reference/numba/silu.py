"""SiLU: out = x · σ(x) = x / (1 + exp(−x)), element by element.

Bytes that must move: 4·M·N of x and 4·M·N of out; a few FLOP for each element do not show beside them. Threads that run
together move elements that lie together: matrices are contiguous, so both are taken as vectors.
"""

import math

from numba import cuda, float32

THREADS = 256
# Elements of a thread, which lie THREADS apart: threads that run together move neighbours.
EACH = 4


@cuda.jit
def silu_kernel(x, out):
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
            # exp overflows to infinity for x < −88, and x / infinity is −0.
            out[i] = values[part] / (float32(1) + math.exp(-values[part]))


def silu(x, out):
    """x, out: (M, N) float32, contiguous."""
    silu_kernel[(x.numel() + EACH * THREADS - 1) // (EACH * THREADS), THREADS](x.view(-1), out.view(-1))
