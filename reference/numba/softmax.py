"""Softmax of each row: out[i, j] = exp(x[i, j] − max_i) / Σ over k of exp(x[i, k] − max_i).

Bytes that must move: 4·rows·cols read and as many written. FLOP: about 5 an element. A block keeps its row in shared
memory, so x is read once; rows that do not fit are read three times.
"""

import math

from numba import cuda, float32

THREADS = 256
WARP = 32
EVERYONE = 0xFFFFFFFF
# A block may have 48 KiB of shared memory, of which maxima and sums of its warps take a little.
MOST_KEPT = 12 * 1024 - 2 * WARP


@cuda.jit(device=True)
def block_maximum(value):
    """The largest value of the threads of a block."""
    parts = cuda.shared.array(WARP, float32)
    lane, warp = cuda.threadIdx.x % WARP, cuda.threadIdx.x // WARP
    for step in (16, 8, 4, 2, 1):
        value = max(value, cuda.shfl_xor_sync(EVERYONE, value, step))
    if lane == 0:
        parts[warp] = value
    cuda.syncthreads()
    for other in range(THREADS // WARP):
        value = max(value, parts[other])
    return value


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
def short_rows_kernel(x, out):
    kept = cuda.shared.array(0, float32)
    row, cols = cuda.blockIdx.x, x.shape[1]
    largest = float32(-math.inf)
    for j in range(cuda.threadIdx.x, cols, THREADS):
        # A thread reads back only what it has stored itself.
        kept[j] = x[row, j]
        largest = max(largest, kept[j])
    largest = block_maximum(largest)
    total = float32(0)
    for j in range(cuda.threadIdx.x, cols, THREADS):
        kept[j] = math.exp(kept[j] - largest)
        total += kept[j]
    total = block_sum(total)
    for j in range(cuda.threadIdx.x, cols, THREADS):
        out[row, j] = kept[j] / total


@cuda.jit
def long_rows_kernel(x, out):
    row, cols = cuda.blockIdx.x, x.shape[1]
    largest = float32(-math.inf)
    for j in range(cuda.threadIdx.x, cols, THREADS):
        largest = max(largest, x[row, j])
    largest = block_maximum(largest)
    total = float32(0)
    for j in range(cuda.threadIdx.x, cols, THREADS):
        total += math.exp(x[row, j] - largest)
    total = block_sum(total)
    for j in range(cuda.threadIdx.x, cols, THREADS):
        out[row, j] = math.exp(x[row, j] - largest) / total


def softmax(x, out):
    """x, out: (rows, cols), float32, contiguous."""
    rows, cols = x.shape
    if cols <= MOST_KEPT:
        short_rows_kernel[rows, THREADS, 0, 4 * cols](x, out)
    else:
        long_rows_kernel[rows, THREADS](x, out)
