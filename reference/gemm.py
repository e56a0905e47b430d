"""Matrix product: out[i, j] = Σ_k a[i, k] · b[k, j], fp16 in and out, the sum in fp32.

FLOP: 2·M·N·K. Bytes that must move: 2·(M·K + K·N + M·N). In between, each program reads a strip of a and a strip of b:
larger tiles of out reuse them more.
"""

import torch
import triton
import triton.language as tl


def oracle(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """The right answer in float64, of shape (M, N)."""
    return a.double() @ b.double()


@triton.jit
def gemm_kernel(a_ptr, b_ptr, out_ptr, M, N, K, TILE_M: tl.constexpr, TILE_N: tl.constexpr, TILE_K: tl.constexpr,
                GROUP: tl.constexpr):
    # Programs that run together share strips of a and b: GROUP rows of tiles are walked column by column.
    tiles_m, tiles_n = tl.cdiv(M, TILE_M), tl.cdiv(N, TILE_N)
    tile = tl.program_id(0)
    first_m = tile // (GROUP * tiles_n) * GROUP
    group = min(tiles_m - first_m, GROUP)
    tile_m = first_m + tile % (GROUP * tiles_n) % group
    tile_n = tile % (GROUP * tiles_n) // group

    i = tile_m.to(tl.int64) * TILE_M + tl.arange(0, TILE_M)[:, None]
    j = tile_n.to(tl.int64) * TILE_N + tl.arange(0, TILE_N)[None, :]
    lanes = tl.arange(0, TILE_K)
    acc = tl.zeros((TILE_M, TILE_N), dtype=tl.float32)
    for first in range(0, K, TILE_K):
        k = first + lanes
        # Zeros beyond K add nothing; rows and columns beyond M and N are never stored.
        a = tl.load(a_ptr + i * K + k[None, :], mask=(i < M) & (k[None, :] < K), other=0.0)
        b = tl.load(b_ptr + k[:, None].to(tl.int64) * N + j, mask=(k[:, None] < K) & (j < N), other=0.0)
        acc = tl.dot(a, b, acc)
    tl.store(out_ptr + i * N + j, acc.to(tl.float16), mask=(i < M) & (j < N))


def gemm(a: torch.Tensor, b: torch.Tensor, out: torch.Tensor) -> None:
    """a: (M, K), b: (K, N), out: (M, N), all float16 and contiguous."""
    (M, K), N = a.shape, b.shape[1]
    tile, num_warps = (128, 8) if min(M, N) >= 1024 else (64, 4)
    grid = (triton.cdiv(M, tile) * triton.cdiv(N, tile),)
    gemm_kernel[grid](
        a, b, out, M, N, K, TILE_M=tile, TILE_N=tile, TILE_K=32, GROUP=8, num_warps=num_warps, num_stages=3
    )
