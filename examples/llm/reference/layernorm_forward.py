"""LayerNorm of each row: out = (x − mean) · rstd · weight + bias, with rstd = 1 / √(variance + eps).

Bytes that must move: 4·M·N of x, as many of out, 8·N of weight and bias, 8·M of mean and rstd. FLOP: about 8 an
element.
"""

import torch
import triton
import triton.language as tl

MAX_BLOCK = 16384
SMALL = 1024


@triton.jit
def short_rows_kernel(x_ptr, weight_ptr, bias_ptr, out_ptr, mean_ptr, rstd_ptr, M, N, eps, ROWS: tl.constexpr,
                      BLOCK: tl.constexpr):
    """ROWS whole rows a program, in registers: x is read once."""
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    lanes = tl.arange(0, BLOCK)[None, :]
    place = row.to(tl.int64)[:, None] * N + lanes
    inside = lanes < N
    mask = (row < M)[:, None] & inside
    x = tl.load(x_ptr + place, mask=mask, other=0.0)
    # Asked for before the sums wait for all threads; read again by every program, so they should stay in the cache.
    weight = tl.load(weight_ptr + lanes, mask=inside, eviction_policy="evict_last")
    bias = tl.load(bias_ptr + lanes, mask=inside, eviction_policy="evict_last")
    mean = tl.sum(x, axis=1) / N
    # Of differences from the mean: the mean of squares minus the squared mean loses its digits where the mean is large.
    centred = tl.where(inside, x - mean[:, None], 0.0)
    rstd = tl.rsqrt(tl.sum(centred * centred, axis=1) / N + eps)
    tl.store(out_ptr + place, centred * rstd[:, None] * weight + bias, mask=mask)
    tl.store(mean_ptr + row, mean, mask=row < M)
    tl.store(rstd_ptr + row, rstd, mask=row < M)


@triton.jit
def long_row_kernel(x_ptr, weight_ptr, bias_ptr, out_ptr, mean_ptr, rstd_ptr, N, eps, BLOCK: tl.constexpr):
    """One program a row, in two passes over it: for rows that do not fit in registers."""
    row = tl.program_id(0)
    start = row.to(tl.int64) * N
    lanes = tl.arange(0, BLOCK)
    # Each lane has a count, a mean and a sum of squared differences of its own (Welford), joined at the end.
    count = tl.zeros((BLOCK,), dtype=tl.float32)
    means = tl.zeros((BLOCK,), dtype=tl.float32)
    squares = tl.zeros((BLOCK,), dtype=tl.float32)
    for first in range(0, N, BLOCK):
        inside = first + lanes < N
        x = tl.load(x_ptr + start + first + lanes, mask=inside, other=0.0)
        count += tl.where(inside, 1.0, 0.0)
        before = tl.where(inside, x - means, 0.0)
        means += before / tl.maximum(count, 1.0)
        squares += before * (x - means)
    mean = tl.sum(means * count, axis=0) / N
    apart = means - mean
    rstd = tl.rsqrt(tl.sum(squares + count * apart * apart, axis=0) / N + eps)
    for first in range(0, N, BLOCK):
        mask = first + lanes < N
        x = tl.load(x_ptr + start + first + lanes, mask=mask)
        weight = tl.load(weight_ptr + first + lanes, mask=mask)
        bias = tl.load(bias_ptr + first + lanes, mask=mask)
        tl.store(out_ptr + start + first + lanes, (x - mean) * rstd * weight + bias, mask=mask)
    tl.store(mean_ptr + row, mean)
    tl.store(rstd_ptr + row, rstd)


def layernorm_forward(x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor, eps: float, out: torch.Tensor,
                      mean: torch.Tensor, rstd: torch.Tensor) -> None:
    """x, out: (M, N), weight, bias: (N,), mean, rstd: (M,), all float32 and contiguous."""
    M, N = x.shape
    block = min(triton.next_power_of_2(N), MAX_BLOCK)
    if N > MAX_BLOCK:
        long_row_kernel[(M,)](x, weight, bias, out, mean, rstd, N, eps, BLOCK=block, num_warps=32)
        return
    together = max(SMALL // block, 1)
    # Up to 32 elements a thread: many loads on their way for few threads that wait for the sums.
    num_warps = max(block // 1024, 4)
    short_rows_kernel[(triton.cdiv(M, together),)](
        x, weight, bias, out, mean, rstd, M, N, eps, ROWS=together, BLOCK=block, num_warps=num_warps)
