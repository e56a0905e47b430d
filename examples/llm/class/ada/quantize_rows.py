# verdict: accepted
import torch
import triton
import triton.language as tl
from triton.language.extra import libdevice


@triton.jit
def row_kernel(x_ptr, values_ptr, scales_ptr, N, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    lanes = tl.arange(0, BLOCK)
    mask = lanes < N
    x = tl.load(x_ptr + row * N + lanes, mask=mask, other=0.0).to(tl.float32)
    scale = tl.max(tl.abs(x), axis=0) / 127
    tl.store(scales_ptr + row, scale)
    # x is 0 where the scale is.
    q = libdevice.rint(x / tl.where(scale == 0, 1.0, scale))
    tl.store(values_ptr + row * N + lanes, q.to(tl.int8), mask=mask)


def quantize_rows(x: torch.Tensor, values: torch.Tensor, scales: torch.Tensor) -> None:
    M, N = x.shape
    row_kernel[(M,)](x, values, scales, N, BLOCK=triton.next_power_of_2(N), num_warps=8)
