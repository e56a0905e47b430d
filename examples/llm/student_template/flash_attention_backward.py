"""Attention with its gradients, as a torch.autograd.Function: O = softmax(Q Kᵀ / √D) V.

Q, K, V, O, dO, dQ, dK, dV: (B, S, D), all float16 or all bfloat16, D 64 or 128; L: (B, S) float32; sizes from 1 on.
is_causal: query i sees keys 0 to i alone. All are contiguous but dO, whose strides may be others. Leave Q, K, V and dO
alone.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def forward_kernel(q_ptr, k_ptr, v_ptr, o_ptr, lse_ptr, S, scale, CAUSAL: tl.constexpr, TILE_M: tl.constexpr,
                   TILE_N: tl.constexpr, D: tl.constexpr):
    # For a tile of queries, along the keys: out and L, the logarithm of the sum of exp(scores).
    pass


@triton.jit
def backward_kernel(q_ptr, k_ptr, v_ptr, o_ptr, do_ptr, lse_ptr, dq_ptr, dk_ptr, dv_ptr, S, scale,
                    CAUSAL: tl.constexpr, TILE_M: tl.constexpr, TILE_N: tl.constexpr, D: tl.constexpr):
    # With P = exp(scores − L) and delta[i] = Σ over d of dO[i, d] · O[i, d]:
    #   dV = Pᵀ dO;  dP = dO Vᵀ;  dS = P ∘ (dP − delta);  dQ = dS K / √D;  dK = dSᵀ Q / √D.
    # dQ is a sum over keys, dK and dV are sums over queries: two kernels may be easier than one.
    pass


class FlashAttention(torch.autograd.Function):
    @staticmethod
    def forward(ctx, Q, K, V, is_causal=False):
        # Allocate O and L, launch, ctx.save_for_backward(Q, K, V, O, L), ctx.is_causal = is_causal, return O.
        raise NotImplementedError("FlashAttention: not written yet")

    @staticmethod
    def backward(ctx, dO):
        # Q, K, V, O, L = ctx.saved_tensors; allocate, launch, return dQ, dK, dV, None.
        raise NotImplementedError("FlashAttention: not written yet")
