# verdict: wrong_answer
# expect: from out[0, 1, 0, 0] on
# never: a block, a loop
import triton
import triton.language as tl


@triton.jit
def attention_kernel(q_ptr, k_ptr, v_ptr, out_ptr, lse_ptr, S, scale, CAUSAL: tl.constexpr, TILE_M: tl.constexpr,
                     TILE_N: tl.constexpr, D: tl.constexpr):
    tile = tl.program_id(0)
    head = tl.program_id(1).to(tl.int64)
    base = head * S * D
    m = tl.arange(0, TILE_M)
    n = tl.arange(0, TILE_N)
    d = tl.arange(0, D)
    i = tile * TILE_M + m
    q = tl.load(q_ptr + base + i[:, None] * D + d[None, :], mask=i[:, None] < S, other=0.0)
    top = tl.full((TILE_M,), -float("inf"), dtype=tl.float32)
    total = tl.zeros((TILE_M,), dtype=tl.float32)
    acc = tl.zeros((TILE_M, D), dtype=tl.float32)
    for start in range(0, S, TILE_N):
        j = start + n
        k = tl.load(k_ptr + base + j[:, None] * D + d[None, :], mask=j[:, None] < S, other=0.0)
        v = tl.load(v_ptr + head // 2 * S * D + j[:, None] * D + d[None, :], mask=j[:, None] < S, other=0.0)
        s = tl.dot(q, tl.trans(k)) * scale
        s = tl.where(j[None, :] < S, s, -float("inf"))
        if CAUSAL:
            s = tl.where(i[:, None] >= j[None, :], s, -float("inf"))
        new = tl.maximum(top, tl.max(s, axis=1))
        p = tl.exp(s - new[:, None])
        alpha = tl.exp(top - new)
        total = total * alpha + tl.sum(p, axis=1)
        acc = acc * alpha[:, None] + tl.dot(p.to(v.dtype), v)
        top = new
    acc = acc / total[:, None]
    tl.store(out_ptr + base + i[:, None] * D + d[None, :], acc.to(q.dtype), mask=i[:, None] < S)
    tl.store(lse_ptr + head * S + i, top + tl.log(total), mask=i < S)


def flash_attention(q, k, v, causal, scale, out, lse):
    B, H, S, D = q.shape
    attention_kernel[(triton.cdiv(S, 32), B * H)](q, k, v, out, lse, S, scale, CAUSAL=causal, TILE_M=32, TILE_N=32,
                                                  D=D)
