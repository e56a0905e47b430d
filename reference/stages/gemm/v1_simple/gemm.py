"""Matrix product: out[i, j] = Σ_k a[i, k] · b[k, j], fp16 in and out, the sum in fp32.

FLOP: 2·M·N·K. Bytes that must move: 2·(M·K + K·N + M·N).

The first kernel of one's own: one program a tile of out, and the formula as it stands. Each step along K takes a column
of a and a row of b, and adds all their 64×64 products. Each element that is read serves 64 products, so memory is not
the first limit: tensor cores lie idle, and every step waits for two small reads of its own. The elements of a column of
a lie K apart: a sector of 32 bytes comes for the sake of 2, and L1 must keep it for the next 15 steps.
"""

import torch
import triton
import triton.language as tl

TILE = 64


@triton.jit
def product_kernel(a_ptr, b_ptr, out_ptr, M, N, K, TILE: tl.constexpr):
    tiles_n = tl.cdiv(N, TILE)
    # 64 bits, here and in every stage: offsets pass 2^31 in large matrices.
    i = (tl.program_id(0) // tiles_n).to(tl.int64) * TILE + tl.arange(0, TILE)
    j = (tl.program_id(0) % tiles_n).to(tl.int64) * TILE + tl.arange(0, TILE)
    a_ptrs, b_ptrs = a_ptr + i * K, b_ptr + j
    acc = tl.zeros((TILE, TILE), dtype=tl.float32)
    for _ in range(K):
        a = tl.load(a_ptrs, mask=i < M, other=0.0).to(tl.float32)
        b = tl.load(b_ptrs, mask=j < N, other=0.0).to(tl.float32)
        acc += a[:, None] * b[None, :]
        a_ptrs += 1
        b_ptrs += N
    tl.store(out_ptr + i[:, None] * N + j[None, :], acc.to(tl.float16), mask=(i[:, None] < M) & (j[None, :] < N))


def gemm(a: torch.Tensor, b: torch.Tensor, out: torch.Tensor) -> None:
    """a: (M, K), b: (K, N), out: (M, N), all float16 and contiguous."""
    (M, K), N = a.shape, b.shape[1]
    product_kernel[(triton.cdiv(M, TILE) * triton.cdiv(N, TILE),)](a, b, out, M, N, K, TILE=TILE)
