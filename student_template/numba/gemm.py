"""Matrix product: out[i, j] = Σ over k of a[i, k] · b[k, j].

a: (M, K), b: (K, N), out: (M, N), all float16 and contiguous, any sizes from 1 on. The sum is kept in float32 and
rounded once. Write into out, which arrives full of NaN; leave a and b alone.
"""

from numba import cuda, float32

TILE = 16


@cuda.jit
def gemm_kernel(a, b, out):
    # 1. Which tile of out is this block's, and which element of it this thread's?
    # 2. Start a sum of float32(0).
    # 3. Walk along K in steps of TILE: load a tile of a and a tile of b into shared memory, and add the products of a
    #    row and a column. What must elements past K count as? Where do all threads have to wait for each other?
    # 4. Store the sum, where the element exists.
    pass


def gemm(a, b, out):
    # How many tiles cover M rows and N columns? Launch as gemm_kernel[blocks, (TILE, TILE)](...).
    raise NotImplementedError("gemm: not written yet")
