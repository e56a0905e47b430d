"""Transpose: out[j, i] = x[i, j].

x: (M, N) float32, out: (N, M) float32, both contiguous, any M and N from 1 on. Write into out, which arrives full of
NaN; leave x alone. Every bit must arrive as it was.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def transpose_kernel(x_ptr, out_ptr, M, N, TILE: tl.constexpr):
    # 1. Which tile of x is this program's? Make its row and column numbers with tl.arange.
    # 2. rows[:, None] * N + columns[None, :] are the offsets of the tile in x. Which of them exist?
    # 3. Where does the tile go in out, whose rows have M elements? tl.trans transposes a tile.
    pass


def transpose(x: torch.Tensor, out: torch.Tensor) -> None:
    # How many tiles cover M rows and N columns?
    raise NotImplementedError("transpose: not written yet")
