from numba import cuda, float32

TILE = 16


@cuda.jit
def gemm_kernel(a, b, out):
    both = cuda.shared.array(0, float32)
    a_tile, b_tile = both[:TILE * TILE], both[TILE * TILE:]
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    i, j = cuda.blockIdx.y * TILE + ty, cuda.blockIdx.x * TILE + tx
    total = float32(0)
    for first in range(0, a.shape[1], TILE):
        inside = i < a.shape[0] and first + tx < a.shape[1]
        a_tile[ty * TILE + tx] = float32(a[i, first + tx]) if inside else float32(0)
        inside = first + ty < b.shape[0] and j < b.shape[1]
        b_tile[ty * TILE + tx] = float32(b[first + ty, j]) if inside else float32(0)
        cuda.syncthreads()
        for k in range(TILE):
            total += a_tile[ty * TILE + k] * b_tile[k * TILE + tx]
        cuda.syncthreads()
    if i < out.shape[0] and j < out.shape[1]:
        out[i, j] = total


def gemm(a, b, out):
    M, N = out.shape
    blocks = ((N + TILE - 1) // TILE, (M + TILE - 1) // TILE)
    gemm_kernel[blocks, (TILE, TILE), 0, 2 * TILE * TILE * 4](a, b, out)
