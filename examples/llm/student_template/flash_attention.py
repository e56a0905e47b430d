"""Attention of each head: out = softmax(scale · q kᵀ) v, lse = log Σ exp(scale · q kᵀ) along the keys.

q, k, v, out: (B, H, S, D), all float16 or all bfloat16, D 64 or 128; lse: (B, H, S) float32; contiguous, other sizes
from 1 on. causal: query i sees keys 0 to i alone. Write into out and lse, which arrive full of NaN; leave q, k and v
alone.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def attention_kernel(q_ptr, k_ptr, v_ptr, out_ptr, lse_ptr, S, scale, CAUSAL: tl.constexpr, TILE_M: tl.constexpr,
                     TILE_N: tl.constexpr, D: tl.constexpr):
    # 1. Which head and which TILE_M queries are this program's? Load them once.
    # 2. For each TILE_N keys: scores by tl.dot, scaled; −∞ where a key is not seen, or lies beyond the end.
    # 3. The maximum so far, the sum so far, and an accumulator (TILE_M, D) in float32: when the maximum grows, both of
    #    the latter shrink. Weights go into the second tl.dot in the dtype of v.
    # 4. Divide by the sum, store; lse is the maximum and the sum's logarithm.
    pass


def flash_attention(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, causal: bool, scale: float,
                    out: torch.Tensor, lse: torch.Tensor) -> None:
    raise NotImplementedError("flash_attention: not written yet")
