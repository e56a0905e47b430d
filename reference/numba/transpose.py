"""Transpose: out[j, i] = x[i, j].

Bytes that must move: 4·M·N read and 4·M·N written. FLOP: none. Rows of x are contiguous in memory and columns are not,
so each block moves a tile through shared memory: it reads along rows of x and writes along rows of out.
"""

from numba import cuda, float32

TILE = 32
# A column more: elements of one column of the tile lie in different banks.
PITCH = TILE + 1
# Rows of a tile that a block's threads move at once.
ROWS = 8
EACH = TILE // ROWS


@cuda.jit
def transpose_kernel(x, out):
    tile = cuda.shared.array((TILE, PITCH), float32)
    M, N = x.shape
    # A grid's second size is at most 65535, so the tiles are counted along x alone.
    across = (N + TILE - 1) // TILE
    i, j = cuda.blockIdx.x // across * TILE, cuda.blockIdx.x % across * TILE
    column, first = cuda.threadIdx.x, cuda.threadIdx.y
    # All loads of a thread are under way before it stores: one at a time cannot keep the memory busy.
    values = cuda.local.array(EACH, float32)
    for part in range(EACH):
        row = first + part * ROWS
        if i + row < M and j + column < N:
            values[part] = x[i + row, j + column]
    for part in range(EACH):
        row = first + part * ROWS
        if i + row < M and j + column < N:
            tile[row, column] = values[part]
    cuda.syncthreads()
    for part in range(EACH):
        row = first + part * ROWS
        if j + row < N and i + column < M:
            out[j + row, i + column] = tile[column, row]


def transpose(x, out):
    """x: (M, N), out: (N, M), both float32 and contiguous."""
    M, N = x.shape
    tiles = (M + TILE - 1) // TILE * ((N + TILE - 1) // TILE)
    transpose_kernel[tiles, (TILE, ROWS)](x, out)
