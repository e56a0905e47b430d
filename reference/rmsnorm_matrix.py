"""RMSNorm of each row: out[i, j] = x[i, j] · weight[j] / √(mean_j(x[i, j]²) + eps).

Bytes that must move: 4·rows·cols of x, as many of out, and 4·cols of weight. FLOP: about 5 an element.
"""

import torch
import triton
import triton.language as tl

MAX_BLOCK = 16384
SMALL = 1024


@triton.jit
def short_rows_kernel(x_ptr, weight_ptr, out_ptr, rows, cols, eps, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    """ROWS whole rows a program, in registers: x is read once."""
    row = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)[:, None]
    lanes = tl.arange(0, BLOCK)[None, :]
    mask = (row < rows) & (lanes < cols)
    # Reads that stay in the cache longer than writes gain 2 % on an H200.
    x = tl.load(x_ptr + row * cols + lanes, mask=mask, other=0.0, eviction_policy="evict_last")
    # Asked for before the sum waits for all threads; read again by every program, so it should stay in the cache.
    weight = tl.load(weight_ptr + lanes, mask=lanes < cols, eviction_policy="evict_last")
    scale = tl.rsqrt(tl.sum(x * x, axis=1, keep_dims=True) / cols + eps)
    tl.store(out_ptr + row * cols + lanes, x * scale * weight, mask=mask)


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
    block = min(triton.next_power_of_2(cols), MAX_BLOCK)
    if cols > MAX_BLOCK:
        long_row_kernel[(rows,)](x, weight, out, cols, eps, BLOCK=block, num_warps=32)
        return
    together = max(SMALL // block, 1)
    # 8 elements a thread, within what a block of threads may have.
    num_warps = min(together * block // 256, 32)
    grid = (triton.cdiv(rows, together),)
    short_rows_kernel[grid](x, weight, out, rows, cols, eps, ROWS=together, BLOCK=block, num_warps=num_warps)
