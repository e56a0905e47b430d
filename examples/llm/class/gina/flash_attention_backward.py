# verdict: wrong_answer
# expect: Programs of a launch run in any order
import torch
import triton
import triton.language as tl


@triton.jit
def fwd(q_ptr, k_ptr, v_ptr, o_ptr, l_ptr, S, scale, CAUSAL: tl.constexpr, M: tl.constexpr, N: tl.constexpr,
        D: tl.constexpr):
    head = tl.program_id(1).to(tl.int64)
    base = head * S * D
    d = tl.arange(0, D)
    i = tl.program_id(0) * M + tl.arange(0, M)
    q = tl.load(q_ptr + base + i[:, None] * D + d[None, :], mask=i[:, None] < S, other=0.0)
    m = tl.full((M,), -float("inf"), tl.float32)
    total = tl.zeros((M,), tl.float32)
    acc = tl.zeros((M, D), tl.float32)
    for start in range(0, S, N):
        j = start + tl.arange(0, N)
        k = tl.load(k_ptr + base + j[:, None] * D + d[None, :], mask=j[:, None] < S, other=0.0)
        v = tl.load(v_ptr + base + j[:, None] * D + d[None, :], mask=j[:, None] < S, other=0.0)
        s = tl.dot(q, tl.trans(k)) * scale
        s = tl.where(j[None, :] < S, s, -float("inf"))
        if CAUSAL:
            s = tl.where(j[None, :] <= i[:, None], s, -float("inf"))
        new = tl.maximum(m, tl.max(s, 1))
        p = tl.exp2(s - new[:, None])
        alpha = tl.exp2(m - new)
        total = total * alpha + tl.sum(p, 1)
        acc = acc * alpha[:, None] + tl.dot(p.to(v.dtype), v)
        m = new
    tl.store(o_ptr + base + i[:, None] * D + d[None, :], (acc / total[:, None]).to(q.dtype), mask=i[:, None] < S)
    tl.store(l_ptr + head * S + i, (m + tl.log2(total)) * 0.6931471805599453, mask=i < S)


@triton.jit
def bwd(q_ptr, k_ptr, v_ptr, o_ptr, do_ptr, l_ptr, dq_ptr, dk_ptr, dv_ptr, S, scale, sb, ss, sd,
        CAUSAL: tl.constexpr, M: tl.constexpr, N: tl.constexpr, D: tl.constexpr):
    head = tl.program_id(1).to(tl.int64)
    base = head * S * D
    d = tl.arange(0, D)
    first = tl.program_id(0) * N
    j = first + tl.arange(0, N)
    k = tl.load(k_ptr + base + j[:, None] * D + d[None, :], mask=j[:, None] < S, other=0.0)
    v = tl.load(v_ptr + base + j[:, None] * D + d[None, :], mask=j[:, None] < S, other=0.0)
    dk = tl.zeros((N, D), tl.float32)
    dv = tl.zeros((N, D), tl.float32)
    for start in range(first // M * M if CAUSAL else 0, S, M):
        i = start + tl.arange(0, M)
        rows = i[:, None] < S
        q = tl.load(q_ptr + base + i[:, None] * D + d[None, :], mask=rows, other=0.0)
        o = tl.load(o_ptr + base + i[:, None] * D + d[None, :], mask=rows, other=0.0)
        do = tl.load(do_ptr + head * sb + i[:, None] * ss + d[None, :] * sd, mask=rows, other=0.0)
        l = tl.load(l_ptr + head * S + i, mask=i < S, other=float("inf"))
        delta = tl.sum(o.to(tl.float32) * do.to(tl.float32), 1)
        p = tl.exp(tl.dot(q, tl.trans(k)) * scale - l[:, None])
        seen = (j[None, :] <= i[:, None]) & (j[None, :] < S) if CAUSAL else (j[None, :] < S)
        p = tl.where(seen, p, 0.0)
        dv += tl.dot(tl.trans(p.to(do.dtype)), do)
        ds = (p * (tl.dot(do, tl.trans(v)) - delta[:, None])).to(q.dtype)
        dk += tl.dot(tl.trans(ds), q)
        at = dq_ptr + base + i[:, None] * D + d[None, :]
        tl.store(at, tl.load(at, mask=rows) + tl.dot(ds, k) * scale, mask=rows)
    tl.store(dk_ptr + base + j[:, None] * D + d[None, :], (dk * scale).to(k.dtype), mask=j[:, None] < S)
    tl.store(dv_ptr + base + j[:, None] * D + d[None, :], dv.to(v.dtype), mask=j[:, None] < S)


class FlashAttention(torch.autograd.Function):
    @staticmethod
    def forward(Q, K, V, is_causal):
        B, S, D = Q.shape
        O, L = torch.empty_like(Q), torch.empty((B, S), dtype=torch.float32, device=Q.device)
        fwd[(triton.cdiv(S, 64), B)](Q, K, V, O, L, S, D**-0.5 * 1.4426950408889634, CAUSAL=is_causal, M=64, N=32, D=D)
        FlashAttention.logarithms = L
        return O

    @staticmethod
    def setup_context(ctx, inputs, output):
        *tensors, ctx.is_causal = inputs
        ctx.save_for_backward(*tensors, output, FlashAttention.logarithms)

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx, dO):
        Q, K, V, O, L = ctx.saved_tensors
        B, S, D = Q.shape
        dQ = torch.zeros_like(Q, dtype=torch.float32)
        dK, dV = torch.empty_like(K), torch.empty_like(V)
        bwd[(triton.cdiv(S, 32), B)](Q, K, V, O, dO, L, dQ, dK, dV, S, D**-0.5, *dO.stride(), CAUSAL=ctx.is_causal,
                                     M=64, N=32, D=D)
        return dQ.to(Q.dtype), dK, dV, None
