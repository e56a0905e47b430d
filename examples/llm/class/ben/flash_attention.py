# verdict: accepted
import triton
import triton.language as tl


@triton.jit
def scores(q, k_ptr, first, i, S, scale, CAUSAL: tl.constexpr, TILE: tl.constexpr, D: tl.constexpr):
    j = first + tl.arange(0, TILE)
    k = tl.load(k_ptr + j[None, :] * D + tl.arange(0, D)[:, None], mask=j[None, :] < S, other=0.0)
    seen = j[None, :] < S
    if CAUSAL:
        seen = seen & (j[None, :] <= i[:, None])
    return tl.where(seen, tl.dot(q, k) * scale, -1e30)


@triton.jit
def lse_kernel(q_ptr, k_ptr, lse_ptr, S, scale, CAUSAL: tl.constexpr, TILE: tl.constexpr, D: tl.constexpr):
    """The first pass over the keys: largest score and sum."""
    head = tl.program_id(1).to(tl.int64) * S
    i = tl.program_id(0) * TILE + tl.arange(0, TILE)
    q = tl.load(q_ptr + (head + i[:, None]) * D + tl.arange(0, D)[None, :], mask=i[:, None] < S, other=0.0)
    top = tl.full((TILE,), -1e30, dtype=tl.float32)
    total = tl.zeros((TILE,), dtype=tl.float32)
    end = tl.minimum(S, (tl.program_id(0) + 1) * TILE) if CAUSAL else S
    for first in range(0, end, TILE):
        s = scores(q, k_ptr + head * D, first, i, S, scale, CAUSAL, TILE, D)
        larger = tl.maximum(top, tl.max(s, axis=1))
        total = total * tl.exp(top - larger) + tl.sum(tl.exp(s - larger[:, None]), axis=1)
        top = larger
    tl.store(lse_ptr + head + i, top + tl.log(total), mask=i < S)


@triton.jit
def out_kernel(q_ptr, k_ptr, v_ptr, out_ptr, lse_ptr, S, scale, CAUSAL: tl.constexpr, TILE: tl.constexpr,
               D: tl.constexpr):
    """The second: weights are exp(score - lse), and add up to 1."""
    head = tl.program_id(1).to(tl.int64) * S
    i = tl.program_id(0) * TILE + tl.arange(0, TILE)
    d = tl.arange(0, D)[None, :]
    q = tl.load(q_ptr + (head + i[:, None]) * D + d, mask=i[:, None] < S, other=0.0)
    lse = tl.load(lse_ptr + head + i, mask=i < S, other=0.0)
    acc = tl.zeros((TILE, D), dtype=tl.float32)
    end = tl.minimum(S, (tl.program_id(0) + 1) * TILE) if CAUSAL else S
    for first in range(0, end, TILE):
        j = first + tl.arange(0, TILE)[:, None]
        p = tl.exp(scores(q, k_ptr + head * D, first, i, S, scale, CAUSAL, TILE, D) - lse[:, None])
        v = tl.load(v_ptr + (head + j) * D + d, mask=j < S, other=0.0)
        acc = tl.dot(p.to(v.dtype), v, acc)
    tl.store(out_ptr + (head + i[:, None]) * D + d, acc.to(q.dtype), mask=i[:, None] < S)


def flash_attention(q, k, v, causal, scale, out, lse):
    B, H, S, D = q.shape
    grid = (triton.cdiv(S, 32), B * H)
    lse_kernel[grid](q, k, lse, S, scale, CAUSAL=causal, TILE=32, D=D)
    out_kernel[grid](q, k, v, out, lse, S, scale, CAUSAL=causal, TILE=32, D=D)
