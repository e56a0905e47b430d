"""Copy of a vector: out[i] = x[i].

Bytes that must move: 4·N read and 4·N written. FLOP: none.
"""

from numba import cuda, float32

THREADS = 256
# Elements of a thread, which lie THREADS apart: threads that run together move neighbours.
EACH = 4


@cuda.jit
def copy_kernel(x, out):
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
            out[i] = values[part]


def vector_copy(x, out):
    """x, out: (N,) float32, contiguous."""
    copy_kernel[(x.numel() + EACH * THREADS - 1) // (EACH * THREADS), THREADS](x, out)
