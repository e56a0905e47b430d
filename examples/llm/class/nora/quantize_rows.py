# verdict: wrong_answer
# expect: The quotients are bfloat16
import triton
import triton.language as tl
from triton.language.extra import libdevice


@triton.jit
def quantize_kernel(x_ptr, values_ptr, scales_ptr, N, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    cols = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * N + cols, mask=cols < N, other=0.0).to(tl.float32)
    largest = tl.max(tl.abs(x), axis=0)
    inv = tl.where(largest > 0, 127.0 / largest, 0.0)
    q = x.to(tl.bfloat16) * inv.to(tl.bfloat16)
    tl.store(values_ptr + row * N + cols, libdevice.rint(q.to(tl.float32)).to(tl.int8), mask=cols < N)
    tl.store(scales_ptr + row, largest / 127.0)


def quantize_rows(x, values, scales):
    M, N = x.shape
    quantize_kernel[(M,)](x, values, scales, N, BLOCK=triton.next_power_of_2(N), num_warps=8)
