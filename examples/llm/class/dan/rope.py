# verdict: wrong_answer
# expect: load both, and compute both, before you change either
import torch
import triton
import triton.language as tl


@triton.jit
def head_kernel(x_ptr, positions_ptr, cos_ptr, sin_ptr, heads, HALF: tl.constexpr, LANES: tl.constexpr):
    token, head = tl.program_id(0), tl.program_id(1)
    lanes = tl.arange(0, LANES)
    mask = lanes < HALF
    start = tl.load(positions_ptr + token) * HALF
    cos = tl.load(cos_ptr + start + lanes, mask=mask)
    sin = tl.load(sin_ptr + start + lanes, mask=mask)
    x_ptr += (token.to(tl.int64) * heads + head) * 2 * HALF
    x1 = tl.load(x_ptr + lanes, mask=mask).to(tl.float32)
    x2 = tl.load(x_ptr + HALF + lanes, mask=mask).to(tl.float32)
    x1 = x1 * cos - x2 * sin
    x2 = x2 * cos + x1 * sin
    tl.store(x_ptr + lanes, x1, mask=mask)
    tl.store(x_ptr + HALF + lanes, x2, mask=mask)


def rope(q, k, positions, cos, sin):
    for x in (q, k):
        T, heads, D = x.shape
        head_kernel[(T, heads)](x, positions, cos, sin, heads, HALF=D // 2, LANES=triton.next_power_of_2(D // 2))
