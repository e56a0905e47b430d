"""Transpose: out[j, i] = x[i, j].

Bytes that must move: 4·M·N read and 4·M·N written. FLOP: none.

Against v3: a row of the tile has one element more, so that a column lies in 32 banks.
"""

from numba import cuda, float32

TILE = 32
# A column more: elements of one column of the tile lie in different banks.
PITCH = TILE + 1
# Rows of a tile that a block's threads move at once.
ROWS = 8


@cuda.jit
def transpose_kernel(x, out):
    tile = cuda.shared.array((TILE, PITCH), float32)
    M, N = x.shape
    # A grid's second size is at most 65535, so the tiles are counted along x alone.
    across = (N + TILE - 1) // TILE
    i, j = cuda.blockIdx.x // across * TILE, cuda.blockIdx.x % across * TILE
    column, first = cuda.threadIdx.x, cuda.threadIdx.y
    for row in range(first, TILE, ROWS):
        if i + row < M and j + column < N:
            tile[row, column] = x[i + row, j + column]
    cuda.syncthreads()
    for row in range(first, TILE, ROWS):
        if j + row < N and i + column < M:
            out[j + row, i + column] = tile[column, row]


def transpose(x, out):
    """x: (M, N), out: (N, M), both float32 and contiguous."""
    M, N = x.shape
    tiles = (M + TILE - 1) // TILE * ((N + TILE - 1) // TILE)
    transpose_kernel[tiles, (TILE, ROWS)](x, out)
