"""Rotary embedding in place: each pair (x[j], x[j + D/2]) of a head is turned by the angle of its token's position.

Bytes that must move: q and k read and written once, 4·D of the tables for each position that occurs. FLOP: 6 a pair.
"""

import torch
import triton
import triton.language as tl

PAIRS = 1024


@triton.jit
def _turn(x_ptr, heads, cos, sin, lanes, HALF: tl.constexpr, HEADS: tl.constexpr):
    """Turns all heads of a token, HEADS at a time."""
    for first in range(0, heads, HEADS):
        head = first + tl.arange(0, HEADS)[:, None]
        mask = (head < heads) & (lanes < HALF)
        early_ptr = x_ptr + head * (2 * HALF) + lanes
        early = tl.load(early_ptr, mask=mask).to(tl.float32)
        late = tl.load(early_ptr + HALF, mask=mask).to(tl.float32)
        # Both are read before either is written.
        tl.store(early_ptr, early * cos - late * sin, mask=mask)
        tl.store(early_ptr + HALF, late * cos + early * sin, mask=mask)


@triton.jit
def rope_kernel(
    q_ptr, k_ptr, positions_ptr, cos_ptr, sin_ptr, q_heads, k_heads, HALF: tl.constexpr, LANES: tl.constexpr,
    Q_HEADS: tl.constexpr, K_HEADS: tl.constexpr,
):
    """One program a token, for q and k, so that the tables are read once for both."""
    token = tl.program_id(0).to(tl.int64)
    lanes = tl.arange(0, LANES)[None, :]
    start = tl.load(positions_ptr + token).to(tl.int64) * HALF
    cos = tl.load(cos_ptr + start + lanes, mask=lanes < HALF)
    sin = tl.load(sin_ptr + start + lanes, mask=lanes < HALF)
    _turn(q_ptr + token * q_heads * (2 * HALF), q_heads, cos, sin, lanes, HALF, Q_HEADS)
    _turn(k_ptr + token * k_heads * (2 * HALF), k_heads, cos, sin, lanes, HALF, K_HEADS)


def rope(q: torch.Tensor, k: torch.Tensor, positions: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor) -> None:
    """q: (T, H, D), k: (T, G, D), bfloat16, changed in place; positions: (T,), int32; cos, sin: (P, D/2), float32."""
    T, H, D = q.shape
    G = k.shape[1]
    half = D // 2
    lanes = triton.next_power_of_2(half)
    most = max(PAIRS // lanes, 1)
    # HALF is a constant, so that the compiler knows how rows are aligned.
    rope_kernel[(T,)](
        q, k, positions, cos, sin, H, G, HALF=half, LANES=lanes, Q_HEADS=min(triton.next_power_of_2(H), most),
        K_HEADS=min(triton.next_power_of_2(G), most), num_warps=4)
