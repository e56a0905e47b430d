"""Matrix product: out[i, j] = Σ over k of a[i, k] · b[k, j], in fp16, summed in fp32.

2·M·N·K FLOP; bytes that must move: 2·(M·K + K·N + M·N).

Against v0: threads that run together are neighbours along a row, and read b and write out side by side.
"""

from numba import cuda, float32

ACROSS, DOWN = 32, 8


@cuda.jit
def gemm_kernel(a, b, out):
    across = (out.shape[1] + ACROSS - 1) // ACROSS
    i = cuda.blockIdx.x // across * DOWN + cuda.threadIdx.y
    j = cuda.blockIdx.x % across * ACROSS + cuda.threadIdx.x
    if i < out.shape[0] and j < out.shape[1]:
        total = float32(0)
        for k in range(a.shape[1]):
            total += float32(a[i, k]) * float32(b[k, j])
        out[i, j] = total


def gemm(a, b, out):
    M, N = out.shape
    gemm_kernel[(M + DOWN - 1) // DOWN * ((N + ACROSS - 1) // ACROSS), (ACROSS, DOWN)](a, b, out)
