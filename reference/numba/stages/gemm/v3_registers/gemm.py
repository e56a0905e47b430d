"""Matrix product: out[i, j] = Σ over k of a[i, k] · b[k, j], in fp16, summed in fp32.

2·M·N·K FLOP; bytes that must move: 2·(M·K + K·N + M·N).

Against v2: a thread computes 4 × 4 elements, and uses each number that it reads from shared memory four times.
"""

from numba import cuda, float32

TILE = 64
STEP = 16
# Two columns more: what the threads of a warp store lies in different banks.
PITCH = TILE + 2
# A thread computes SIDE × SIDE elements, which lie ACROSS apart: threads that run together read neighbours.
SIDE = 4
ACROSS = TILE // SIDE
THREADS = ACROSS * ACROSS


@cuda.jit
def gemm_kernel(a, b, out):
    a_part = cuda.shared.array((STEP, PITCH), float32)
    b_part = cuda.shared.array((STEP, TILE), float32)
    sums = cuda.local.array((SIDE, SIDE), float32)
    M, K = a.shape
    N = b.shape[1]
    across = (N + TILE - 1) // TILE
    top, left = cuda.blockIdx.x // across * TILE, cuda.blockIdx.x % across * TILE
    thread = cuda.threadIdx.x
    x, y = thread % ACROSS, thread // ACROSS
    for p in range(SIDE):
        for q in range(SIDE):
            sums[p, q] = float32(0)
    for first in range(0, K, STEP):
        for p in range(SIDE):
            # Neighbours load along rows of a, and along rows of b; what lies outside adds nothing.
            at = thread + p * THREADS
            row, k = top + at // STEP, first + at % STEP
            a_part[at % STEP, at // STEP] = float32(a[row, k]) if row < M and k < K else float32(0)
            k, column = first + at // TILE, left + at % TILE
            b_part[at // TILE, at % TILE] = float32(b[k, column]) if k < K and column < N else float32(0)
        cuda.syncthreads()
        for k in range(STEP):
            for p in range(SIDE):
                for q in range(SIDE):
                    sums[p, q] += a_part[k, y + p * ACROSS] * b_part[k, x + q * ACROSS]
        cuda.syncthreads()
    for p in range(SIDE):
        for q in range(SIDE):
            row, column = top + y + p * ACROSS, left + x + q * ACROSS
            if row < M and column < N:
                out[row, column] = sums[p, q]


def gemm(a, b, out):
    """a: (M, K), b: (K, N), out: (M, N), all float16 and contiguous."""
    M, N = out.shape
    gemm_kernel[(M + TILE - 1) // TILE * ((N + TILE - 1) // TILE), THREADS](a, b, out)
