"""Rotary embedding, in place: of each head x (of q and of k) the pairs x[j], x[j + D/2] are turned by the position of
their token: x[j] · c − x[j + D/2] · s and x[j + D/2] · c + x[j] · s, with c = cos[positions[t], j], s likewise.

q: (T, H, D), k: (T, G, D) bfloat16; positions: (T,) int32, from 0 to P − 1; cos, sin: (P, D/2) float32; contiguous. D
is 16, 64, 80 or 128, the others are any size from 1 on. Change q and k in place; leave the rest alone.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def rope_kernel(x_ptr, positions_ptr, cos_ptr, sin_ptr, heads, D: tl.constexpr, LANES: tl.constexpr):
    # 1. Which head of which token is this program's? How far is it from the beginning of x?
    # 2. Load D/2 numbers of cos and of sin: where does the row of positions[t] begin?
    # 3. Load both halves of the head, in float32. LANES is a power of two: D/2 may be 40.
    # 4. Store both halves, after both were loaded.
    pass


def rope(q: torch.Tensor, k: torch.Tensor, positions: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor) -> None:
    # k may have fewer heads than q: two launches, or one kernel that knows both.
    raise NotImplementedError("rope: not written yet")
