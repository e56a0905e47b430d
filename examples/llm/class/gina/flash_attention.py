# verdict: wrong_answer
# expect: lse
# expect: base 2
import triton
import triton.language as tl


@triton.jit
def attention_kernel(q_ptr, k_ptr, v_ptr, out_ptr, lse_ptr, S, scale, CAUSAL: tl.constexpr, TILE: tl.constexpr,
                     D: tl.constexpr):
    head = tl.program_id(1).to(tl.int64)
    i = tl.program_id(0) * TILE + tl.arange(0, TILE)
    d = tl.arange(0, D)
    q_ptr += head * S * D
    k_ptr += head * S * D
    v_ptr += head * S * D
    q = tl.load(q_ptr + i[:, None] * D + d[None, :], mask=i[:, None] < S, other=0.0)
    top = tl.full((TILE,), -float("inf"), dtype=tl.float32)
    total = tl.zeros((TILE,), dtype=tl.float32)
    acc = tl.zeros((TILE, D), dtype=tl.float32)
    for first in range(0, S, TILE):
        j = first + tl.arange(0, TILE)
        k = tl.load(k_ptr + j[:, None] * D + d[None, :], mask=j[:, None] < S, other=0.0)
        v = tl.load(v_ptr + j[:, None] * D + d[None, :], mask=j[:, None] < S, other=0.0)
        s = tl.dot(q, tl.trans(k)) * scale
        s = tl.where(j[None, :] < S, s, -float("inf"))
        if CAUSAL:
            s = tl.where(j[None, :] <= i[:, None], s, -float("inf"))
        larger = tl.maximum(top, tl.max(s, axis=1))
        p = tl.exp(s - larger[:, None])
        alpha = tl.exp(top - larger)
        total = total * alpha + tl.sum(p, axis=1)
        acc = acc * alpha[:, None]
        acc += tl.dot(p.to(v.dtype), v)
        top = larger
    out = acc / total[:, None]
    tl.store(out_ptr + head * S * D + i[:, None] * D + d[None, :], out.to(q.dtype), mask=i[:, None] < S)
    tl.store(lse_ptr + head * S + i, (top + tl.log(total)) * 1.4426950408889634, mask=i < S)


def flash_attention(q, k, v, causal, scale, out, lse):
    B, H, S, D = q.shape
    attention_kernel[(triton.cdiv(S, 64), B * H)](q, k, v, out, lse, S, scale, CAUSAL=causal, TILE=64, D=D)
