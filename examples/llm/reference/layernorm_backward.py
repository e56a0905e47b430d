"""Gradients of LayerNorm. With x̂ = (x − mean) · rstd and g = dout · weight, and means along a row:

    dx = rstd · (g − mean(g) − x̂ · mean(g · x̂)),   dweight = Σ over rows of dout · x̂,   dbias = Σ over rows of dout

Bytes that must move: 8·M·N of dout and x, 4·M·N of dx, and little else. FLOP: about 16 an element.
"""

from functools import cache

import torch
import triton
import triton.language as tl

MAX_BLOCK = 8192
TILE = 4096
# Columns that a program adds up, and rows that it adds at a time.
COLUMNS, STEP = 64, 64


@triton.jit
def rows_kernel(dout_ptr, x_ptr, weight_ptr, mean_ptr, rstd_ptr, dx_ptr, parts_ptr, M, N, ROWS: tl.constexpr,
                BLOCK: tl.constexpr):
    """Every so many rows a program, each read once: dx, and this program's part of dweight and dbias."""
    program = tl.program_id(0)
    lanes = tl.arange(0, BLOCK)[None, :]
    inside = lanes < N
    weight = tl.load(weight_ptr + lanes, mask=inside, other=0.0)
    dweight = tl.zeros((ROWS, BLOCK), dtype=tl.float32)
    dbias = tl.zeros((ROWS, BLOCK), dtype=tl.float32)
    for first in range(program * ROWS, M, tl.num_programs(0) * ROWS):
        row = first + tl.arange(0, ROWS)
        place = row.to(tl.int64)[:, None] * N + lanes
        mask = (row < M)[:, None] & inside
        dout = tl.load(dout_ptr + place, mask=mask, other=0.0)
        x = tl.load(x_ptr + place, mask=mask, other=0.0)
        mean = tl.load(mean_ptr + row, mask=row < M, other=0.0)[:, None]
        rstd = tl.load(rstd_ptr + row, mask=row < M, other=0.0)[:, None]
        normal = (x - mean) * rstd
        # Zero beyond the row's end, since dout is: neither sum sees what normal holds there.
        g = dout * weight
        mean_g = tl.sum(g, axis=1, keep_dims=True) / N
        mean_gx = tl.sum(g * normal, axis=1, keep_dims=True) / N
        tl.store(dx_ptr + place, rstd * (g - mean_g - normal * mean_gx), mask=mask)
        dweight += dout * normal
        dbias += dout
    place = program * 2 * N + tl.arange(0, BLOCK)
    tl.store(parts_ptr + place, tl.sum(dweight, axis=0), mask=tl.arange(0, BLOCK) < N)
    tl.store(parts_ptr + place + N, tl.sum(dbias, axis=0), mask=tl.arange(0, BLOCK) < N)


@triton.jit
def parts_kernel(parts_ptr, dweight_ptr, dbias_ptr, parts, N, COLUMNS: tl.constexpr, STEP: tl.constexpr):
    """Adds the programs' parts, (parts, 2, N): COLUMNS columns a program."""
    column = tl.program_id(0) * COLUMNS + tl.arange(0, COLUMNS)
    total = tl.zeros((STEP, COLUMNS), dtype=tl.float32)
    for first in range(0, parts, STEP):
        part = first + tl.arange(0, STEP)[:, None]
        total += tl.load(parts_ptr + part * 2 * N + column, mask=(part < parts) & (column < 2 * N), other=0.0)
    sums = tl.sum(total, axis=0)
    tl.store(dweight_ptr + column, sums, mask=column < N)
    tl.store(dbias_ptr + column - N, sums, mask=(column >= N) & (column < 2 * N))


@triton.jit
def long_row_kernel(dout_ptr, x_ptr, weight_ptr, mean_ptr, rstd_ptr, dx_ptr, N, BLOCK: tl.constexpr):
    """dx of one row a program, in two passes over it: for rows that do not fit in registers."""
    row = tl.program_id(0)
    start = row.to(tl.int64) * N
    lanes = tl.arange(0, BLOCK)
    mean, rstd = tl.load(mean_ptr + row), tl.load(rstd_ptr + row)
    sum_g = tl.zeros((BLOCK,), dtype=tl.float32)
    sum_gx = tl.zeros((BLOCK,), dtype=tl.float32)
    for first in range(0, N, BLOCK):
        mask = first + lanes < N
        g = tl.load(dout_ptr + start + first + lanes, mask=mask, other=0.0)
        g *= tl.load(weight_ptr + first + lanes, mask=mask, other=0.0)
        sum_g += g
        sum_gx += g * (tl.load(x_ptr + start + first + lanes, mask=mask, other=0.0) - mean) * rstd
    mean_g, mean_gx = tl.sum(sum_g, axis=0) / N, tl.sum(sum_gx, axis=0) / N
    for first in range(0, N, BLOCK):
        mask = first + lanes < N
        g = tl.load(dout_ptr + start + first + lanes, mask=mask) * tl.load(weight_ptr + first + lanes, mask=mask)
        normal = (tl.load(x_ptr + start + first + lanes, mask=mask) - mean) * rstd
        tl.store(dx_ptr + start + first + lanes, rstd * (g - mean_g - normal * mean_gx), mask=mask)


@triton.jit
def columns_kernel(dout_ptr, x_ptr, mean_ptr, rstd_ptr, dweight_ptr, dbias_ptr, M, N, COLUMNS: tl.constexpr,
                   STEP: tl.constexpr):
    """dweight and dbias of COLUMNS columns a program, STEP rows at a time."""
    column = tl.program_id(0) * COLUMNS + tl.arange(0, COLUMNS)
    dweight = tl.zeros((STEP, COLUMNS), dtype=tl.float32)
    dbias = tl.zeros((STEP, COLUMNS), dtype=tl.float32)
    for first in range(0, M, STEP):
        row = first + tl.arange(0, STEP)
        place = row.to(tl.int64)[:, None] * N + column
        mask = (row < M)[:, None] & (column < N)
        dout = tl.load(dout_ptr + place, mask=mask, other=0.0)
        mean = tl.load(mean_ptr + row, mask=row < M, other=0.0)[:, None]
        rstd = tl.load(rstd_ptr + row, mask=row < M, other=0.0)[:, None]
        dweight += dout * (tl.load(x_ptr + place, mask=mask, other=0.0) - mean) * rstd
        dbias += dout
    tl.store(dweight_ptr + column, tl.sum(dweight, axis=0), mask=column < N)
    tl.store(dbias_ptr + column, tl.sum(dbias, axis=0), mask=column < N)


@cache
def _multiprocessors(device: torch.device) -> int:
    return torch.cuda.get_device_properties(device).multi_processor_count


def layernorm_backward(
    dout: torch.Tensor, x: torch.Tensor, weight: torch.Tensor, mean: torch.Tensor, rstd: torch.Tensor,
    dx: torch.Tensor, dweight: torch.Tensor, dbias: torch.Tensor,
) -> None:
    """dout, x, dx: (M, N), weight, dweight, dbias: (N,), mean, rstd: (M,), all float32 and contiguous."""
    M, N = x.shape
    if N > MAX_BLOCK:
        long_row_kernel[(M,)](dout, x, weight, mean, rstd, dx, N, BLOCK=MAX_BLOCK, num_warps=16)
        columns_kernel[(triton.cdiv(N, COLUMNS),)](
            dout, x, mean, rstd, dweight, dbias, M, N, COLUMNS=COLUMNS, STEP=STEP, num_warps=8)
        return
    block = triton.next_power_of_2(N)
    together = max(TILE // block, 1)
    num_warps = 8 if together > 1 else 16
    # As many programs as run at once: each keeps its sums in registers.
    parts = min(triton.cdiv(M, together), (2 if block <= TILE else 1) * _multiprocessors(x.device))
    sums = torch.empty(parts, 2, N, device=x.device, dtype=torch.float32)
    rows_kernel[(parts,)](
        dout, x, weight, mean, rstd, dx, sums, M, N, ROWS=together, BLOCK=block, num_warps=num_warps)
    parts_kernel[(triton.cdiv(2 * N, COLUMNS),)](
        sums, dweight, dbias, parts, N, COLUMNS=COLUMNS, STEP=STEP, num_warps=8)
