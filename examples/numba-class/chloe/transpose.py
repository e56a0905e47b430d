from numba import cuda, float32

TILE = 16


@cuda.jit
def transpose_kernel(x, out):
    tile = cuda.shared.array((TILE, TILE), dtype=float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    i, j = cuda.blockIdx.x * TILE + ty, cuda.blockIdx.y * TILE + tx
    if i < x.shape[0] and j < x.shape[1]:
        tile[ty, tx] = x[i, j]
    i, j = cuda.blockIdx.y * TILE + ty, cuda.blockIdx.x * TILE + tx
    if i < out.shape[0] and j < out.shape[1]:
        out[i, j] = tile[tx, ty]


def transpose(x, out):
    M, N = x.shape
    transpose_kernel[((M + TILE - 1) // TILE, (N + TILE - 1) // TILE), (TILE, TILE)](x, out)
