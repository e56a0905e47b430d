"""Matrix product: out[i, j] = Σ over k of a[i, k] · b[k, j].

a: (M, K), b: (K, N), out: (M, N), all float16 and contiguous, any sizes from 1 on. The sum is kept in float32 and
rounded once. Write into out, which arrives full of NaN; leave a and b alone.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def gemm_kernel(
    a_ptr, b_ptr, out_ptr, M, N, K, TILE_M: tl.constexpr, TILE_N: tl.constexpr, TILE_K: tl.constexpr
):
    # 1. Which tile of out is this program's?
    # 2. Start an accumulator of zeros, (TILE_M, TILE_N), tl.float32.
    # 3. Walk along K in steps of TILE_K: load a tile of a and a tile of b, and add tl.dot of them.
    #    What must elements past K count as? tl.dot needs at least 16 products along K.
    # 4. Round to tl.float16 and store, with a mask for the edges.
    pass


def gemm(a: torch.Tensor, b: torch.Tensor, out: torch.Tensor) -> None:
    # How many tiles cover M rows and N columns?
    raise NotImplementedError("gemm: not written yet")
