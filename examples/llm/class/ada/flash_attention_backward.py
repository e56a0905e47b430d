# verdict: wrong_answer
# expect: 1 / √D is missing from dQ
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
        p = tl.exp(s - new[:, None])
        alpha = tl.exp(m - new)
        total = total * alpha + tl.sum(p, 1)
        acc = acc * alpha[:, None] + tl.dot(p.to(v.dtype), v)
        m = new
    tl.store(o_ptr + base + i[:, None] * D + d[None, :], (acc / total[:, None]).to(q.dtype), mask=i[:, None] < S)
    tl.store(l_ptr + head * S + i, m + tl.log(total), mask=i < S)


@triton.jit
def rowsum(o_ptr, do_ptr, delta_ptr, S, sb, ss, sd, M: tl.constexpr, D: tl.constexpr):
    head = tl.program_id(1).to(tl.int64)
    d = tl.arange(0, D)
    i = tl.program_id(0) * M + tl.arange(0, M)
    o = tl.load(o_ptr + head * S * D + i[:, None] * D + d[None, :], mask=i[:, None] < S, other=0.0)
    do = tl.load(do_ptr + head * sb + i[:, None] * ss + d[None, :] * sd, mask=i[:, None] < S, other=0.0)
    tl.store(delta_ptr + head * S + i, tl.sum(o.to(tl.float32) * do.to(tl.float32), 1), mask=i < S)


@triton.jit
def bwd_dq(q_ptr, k_ptr, v_ptr, do_ptr, l_ptr, delta_ptr, dq_ptr, S, scale, sb, ss, sd, CAUSAL: tl.constexpr,
           M: tl.constexpr, N: tl.constexpr, D: tl.constexpr):
    head = tl.program_id(1).to(tl.int64)
    base = head * S * D
    d = tl.arange(0, D)
    i = tl.program_id(0) * M + tl.arange(0, M)
    q = tl.load(q_ptr + base + i[:, None] * D + d[None, :], mask=i[:, None] < S, other=0.0)
    do = tl.load(do_ptr + head * sb + i[:, None] * ss + d[None, :] * sd, mask=i[:, None] < S, other=0.0)
    l = tl.load(l_ptr + head * S + i, mask=i < S, other=0.0)
    delta = tl.load(delta_ptr + head * S + i, mask=i < S, other=0.0)
    dq = tl.zeros((M, D), tl.float32)
    for start in range(0, S, N):
        j = start + tl.arange(0, N)
        k = tl.load(k_ptr + base + j[:, None] * D + d[None, :], mask=j[:, None] < S, other=0.0)
        v = tl.load(v_ptr + base + j[:, None] * D + d[None, :], mask=j[:, None] < S, other=0.0)
        s = tl.dot(q, tl.trans(k)) * scale
        p = tl.where(j[None, :] < S, tl.exp(s - l[:, None]), 0.0)
        if CAUSAL:
            p = tl.where(j[None, :] <= i[:, None], p, 0.0)
        ds = p * (tl.dot(do, tl.trans(v)) - delta[:, None])
        dq += tl.dot(ds.to(k.dtype), k)
    tl.store(dq_ptr + base + i[:, None] * D + d[None, :], dq.to(q.dtype), mask=i[:, None] < S)


@triton.jit
def bwd_dkdv(q_ptr, k_ptr, v_ptr, do_ptr, l_ptr, delta_ptr, dk_ptr, dv_ptr, S, scale, sb, ss, sd,
             CAUSAL: tl.constexpr, M: tl.constexpr, N: tl.constexpr, D: tl.constexpr):
    head = tl.program_id(1).to(tl.int64)
    base = head * S * D
    d = tl.arange(0, D)
    j = tl.program_id(0) * N + tl.arange(0, N)
    k = tl.load(k_ptr + base + j[:, None] * D + d[None, :], mask=j[:, None] < S, other=0.0)
    v = tl.load(v_ptr + base + j[:, None] * D + d[None, :], mask=j[:, None] < S, other=0.0)
    dk = tl.zeros((N, D), tl.float32)
    dv = tl.zeros((N, D), tl.float32)
    for start in range(0, S, M):
        i = start + tl.arange(0, M)
        q = tl.load(q_ptr + base + i[:, None] * D + d[None, :], mask=i[:, None] < S, other=0.0)
        do = tl.load(do_ptr + head * sb + i[:, None] * ss + d[None, :] * sd, mask=i[:, None] < S, other=0.0)
        l = tl.load(l_ptr + head * S + i, mask=i < S, other=0.0)
        delta = tl.load(delta_ptr + head * S + i, mask=i < S, other=0.0)
        s = tl.dot(q, tl.trans(k)) * scale
        p = tl.where(i[:, None] < S, tl.exp(s - l[:, None]), 0.0)
        if CAUSAL:
            p = tl.where(j[None, :] <= i[:, None], p, 0.0)
        dv += tl.dot(tl.trans(p.to(do.dtype)), do)
        ds = p * (tl.dot(do, tl.trans(v)) - delta[:, None])
        dk += tl.dot(tl.trans(ds.to(q.dtype)), q)
    tl.store(dk_ptr + base + j[:, None] * D + d[None, :], (dk * scale).to(k.dtype), mask=j[:, None] < S)
    tl.store(dv_ptr + base + j[:, None] * D + d[None, :], dv.to(v.dtype), mask=j[:, None] < S)


class FlashAttention(torch.autograd.Function):
    @staticmethod
    def forward(ctx, Q, K, V, is_causal=False):
        B, S, D = Q.shape
        O = torch.empty_like(Q)
        L = torch.empty(B, S, device=Q.device)
        fwd[(triton.cdiv(S, 32), B)](Q, K, V, O, L, S, D**-0.5, CAUSAL=is_causal, M=32, N=32, D=D)
        ctx.save_for_backward(L, Q, K, V, O)
        ctx.is_causal = is_causal
        return O

    @staticmethod
    def backward(ctx, dO):
        L, Q, K, V, O = ctx.saved_tensors
        B, S, D = Q.shape
        dQ, dK, dV = torch.empty_like(Q), torch.empty_like(K), torch.empty_like(V)
        delta = torch.empty_like(L)
        grid = (triton.cdiv(S, 32), B)
        rowsum[grid](O, dO, delta, S, *dO.stride(), M=32, D=D)
        shared = {"CAUSAL": ctx.is_causal, "M": 32, "N": 32, "D": D}
        bwd_dq[grid](Q, K, V, dO, L, delta, dQ, S, D**-0.5, *dO.stride(), **shared)
        bwd_dkdv[grid](Q, K, V, dO, L, delta, dK, dV, S, D**-0.5, *dO.stride(), **shared)
        return dQ, dK, dV, None
