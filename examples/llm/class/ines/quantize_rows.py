# verdict: wrong_answer
# expect: the largest of the blocks so far
import torch
import triton
import triton.language as tl
from triton.language.extra import libdevice


@triton.jit
def quantize_kernel(x_ptr, values_ptr, scales_ptr, N, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    largest = 0.0
    for start in range(0, N, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row * N + cols, mask=cols < N, other=0.0).to(tl.float32)
        largest = tl.maximum(largest, tl.max(tl.abs(x), axis=0))
        scale = largest / 127.0
        q = tl.where(largest > 0, libdevice.rint(x / scale), 0.0)
        tl.store(values_ptr + row * N + cols, q.to(tl.int8), mask=cols < N)
    tl.store(scales_ptr + row, largest / 127.0)


def quantize_rows(x: torch.Tensor, values: torch.Tensor, scales: torch.Tensor) -> None:
    M, N = x.shape
    quantize_kernel[(M,)](x, values, scales, N, BLOCK=256)
