"""Matrix product: out[i, j] = Σ_k a[i, k] · b[k, j], fp16 in and out, the sum in fp32.

FLOP: 2·M·N·K. Bytes that must move: 2·(M·K + K·N + M·N).

Against v1: 32 steps along K at once. Tiles of a and b are read along their rows, so that sectors are used in full, and
tl.dot multiplies them: from Ampere on with tensor cores, at many times the rate of fp32 arithmetic. There is no
pipeline yet (num_stages=1): while a program's tiles are on their way its tensor cores wait, and the other way round.
"""

import torch
import triton
import triton.language as tl

TILE, TILE_K = 64, 32


@triton.jit
def tile_kernel(a_ptr, b_ptr, out_ptr, M, N, K, TILE: tl.constexpr, TILE_K: tl.constexpr):
    tiles_n = tl.cdiv(N, TILE)
    i = (tl.program_id(0) // tiles_n).to(tl.int64) * TILE + tl.arange(0, TILE)[:, None]
    j = (tl.program_id(0) % tiles_n).to(tl.int64) * TILE + tl.arange(0, TILE)[None, :]
    lanes = tl.arange(0, TILE_K).to(tl.int64)
    acc = tl.zeros((TILE, TILE), dtype=tl.float32)
    for first in range(0, K, TILE_K):
        k = first + lanes
        # Zeros beyond K add nothing; rows and columns beyond M and N are never stored.
        a = tl.load(a_ptr + i * K + k[None, :], mask=(i < M) & (k[None, :] < K), other=0.0)
        b = tl.load(b_ptr + k[:, None] * N + j, mask=(k[:, None] < K) & (j < N), other=0.0)
        acc = tl.dot(a, b, acc)
    tl.store(out_ptr + i * N + j, acc.to(tl.float16), mask=(i < M) & (j < N))


def gemm(a: torch.Tensor, b: torch.Tensor, out: torch.Tensor) -> None:
    """a: (M, K), b: (K, N), out: (M, N), all float16 and contiguous."""
    (M, K), N = a.shape, b.shape[1]
    grid = (triton.cdiv(M, TILE) * triton.cdiv(N, TILE),)
    tile_kernel[grid](a, b, out, M, N, K, TILE=TILE, TILE_K=TILE_K, num_stages=1)
