"""RMSNorm of every row: one program a row, which stays in registers where it fits."""

import torch
import triton
import triton.language as tl

MAX_BLOCK = 8192


@triton.jit
def rmsnorm_row_kernel(x_ptr, weight_ptr, out_ptr, cols, eps, BLOCK_SIZE: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    offsets = tl.arange(0, BLOCK_SIZE)
    mask = offsets < cols
    x = tl.load(x_ptr + row * cols + offsets, mask=mask, other=0.0)
    rstd = tl.rsqrt(tl.sum(x * x, axis=0) / cols + eps)
    weight = tl.load(weight_ptr + offsets, mask=mask)
    tl.store(out_ptr + row * cols + offsets, x * rstd * weight, mask=mask)


@triton.jit
def rmsnorm_long_row_kernel(x_ptr, weight_ptr, out_ptr, cols, eps, BLOCK_SIZE: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    x_ptr += row * cols
    out_ptr += row * cols
    squares = tl.zeros([BLOCK_SIZE], dtype=tl.float32)
    for start in range(0, cols, BLOCK_SIZE):
        offsets = start + tl.arange(0, BLOCK_SIZE)
        x = tl.load(x_ptr + offsets, mask=offsets < cols, other=0.0)
        squares += x * x
    rstd = tl.rsqrt(tl.sum(squares, axis=0) / cols + eps)
    for start in range(0, cols, BLOCK_SIZE):
        offsets = start + tl.arange(0, BLOCK_SIZE)
        mask = offsets < cols
        x = tl.load(x_ptr + offsets, mask=mask)
        weight = tl.load(weight_ptr + offsets, mask=mask)
        tl.store(out_ptr + offsets, x * rstd * weight, mask=mask)


def rmsnorm_matrix(x: torch.Tensor, weight: torch.Tensor, eps: float, out: torch.Tensor) -> None:
    rows, cols = x.shape
    block = triton.next_power_of_2(cols)
    if block <= MAX_BLOCK:
        rmsnorm_row_kernel[(rows,)](x, weight, out, cols, eps, BLOCK_SIZE=block, num_warps=4 if block < 2048 else 8)
    else:
        rmsnorm_long_row_kernel[(rows,)](x, weight, out, cols, eps, BLOCK_SIZE=4096, num_warps=8)
