"""Quantisation of rows to int8: scales[i] = max |x[i]| / 127, values[i, j] = x[i, j] / scales[i], rounded half to even.

Bytes that must move: 2·M·N read, M·N and 4·M written. FLOP: about 4 an element.
"""

import torch
import triton
import triton.language as tl
from triton.language.extra import libdevice

MAX_BLOCK = 16384
SMALL = 2048


@triton.jit
def _rounded(x, largest):
    # A row of zeros has scale 0 and values 0: 127 / 0 would be infinite.
    inverse = tl.where(largest > 0, 127.0 / largest, 0.0)
    return libdevice.rint(x.to(tl.float32) * inverse).to(tl.int8)


@triton.jit
def short_rows_kernel(x_ptr, values_ptr, scales_ptr, M, N, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    """ROWS whole rows a program, in registers: x is read once."""
    row = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)[:, None]
    lanes = tl.arange(0, BLOCK)[None, :]
    mask = (row < M) & (lanes < N)
    x = tl.load(x_ptr + row * N + lanes, mask=mask, other=0.0)
    largest = tl.max(tl.abs(x), axis=1, keep_dims=True).to(tl.float32)
    tl.store(values_ptr + row * N + lanes, _rounded(x, largest), mask=mask)
    tl.store(scales_ptr + row, largest / 127.0, mask=row < M)


@triton.jit
def long_row_kernel(x_ptr, values_ptr, scales_ptr, N, BLOCK: tl.constexpr):
    """One program a row, in two passes over it: for rows that do not fit in registers."""
    start = tl.program_id(0).to(tl.int64) * N
    lanes = tl.arange(0, BLOCK)
    tops = tl.zeros((BLOCK,), dtype=tl.float32)
    for first in range(0, N, BLOCK):
        x = tl.load(x_ptr + start + first + lanes, mask=first + lanes < N, other=0.0)
        tops = tl.maximum(tops, tl.abs(x).to(tl.float32))
    largest = tl.max(tops, axis=0)
    for first in range(0, N, BLOCK):
        mask = first + lanes < N
        x = tl.load(x_ptr + start + first + lanes, mask=mask)
        tl.store(values_ptr + start + first + lanes, _rounded(x, largest), mask=mask)
    tl.store(scales_ptr + tl.program_id(0), largest / 127.0)


def quantize_rows(x: torch.Tensor, values: torch.Tensor, scales: torch.Tensor) -> None:
    """x: (M, N), bfloat16; values: (M, N), int8; scales: (M,), float32; all contiguous."""
    M, N = x.shape
    block = min(triton.next_power_of_2(N), MAX_BLOCK)
    if N > MAX_BLOCK:
        long_row_kernel[(M,)](x, values, scales, N, BLOCK=block, num_warps=32)
        return
    together = max(SMALL // block, 1)
    # 16 elements a thread: 16 bytes of values at once.
    num_warps = min(max(together * block // 512, 1), 32)
    grid = (triton.cdiv(M, together),)
    short_rows_kernel[grid](x, values, scales, M, N, ROWS=together, BLOCK=block, num_warps=num_warps)
