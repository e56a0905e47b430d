# verdict: accepted
import torch
import triton
import triton.language as tl


@triton.jit
def token_kernel(q_ptr, k_ptr, positions_ptr, cos_ptr, sin_ptr, H, G, D, LANES: tl.constexpr):
    # Whole heads: the other element of a pair is read beside each element, and the sign says which half it is in.
    token = tl.program_id(0).to(tl.int64)
    lanes = tl.arange(0, LANES)
    half = D // 2
    mask = lanes < D
    early = lanes < half
    other = tl.where(early, lanes + half, lanes - half)
    table = tl.load(positions_ptr + token) * half + tl.where(early, lanes, lanes - half)
    cos = tl.load(cos_ptr + table, mask=mask)
    sin = tl.load(sin_ptr + table, mask=mask)
    sin = tl.where(early, -sin, sin)
    for head in range(H + G):
        if head < H:
            x_ptr = q_ptr + (token * H + head) * D
        else:
            x_ptr = k_ptr + (token * G + head - H) * D
        x = tl.load(x_ptr + lanes, mask=mask).to(tl.float32)
        y = tl.load(x_ptr + other, mask=mask).to(tl.float32)
        tl.debug_barrier()
        tl.store(x_ptr + lanes, x * cos + y * sin, mask=mask)


def rope(q, k, positions, cos, sin):
    T, H, D = q.shape
    token_kernel[(T,)](q, k, positions, cos, sin, H, k.shape[1], D, LANES=triton.next_power_of_2(D), num_warps=1)
