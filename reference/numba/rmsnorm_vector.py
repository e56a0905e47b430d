"""RMSNorm of one vector: out = x · weight / √(mean(x²) + eps).

Bytes that must move: 4·N of x, 4·N of weight and 4·N of out; x is needed twice, before and after the sum is known.
FLOP: about 5 an element. No block may scale before all have summed, so there are two launches.
"""

import math

from numba import cuda, float32

THREADS = 256
WARP = 32
EVERYONE = 0xFFFFFFFF


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
def sum_of_squares_kernel(x, parts):
    """A block sums elements that lie a whole grid apart: without atomics, so that the sum is always the same."""
    squares = float32(0)
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        squares += x[i] * x[i]
    total = block_sum(squares)
    if cuda.threadIdx.x == 0:
        parts[cuda.blockIdx.x] = total


@cuda.jit
def scale_kernel(x, weight, eps, parts, out):
    # Every block adds up the few parts again: cheaper than a third launch, if there are not too many blocks.
    thread = cuda.threadIdx.x
    total = block_sum(parts[thread] if thread < parts.size else float32(0))
    scale = float32(1) / math.sqrt(total / float32(x.size) + float32(eps))
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        out[i] = x[i] * scale * weight[i]


def rmsnorm_vector(x, weight, eps, out):
    """x, weight, out: (N,) float32, contiguous."""
    blocks = (x.numel() + THREADS - 1) // THREADS
    parts = cuda.device_array(min(blocks, THREADS), float32)
    sum_of_squares_kernel[parts.size, THREADS](x, parts)
    scale_kernel[min(blocks, 2 * THREADS), THREADS](x, weight, eps, parts, out)
