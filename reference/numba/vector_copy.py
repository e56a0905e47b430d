"""Copy of a vector: out[i] = x[i].

Bytes that must move: 4·N read and 4·N written. FLOP: none.
"""

from numba import cuda

THREADS = 256


@cuda.jit
def copy_kernel(x, out):
    i = cuda.grid(1)
    if i < x.size:
        out[i] = x[i]


def vector_copy(x, out):
    """x, out: (N,) float32, contiguous."""
    copy_kernel[(x.numel() + THREADS - 1) // THREADS, THREADS](x, out)
