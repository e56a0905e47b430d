"""RMSNorm of each row: out[i, j] = x[i, j] · weight[j] / √(mean_j(x[i, j]²) + eps).

Bytes that must move: 4·rows·cols of x, as many of out, and 4·cols of weight. FLOP: about 5 an element.
"""

import torch
import triton
import triton.language as tl

MAX_BLOCK = 16384


def oracle(x: torch.Tensor, weight: torch.Tensor, eps: float) -> torch.Tensor:
    """The right answer in float64, of x's shape (rows, cols)."""
    x = x.double()
    return x * weight.double() / torch.sqrt(x.square().mean(dim=1, keepdim=True) + eps)


@triton.jit
def short_row_kernel(x_ptr, weight_ptr, out_ptr, cols, eps, BLOCK: tl.constexpr):
    """One program a row, the whole row in registers: x is read once."""
    start = tl.program_id(0).to(tl.int64) * cols
    lanes = tl.arange(0, BLOCK)
    mask = lanes < cols
    x = tl.load(x_ptr + start + lanes, mask=mask, other=0.0)
    weight = tl.load(weight_ptr + lanes, mask=mask)
    scale = tl.rsqrt(tl.sum(x * x, axis=0) / cols + eps)
    tl.store(out_ptr + start + lanes, x * scale * weight, mask=mask)


@triton.jit
def long_row_kernel(x_ptr, weight_ptr, out_ptr, cols, eps, BLOCK: tl.constexpr):
    """One program a row, in two passes over it: for rows that do not fit in registers."""
    start = tl.program_id(0).to(tl.int64) * cols
    lanes = tl.arange(0, BLOCK)
    squares = tl.zeros((BLOCK,), dtype=tl.float32)
    for first in range(0, cols, BLOCK):
        x = tl.load(x_ptr + start + first + lanes, mask=first + lanes < cols, other=0.0)
        squares += x * x
    scale = tl.rsqrt(tl.sum(squares, axis=0) / cols + eps)
    for first in range(0, cols, BLOCK):
        mask = first + lanes < cols
        x = tl.load(x_ptr + start + first + lanes, mask=mask)
        weight = tl.load(weight_ptr + first + lanes, mask=mask)
        tl.store(out_ptr + start + first + lanes, x * scale * weight, mask=mask)


def rmsnorm_matrix(x: torch.Tensor, weight: torch.Tensor, eps: float, out: torch.Tensor) -> None:
    """x, out: (rows, cols), weight: (cols,), all float32 and contiguous."""
    rows, cols = x.shape
    kernel = short_row_kernel if cols <= MAX_BLOCK else long_row_kernel
    block = min(triton.next_power_of_2(cols), MAX_BLOCK)
    # About 8 elements a thread, within what a block of threads may have.
    num_warps = min(max(block // 256, 1), 32)
    kernel[(rows,)](x, weight, out, cols, eps, BLOCK=block, num_warps=num_warps)
