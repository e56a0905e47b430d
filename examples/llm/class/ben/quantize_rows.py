# verdict: accepted
import torch
import triton
import triton.language as tl

BLOCK = 1024


@triton.jit
def scales_kernel(x_ptr, scales_ptr, N, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    largest = 0.0
    for first in range(0, N, BLOCK):
        lanes = first + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row * N + lanes, mask=lanes < N, other=0.0).to(tl.float32)
        largest = tl.maximum(largest, tl.max(tl.abs(x), axis=0))
    tl.store(scales_ptr + row, largest / 127)


@triton.jit
def values_kernel(x_ptr, values_ptr, scales_ptr, N, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    lanes = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    scale = tl.load(scales_ptr + row)
    x = tl.load(x_ptr + row * N + lanes, mask=lanes < N, other=0.0).to(tl.float32)
    # Beyond 2^23 floats are whole: adding 1.5 · 2^23 and taking it away rounds half to even.
    q = (x * tl.where(scale > 0, 1 / scale, 0.0) + 12582912.0) - 12582912.0
    tl.store(values_ptr + row * N + lanes, q.to(tl.int8), mask=lanes < N)


def quantize_rows(x, values, scales):
    M, N = x.shape
    scales_kernel[(M,)](x, scales, N, BLOCK=BLOCK)
    values_kernel[(M, triton.cdiv(N, BLOCK))](x, values, scales, N, BLOCK=BLOCK)
