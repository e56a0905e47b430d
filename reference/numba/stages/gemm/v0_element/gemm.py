"""Matrix product: out[i, j] = Σ over k of a[i, k] · b[k, j], in fp16, summed in fp32.

2·M·N·K FLOP; bytes that must move: 2·(M·K + K·N + M·N).

A thread computes an element. Threads that run together are neighbours down a column: they read rows of a that lie K
elements apart.
"""

from numba import cuda, float32

SIDE = 16


@cuda.jit
def gemm_kernel(a, b, out):
    i, j = cuda.grid(2)
    if i < out.shape[0] and j < out.shape[1]:
        total = float32(0)
        for k in range(a.shape[1]):
            total += float32(a[i, k]) * float32(b[k, j])
        out[i, j] = total


def gemm(a, b, out):
    M, N = out.shape
    gemm_kernel[((M + SIDE - 1) // SIDE, (N + SIDE - 1) // SIDE), (SIDE, SIDE)](a, b, out)
