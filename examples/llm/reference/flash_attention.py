"""Attention of each head: O = softmax(scale · Q Kᵀ) V and L = log Σ exp(scale · q·k), scores never written to memory.

FLOP: 4·B·H·S²·D, half of it if causal. Bytes that must move: Q, K, V and O once, 2 an element, and 4 for each of L.
"""

import torch
import triton
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor

LOG2_E, LOG_2 = 1.4426950408889634, tl.constexpr(0.6931471805599453)


@triton.jit
def keys_kernel(acc, top, total, q, k_desc, v_desc, head, i, first, end, S, scale, MASKED: tl.constexpr,
                CAUSAL: tl.constexpr, TILE_N: tl.constexpr, D: tl.constexpr):
    """Adds the keys from `first` to `end`: each row has its largest score so far, and sums that belong to it."""
    for start in range(first, end, TILE_N):
        k = k_desc.load([head, start, 0]).reshape(TILE_N, D)
        scores = tl.dot(q, k.T)
        if MASKED:
            j = start + tl.arange(0, TILE_N)[None, :]
            seen = (j <= i[:, None]) if CAUSAL else (j < S)
            scores = tl.where(seen, scores, -float("inf"))
        # exp2 of (score · scale − top): one fused product and difference for each score.
        larger = tl.maximum(top, tl.max(scores, axis=1) * scale)
        terms = tl.exp2(scores * scale - larger[:, None])
        shrink = tl.exp2(top - larger)
        total = total * shrink + tl.sum(terms, axis=1)
        acc = acc * shrink[:, None]
        v = v_desc.load([head, start, 0]).reshape(TILE_N, D)
        acc = tl.dot(terms.to(v.dtype), v, acc)
        top = larger
    return acc, top, total


@triton.jit
def attention_kernel(q_desc, k_desc, v_desc, out_desc, lse_ptr, S, scale, CAUSAL: tl.constexpr, TILE_M: tl.constexpr,
                     TILE_N: tl.constexpr, D: tl.constexpr):
    # The tiles with most keys first: a causal grid then ends evenly.
    tile = tl.num_programs(0) - 1 - tl.program_id(0)
    head = tl.program_id(1)
    q = q_desc.load([head, tile * TILE_M, 0]).reshape(TILE_M, D)
    i = tile * TILE_M + tl.arange(0, TILE_M)
    acc = tl.zeros((TILE_M, D), dtype=tl.float32)
    top = tl.full((TILE_M,), -float("inf"), dtype=tl.float32)
    total = tl.zeros((TILE_M,), dtype=tl.float32)
    # Blocks of keys that all rows of the tile see need no mask.
    if CAUSAL:
        whole = tile * TILE_M // TILE_N * TILE_N
        end = min(S, (tile + 1) * TILE_M)
    else:
        whole = S // TILE_N * TILE_N
        end = S
    acc, top, total = keys_kernel(acc, top, total, q, k_desc, v_desc, head, i, 0, whole, S, scale, False, CAUSAL,
                                  TILE_N, D)
    acc, top, total = keys_kernel(acc, top, total, q, k_desc, v_desc, head, i, whole, end, S, scale, True, CAUSAL,
                                  TILE_N, D)
    out = (acc / total[:, None]).to(q.dtype)
    out_desc.store([head, tile * TILE_M, 0], out.reshape(1, TILE_M, D))
    tl.store(lse_ptr + head.to(tl.int64) * S + i, (top + tl.log2(total)) * LOG_2, mask=i < S)


def flash_attention(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, causal: bool, scale: float,
                    out: torch.Tensor, lse: torch.Tensor) -> None:
    """q, k, v, out: (B, H, S, D), float16 or bfloat16, D 64 or 128; lse: (B, H, S), float32; all contiguous."""
    B, H, S, D = q.shape
    # Several small programs on each multiprocessor: one computes exponentials while another multiplies.
    tile_m, tile_n, num_stages = (64, 128, 2) if D == 64 else (64, 64, 3) if causal else (64, 128, 1)

    def tiles(x, rows):
        # What lies beyond a head's end is read as zeros, and not written.
        return TensorDescriptor.from_tensor(x.view(B * H, S, D), [1, rows, D])

    attention_kernel[(triton.cdiv(S, tile_m), B * H)](
        tiles(q, tile_m), tiles(k, tile_n), tiles(v, tile_n), tiles(out, tile_m), lse, S, scale * LOG2_E,
        CAUSAL=causal, TILE_M=tile_m, TILE_N=tile_n, D=D, num_warps=4, num_stages=num_stages,
    )  # fmt: skip
