"""Transpose: out[j, i] = x[i, j].

Bytes that must move: 4·M·N read and 4·M·N written. FLOP: none. Rows of x are contiguous in memory and columns are not,
so each program moves a square tile: it reads along rows of x and writes along rows of out.
"""

import torch
import triton
import triton.language as tl

TILE = 64


def oracle(x: torch.Tensor) -> torch.Tensor:
    """The right answer in float64, of shape (N, M)."""
    return x.double().t()


@triton.jit
def transpose_kernel(x_ptr, out_ptr, M, N, TILE: tl.constexpr):
    # One-dimensional grid: the other two dimensions of a CUDA grid stop at 65535.
    tiles_across = tl.cdiv(N, TILE)
    tile = tl.program_id(0)
    i = (tile // tiles_across).to(tl.int64) * TILE + tl.arange(0, TILE)
    j = (tile % tiles_across).to(tl.int64) * TILE + tl.arange(0, TILE)
    mask = (i[:, None] < M) & (j[None, :] < N)
    x = tl.load(x_ptr + i[:, None] * N + j[None, :], mask=mask)
    tl.store(out_ptr + j[:, None] * M + i[None, :], tl.trans(x), mask=tl.trans(mask))


def transpose(x: torch.Tensor, out: torch.Tensor) -> None:
    """x: (M, N), out: (N, M), both float32 and contiguous."""
    M, N = x.shape
    grid = (triton.cdiv(M, TILE) * triton.cdiv(N, TILE),)
    transpose_kernel[grid](x, out, M, N, TILE=TILE, num_warps=8)
