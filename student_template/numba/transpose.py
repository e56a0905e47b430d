"""Transpose: out[j, i] = x[i, j].

x: (M, N) float32, out: (N, M) float32, both contiguous, any M and N from 1 on. Write into out, which arrives full of
NaN; leave x alone. Every bit must arrive as it was.
"""

from numba import cuda, float32

TILE = 32


@cuda.jit
def transpose_kernel(x, out):
    # 1. Which tile of x is this block's, and which element of it this thread's? cuda.blockIdx, cuda.threadIdx.
    # 2. Load the tile along rows of x into cuda.shared.array((TILE, TILE), float32), where elements exist.
    # 3. cuda.syncthreads(), then store it along rows of out.
    pass


def transpose(x, out):
    # How many tiles cover M rows and N columns? Launch as transpose_kernel[blocks, (TILE, TILE)](...).
    raise NotImplementedError("transpose: not written yet")
