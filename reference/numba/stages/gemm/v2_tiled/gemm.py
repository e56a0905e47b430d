"""Matrix product: out[i, j] = Σ over k of a[i, k] · b[k, j], in fp16, summed in fp32.

2·M·N·K FLOP; bytes that must move: 2·(M·K + K·N + M·N).

Against v1: a block reads tiles of a and b into shared memory once, where each of its threads finds its row and column.
"""

from numba import cuda, float32

TILE = 16


@cuda.jit
def gemm_kernel(a, b, out):
    a_tile = cuda.shared.array((TILE, TILE), float32)
    b_tile = cuda.shared.array((TILE, TILE), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    across = (out.shape[1] + TILE - 1) // TILE
    i, j = cuda.blockIdx.x // across * TILE + ty, cuda.blockIdx.x % across * TILE + tx
    total = float32(0)
    for first in range(0, a.shape[1], TILE):
        a_tile[ty, tx] = float32(a[i, first + tx]) if i < a.shape[0] and first + tx < a.shape[1] else float32(0)
        b_tile[ty, tx] = float32(b[first + ty, j]) if first + ty < b.shape[0] and j < b.shape[1] else float32(0)
        cuda.syncthreads()
        for k in range(TILE):
            total += a_tile[ty, k] * b_tile[k, tx]
        cuda.syncthreads()
    if i < out.shape[0] and j < out.shape[1]:
        out[i, j] = total


def gemm(a, b, out):
    M, N = out.shape
    gemm_kernel[(M + TILE - 1) // TILE * ((N + TILE - 1) // TILE), (TILE, TILE)](a, b, out)
