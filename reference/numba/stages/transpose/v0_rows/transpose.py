"""Transpose: out[j, i] = x[i, j].

Bytes that must move: 4·M·N read and 4·M·N written. FLOP: none.

A thread moves a row of x, element after element. Threads that run together are a whole row apart on both sides.
"""

from numba import cuda

THREADS = 64


@cuda.jit
def transpose_kernel(x, out):
    i = cuda.grid(1)
    if i < x.shape[0]:
        for j in range(x.shape[1]):
            out[j, i] = x[i, j]


def transpose(x, out):
    transpose_kernel[(x.shape[0] + THREADS - 1) // THREADS, THREADS](x, out)
