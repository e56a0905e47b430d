# verdict: wrong_answer
# expect: bfloat16
import torch
import triton
import triton.language as tl
from triton.language.extra import libdevice


@triton.jit
def row_kernel(x_ptr, values_ptr, scales_ptr, N, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    lanes = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * N + lanes, mask=lanes < N, other=0.0)
    scale = (tl.max(tl.abs(x), axis=0) / 127).to(x.dtype)
    q = libdevice.rint(tl.where(scale > 0, x.to(tl.float32) / scale, 0.0))
    tl.store(values_ptr + row * N + lanes, q.to(tl.int8), mask=lanes < N)
    tl.store(scales_ptr + row, scale)


def quantize_rows(x, values, scales):
    M, N = x.shape
    row_kernel[(M,)](x, values, scales, N, BLOCK=triton.next_power_of_2(N))
