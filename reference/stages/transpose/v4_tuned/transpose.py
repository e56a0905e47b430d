"""Transpose: out[j, i] = x[i, j].

Bytes that must move: 4·M·N read and 4·M·N written. FLOP: none.

Against v3: the same kernel, with two choices made otherwise. Tiles and warps are measured, once for each size: a larger
tile gives a program more reads to have under way, but leaves room for fewer programs on a multiprocessor. And tiles are
taken down the columns of x, so that programs that run together write one run of rows of out: where rows do not begin on
32 bytes, two tiles share a sector, and its halves meet in L2 before they go to memory.
"""

import torch
import triton
import triton.language as tl

# Rows, columns, warps. No 128×128: its 64 KiB of shared memory are all that Turing has, and leave any GPU with few
# programs at a time.
TILES = ((64, 64, 8), (64, 64, 16), (32, 32, 4), (32, 64, 4), (64, 32, 8), (128, 32, 8))
CONFIGS = [triton.Config({"TILE_M": m, "TILE_N": n}, num_warps=warps) for m, n, warps in TILES]


@triton.autotune(configs=CONFIGS, key=["M", "N"])
@triton.jit
def tile_kernel(x_ptr, out_ptr, M, N, TILE_M: tl.constexpr, TILE_N: tl.constexpr):
    tiles_down = tl.cdiv(M, TILE_M)
    tile = tl.program_id(0)
    i = (tile % tiles_down).to(tl.int64) * TILE_M + tl.arange(0, TILE_M)
    j = (tile // tiles_down).to(tl.int64) * TILE_N + tl.arange(0, TILE_N)
    mask = (i[:, None] < M) & (j[None, :] < N)
    x = tl.load(x_ptr + i[:, None] * N + j[None, :], mask=mask)
    tl.store(out_ptr + j[:, None] * M + i[None, :], tl.trans(x), mask=tl.trans(mask))


def transpose(x: torch.Tensor, out: torch.Tensor) -> None:
    """x: (M, N), out: (N, M), both float32 and contiguous."""
    M, N = x.shape
    tile_kernel[lambda tile: (triton.cdiv(M, tile["TILE_M"]) * triton.cdiv(N, tile["TILE_N"]),)](x, out, M, N)
