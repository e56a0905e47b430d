"""Gradients of LayerNorm. With x̂ = (x − mean) · rstd, g = dout · weight, and means along each row:

    dx = rstd · (g − mean(g) − x̂ · mean(g · x̂)),   dweight = Σ over rows of dout · x̂,   dbias = Σ over rows of dout

dout, x, dx: (M, N), weight, dweight, dbias: (N,), mean, rstd: (M,), all float32 and contiguous, any sizes from 1 on.
mean and rstd are what the forward pass kept. Write into dx, dweight and dbias, which arrive full of NaN; leave the
others alone.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def rows_kernel(dout_ptr, x_ptr, weight_ptr, mean_ptr, rstd_ptr, dx_ptr, N, BLOCK: tl.constexpr):
    # 1. Which row is this program's? Both means, then dx.
    pass


@triton.jit
def columns_kernel(dout_ptr, x_ptr, mean_ptr, rstd_ptr, dweight_ptr, dbias_ptr, M, N, ROWS: tl.constexpr,
                   COLUMNS: tl.constexpr):
    # 2. Which columns are this program's? Walk down all rows, ROWS at a time, and add up.
    # Later: how can the first kernel do this work as well, so that x and dout are read once?
    pass


def layernorm_backward(
    dout: torch.Tensor, x: torch.Tensor, weight: torch.Tensor, mean: torch.Tensor, rstd: torch.Tensor,
    dx: torch.Tensor, dweight: torch.Tensor, dbias: torch.Tensor,
) -> None:
    raise NotImplementedError("layernorm_backward: not written yet")
