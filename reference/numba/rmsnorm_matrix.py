"""RMSNorm of each row: out[i, j] = x[i, j] · weight[j] / √(mean_j(x[i, j]²) + eps).

Bytes that must move: 4·rows·cols of x, as many of out, and 4·cols of weight. FLOP: about 5 an element. A block keeps
its row in shared memory while it sums, so x is read once; rows that do not fit are read twice.
"""

import math

from numba import cuda, float32

THREADS = 256
WARP = 32
EVERYONE = 0xFFFFFFFF
# A block may have 48 KiB of shared memory, of which the sums of its warps take a little.
MOST_KEPT = 12 * 1024 - WARP


@cuda.jit(device=True)
def block_sum(value):
    """The sum of a value over the threads of a block."""
    parts = cuda.shared.array(WARP, float32)
    lane, warp = cuda.threadIdx.x % WARP, cuda.threadIdx.x // WARP
    for step in (16, 8, 4, 2, 1):
        value += cuda.shfl_xor_sync(EVERYONE, value, step)
    if lane == 0:
        parts[warp] = value
    cuda.syncthreads()
    total = float32(0)
    for other in range(THREADS // WARP):
        total += parts[other]
    return total


@cuda.jit
def short_rows_kernel(x, weight, eps, out):
    kept = cuda.shared.array(0, float32)
    row, cols = cuda.blockIdx.x, x.shape[1]
    squares = float32(0)
    for j in range(cuda.threadIdx.x, cols, THREADS):
        # A thread reads back only what it has stored itself.
        kept[j] = x[row, j]
        squares += kept[j] * kept[j]
    scale = float32(1) / math.sqrt(block_sum(squares) / float32(cols) + float32(eps))
    for j in range(cuda.threadIdx.x, cols, THREADS):
        out[row, j] = kept[j] * scale * weight[j]


@cuda.jit
def long_rows_kernel(x, weight, eps, out):
    row, cols = cuda.blockIdx.x, x.shape[1]
    squares = float32(0)
    for j in range(cuda.threadIdx.x, cols, THREADS):
        squares += x[row, j] * x[row, j]
    scale = float32(1) / math.sqrt(block_sum(squares) / float32(cols) + float32(eps))
    for j in range(cuda.threadIdx.x, cols, THREADS):
        out[row, j] = x[row, j] * scale * weight[j]


def rmsnorm_matrix(x, weight, eps, out):
    """x, out: (rows, cols), weight: (cols,), all float32 and contiguous."""
    rows, cols = x.shape
    if cols <= MOST_KEPT:
        short_rows_kernel[rows, THREADS, 0, 4 * cols](x, weight, eps, out)
    else:
        long_rows_kernel[rows, THREADS](x, weight, eps, out)
