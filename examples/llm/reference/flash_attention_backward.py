"""Attention in both directions: O = softmax(Q Kᵀ / √D) V, and the gradients of Q, K and V, no scores in memory.

FLOP: 14·B·S²·D, half of it if causal: two products of scores forward, five backward, of which two are made twice here.
Bytes that must move: Q, K, V, O, dO, dQ, dK and dV once or twice, 2 an element.
"""

import torch
import triton
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor

LOG2_E, LOG_2 = 1.4426950408889634, tl.constexpr(0.6931471805599453)


@triton.jit
def tile_of(desc, head, start, ROWS: tl.constexpr, D: tl.constexpr):
    """Rows from `start` on; those beyond the end are zeros."""
    return desc.load([head, start, 0]).reshape(ROWS, D)


@triton.jit
def forward_kernel(q_desc, k_desc, v_desc, o_desc, lse_ptr, S, scale, CAUSAL: tl.constexpr, TILE_M: tl.constexpr,
                   TILE_N: tl.constexpr, D: tl.constexpr):
    # The tiles with most keys first: a causal grid then ends evenly.
    first = (tl.num_programs(0) - 1 - tl.program_id(0)) * TILE_M
    head = tl.program_id(1)
    q = tile_of(q_desc, head, first, TILE_M, D)
    i = first + tl.arange(0, TILE_M)
    acc = tl.zeros((TILE_M, D), dtype=tl.float32)
    top = tl.full((TILE_M,), -float("inf"), dtype=tl.float32)
    total = tl.zeros((TILE_M,), dtype=tl.float32)
    for start in range(0, min(S, first + TILE_M) if CAUSAL else S, TILE_N):
        j = start + tl.arange(0, TILE_N)[None, :]
        scores = tl.dot(q, tile_of(k_desc, head, start, TILE_N, D).T)
        scores = tl.where((j <= i[:, None]) if CAUSAL else (j < S), scores, -float("inf"))
        larger = tl.maximum(top, tl.max(scores, axis=1) * scale)
        terms = tl.exp2(scores * scale - larger[:, None])
        shrink = tl.exp2(top - larger)
        total = total * shrink + tl.sum(terms, axis=1)
        acc = tl.dot(terms.to(q.dtype), tile_of(v_desc, head, start, TILE_N, D), acc * shrink[:, None])
        top = larger
    o_desc.store([head, first, 0], (acc / total[:, None]).to(q.dtype).reshape(1, TILE_M, D))
    tl.store(lse_ptr + head.to(tl.int64) * S + i, (top + tl.log2(total)) * LOG_2, mask=i < S)


@triton.jit
def queries_kernel(q_desc, k_desc, v_desc, o_desc, do_desc, lse_ptr, delta_ptr, dq_desc, S, scale, log2_e,
                   CAUSAL: tl.constexpr, TILE_M: tl.constexpr, TILE_N: tl.constexpr, D: tl.constexpr):
    """The gradients of a tile of queries, and delta = Σ dO·O of each, which the gradients of keys need."""
    first = (tl.num_programs(0) - 1 - tl.program_id(0)) * TILE_M
    head = tl.program_id(1)
    q = tile_of(q_desc, head, first, TILE_M, D)
    do = tile_of(do_desc, head, first, TILE_M, D)
    i = first + tl.arange(0, TILE_M)
    rows = head.to(tl.int64) * S + i
    delta = tl.sum(do.to(tl.float32) * tile_of(o_desc, head, first, TILE_M, D).to(tl.float32), axis=1)
    tl.store(delta_ptr + rows, delta, mask=i < S)
    # With an infinite logarithm the weights of what lies beyond the end are 0.
    lse = tl.load(lse_ptr + rows, mask=i < S, other=float("inf")) * log2_e
    dq = tl.zeros((TILE_M, D), dtype=tl.float32)
    for start in range(0, min(S, first + TILE_M) if CAUSAL else S, TILE_N):
        j = start + tl.arange(0, TILE_N)[None, :]
        k = tile_of(k_desc, head, start, TILE_N, D)
        weights = tl.exp2(tl.dot(q, k.T) * (scale * log2_e) - lse[:, None])
        weights = tl.where((j <= i[:, None]) if CAUSAL else (j < S), weights, 0.0)
        ds = weights * (tl.dot(do, tile_of(v_desc, head, start, TILE_N, D).T) - delta[:, None])
        dq = tl.dot(ds.to(k.dtype), k, dq)
    dq_desc.store([head, first, 0], (dq * scale).to(q.dtype).reshape(1, TILE_M, D))


@triton.jit
def keys_kernel(q_desc, k_desc, v_desc, do_desc, lse_ptr, delta_ptr, dk_desc, dv_desc, S, scale, log2_e,
                CAUSAL: tl.constexpr, TILE_M: tl.constexpr, TILE_N: tl.constexpr, D: tl.constexpr):
    """The gradients of a tile of keys and of its values: row j of a tile of scores is that of key j here."""
    first = tl.program_id(0) * TILE_N
    head = tl.program_id(1)
    k = tile_of(k_desc, head, first, TILE_N, D)
    v = tile_of(v_desc, head, first, TILE_N, D)
    j = first + tl.arange(0, TILE_N)
    dk = tl.zeros((TILE_N, D), dtype=tl.float32)
    dv = tl.zeros((TILE_N, D), dtype=tl.float32)
    # Earlier queries do not see these keys.
    for start in range(first // TILE_M * TILE_M if CAUSAL else 0, S, TILE_M):
        i = start + tl.arange(0, TILE_M)
        rows = head.to(tl.int64) * S + i
        q = tile_of(q_desc, head, start, TILE_M, D)
        do = tile_of(do_desc, head, start, TILE_M, D)
        lse = tl.load(lse_ptr + rows, mask=i < S, other=float("inf")) * log2_e
        delta = tl.load(delta_ptr + rows, mask=i < S, other=0.0)
        weights = tl.exp2(tl.dot(k, q.T) * (scale * log2_e) - lse[None, :])
        if CAUSAL:
            weights = tl.where(j[:, None] <= i[None, :], weights, 0.0)
        dv = tl.dot(weights.to(do.dtype), do, dv)
        ds = weights * (tl.dot(v, do.T) - delta[None, :])
        dk = tl.dot(ds.to(q.dtype), q, dk)
    dk_desc.store([head, first, 0], (dk * scale).to(k.dtype).reshape(1, TILE_N, D))
    dv_desc.store([head, first, 0], dv.to(v.dtype).reshape(1, TILE_N, D))


def tiles(x: torch.Tensor, rows: int) -> TensorDescriptor:
    """x (B, S, D) in tiles of rows of one head, whatever its strides; what lies beyond a head's end is not written."""
    return TensorDescriptor.from_tensor(x, [1, rows, x.shape[2]])


class FlashAttention(torch.autograd.Function):
    """Q, K, V, O and their gradients: (B, S, D), float16 or bfloat16, D 64 or 128; L: (B, S), float32."""

    @staticmethod
    def forward(ctx, Q, K, V, is_causal=False):
        B, S, D = Q.shape
        O, L = torch.empty_like(Q), torch.empty((B, S), dtype=torch.float32, device=Q.device)
        m, n = 64, 64
        forward_kernel[(triton.cdiv(S, m), B)](
            tiles(Q, m), tiles(K, n), tiles(V, n), tiles(O, m), L, S, D**-0.5 * LOG2_E, CAUSAL=is_causal, TILE_M=m,
            TILE_N=n, D=D, num_warps=4, num_stages=3)
        ctx.save_for_backward(Q, K, V, O, L)
        ctx.is_causal = is_causal
        return O

    @staticmethod
    def backward(ctx, dO):
        Q, K, V, O, L = ctx.saved_tensors
        B, S, D = Q.shape
        dQ, dK, dV, delta = (torch.empty_like(one) for one in (Q, K, V, L))
        m, n = 64, 64
        shared = {"CAUSAL": ctx.is_causal, "TILE_M": m, "TILE_N": n, "D": D, "num_warps": 4, "num_stages": 2}
        queries_kernel[(triton.cdiv(S, m), B)](
            tiles(Q, m), tiles(K, n), tiles(V, n), tiles(O, m), tiles(dO, m), L, delta, tiles(dQ, m), S, D**-0.5,
            LOG2_E, **shared)
        keys_kernel[(triton.cdiv(S, n), B)](
            tiles(Q, m), tiles(K, n), tiles(V, n), tiles(dO, m), L, delta, tiles(dK, n), tiles(dV, n), S, D**-0.5,
            LOG2_E, **shared)
        return dQ, dK, dV, None
