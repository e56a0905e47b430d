# verdict: wrong_answer
# expect: the other way
import torch
import triton
import triton.language as tl


@triton.jit
def heads_kernel(
    x_ptr, positions_ptr, cos_ptr, sin_ptr, heads, HALF: tl.constexpr, HEADS: tl.constexpr, LANES: tl.constexpr
):
    token = tl.program_id(0)
    head, lanes = tl.arange(0, HEADS)[:, None], tl.arange(0, LANES)[None, :]
    mask = (head < heads) & (lanes < HALF)
    table = tl.load(positions_ptr + token) * HALF + lanes
    cos = tl.load(cos_ptr + table, mask=lanes < HALF)
    sin = tl.load(sin_ptr + table, mask=lanes < HALF)
    at = x_ptr + (token * heads + head) * 2 * HALF + lanes
    x1 = tl.load(at, mask=mask).to(tl.float32)
    x2 = tl.load(at + HALF, mask=mask).to(tl.float32)
    tl.store(at, x1 * cos + x2 * sin, mask=mask)
    tl.store(at + HALF, x2 * cos - x1 * sin, mask=mask)


def rope(q, k, positions, cos, sin):
    for x in (q, k):
        T, heads, D = x.shape
        heads_kernel[(T,)](x, positions, cos, sin, heads, HALF=D // 2, HEADS=triton.next_power_of_2(heads),
                           LANES=triton.next_power_of_2(D // 2))
