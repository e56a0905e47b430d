# mypy: disable-error-code="untyped-decorator, no-untyped-def, no-untyped-call"
"""Flash attention forward of (batch, heads, length, head_dim), with the logarithm of the sums, base e."""

import torch
import triton
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor


@triton.jit
def pointers_kernel(Q, K, V, Out, L, sm_scale, stride_h, N_CTX, HEAD_DIM: tl.constexpr, BLOCK_M: tl.constexpr,
                    BLOCK_N: tl.constexpr, CAUSAL: tl.constexpr):
    start_m, head = tl.program_id(0), tl.program_id(1)
    offs_m = start_m * BLOCK_M + tl.arange(0, BLOCK_M)
    offs_d = tl.arange(0, HEAD_DIM)
    base = head.to(tl.int64) * stride_h
    q = tl.load(Q + base + offs_m[:, None] * HEAD_DIM + offs_d[None, :], mask=offs_m[:, None] < N_CTX, other=0.0)
    m_i = tl.full([BLOCK_M], float("-inf"), dtype=tl.float32)
    l_i = tl.zeros([BLOCK_M], dtype=tl.float32)
    acc = tl.zeros([BLOCK_M, HEAD_DIM], dtype=tl.float32)
    qk_scale = sm_scale * 1.44269504
    hi = tl.minimum((start_m + 1) * BLOCK_M, N_CTX) if CAUSAL else N_CTX
    for start_n in tl.range(0, hi, BLOCK_N, num_stages=2):
        start_n = tl.multiple_of(start_n, BLOCK_N)
        offs_n = start_n + tl.arange(0, BLOCK_N)
        k = tl.load(K + base + offs_n[None, :] * HEAD_DIM + offs_d[:, None], mask=offs_n[None, :] < N_CTX, other=0.0)
        qk = tl.dot(q, k) * qk_scale
        valid = offs_n[None, :] < N_CTX
        if CAUSAL:
            valid = valid & (offs_m[:, None] >= offs_n[None, :])
        qk = tl.where(valid, qk, float("-inf"))
        m_ij = tl.maximum(m_i, tl.max(qk, 1))
        p = tl.math.exp2(qk - m_ij[:, None])
        alpha = tl.math.exp2(m_i - m_ij)
        l_i = l_i * alpha + tl.sum(p, 1)
        v = tl.load(V + base + offs_n[:, None] * HEAD_DIM + offs_d[None, :], mask=offs_n[:, None] < N_CTX, other=0.0)
        acc = tl.dot(p.to(v.dtype), v, acc * alpha[:, None])
        m_i = m_ij
    acc = acc / l_i[:, None]
    tl.store(Out + base + offs_m[:, None] * HEAD_DIM + offs_d[None, :], acc.to(Out.dtype.element_ty),
             mask=offs_m[:, None] < N_CTX)
    tl.store(L + head * N_CTX + offs_m, (m_i + tl.math.log2(l_i)) * 0.6931471805599453, mask=offs_m < N_CTX)


def pointers(q, k, v, scale, causal, out, lse):
    B, H, N, D = q.shape
    BLOCK_M = 32 if q.dtype == torch.float32 else 64
    pointers_kernel[(triton.cdiv(N, BLOCK_M), B * H)](q, k, v, out, lse, scale, q.stride(1), N, HEAD_DIM=D,
                                                      BLOCK_M=BLOCK_M, BLOCK_N=32, CAUSAL=causal, num_warps=4,
                                                      num_stages=3)


@triton.jit
def inner(acc, l_i, m_i, q, K_block_ptr, V_block_ptr, lo, hi, offs_m, N, qk_scale, BLOCK_N: tl.constexpr,
          MASK: tl.constexpr):
    K_block_ptr = tl.advance(K_block_ptr, (0, lo))
    V_block_ptr = tl.advance(V_block_ptr, (lo, 0))
    for start_n in range(lo, hi, BLOCK_N):
        k = tl.load(K_block_ptr, boundary_check=(1,), padding_option="zero")
        qk = tl.dot(q, k)
        offs_n = start_n + tl.arange(0, BLOCK_N)
        if MASK:
            qk = qk * qk_scale + tl.where(offs_m[:, None] >= offs_n[None, :], 0, -1.0e6)
        else:
            qk *= qk_scale
        qk = tl.where(offs_n[None, :] < N, qk, -1.0e6)
        m_ij = tl.maximum(m_i, tl.max(qk, 1))
        qk -= m_ij[:, None]
        p = tl.exp2(qk)
        alpha = tl.exp2(m_i - m_ij)
        acc = acc * alpha[:, None]
        v = tl.load(V_block_ptr, boundary_check=(0,), padding_option="zero")
        acc += tl.dot(p.to(q.dtype), v)
        l_i = l_i * alpha + tl.sum(p, 1)
        m_i = m_ij
        K_block_ptr = tl.advance(K_block_ptr, (0, BLOCK_N))
        V_block_ptr = tl.advance(V_block_ptr, (BLOCK_N, 0))
    return acc, l_i, m_i


@triton.jit
def blocks_kernel(Q, K, V, Out, Lse, scale, stride_qh, stride_qm, stride_qk, causal, N, D: tl.constexpr,
                  BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    start_m, off_hz = tl.program_id(0), tl.program_id(1)
    base = off_hz.to(tl.int64) * stride_qh
    Q_block_ptr = tl.make_block_ptr(base=Q + base, shape=(N, D), strides=(stride_qm, stride_qk),
                                    offsets=(start_m * BLOCK_M, 0), block_shape=(BLOCK_M, D), order=(1, 0))
    K_block_ptr = tl.make_block_ptr(base=K + base, shape=(D, N), strides=(stride_qk, stride_qm), offsets=(0, 0),
                                    block_shape=(D, BLOCK_N), order=(0, 1))
    V_block_ptr = tl.make_block_ptr(base=V + base, shape=(N, D), strides=(stride_qm, stride_qk), offsets=(0, 0),
                                    block_shape=(BLOCK_N, D), order=(1, 0))
    O_block_ptr = tl.make_block_ptr(base=Out + base, shape=(N, D), strides=(stride_qm, stride_qk),
                                    offsets=(start_m * BLOCK_M, 0), block_shape=(BLOCK_M, D), order=(1, 0))
    offs_m = start_m * BLOCK_M + tl.arange(0, BLOCK_M)
    m_i = tl.zeros([BLOCK_M], dtype=tl.float32) - float("inf")
    l_i = tl.zeros([BLOCK_M], dtype=tl.float32) + 1.0
    acc = tl.zeros([BLOCK_M, D], dtype=tl.float32)
    l_i -= 1.0
    q = tl.load(Q_block_ptr, boundary_check=(0,), padding_option="zero")
    qk_scale = scale * 1.4426950408889634
    if causal:
        lo = start_m * BLOCK_M
        acc, l_i, m_i = inner(acc, l_i, m_i, q, K_block_ptr, V_block_ptr, 0, lo, offs_m, N, qk_scale, BLOCK_N, False)
        acc, l_i, m_i = inner(acc, l_i, m_i, q, K_block_ptr, V_block_ptr, lo, min(lo + BLOCK_M, N), offs_m, N,
                              qk_scale, BLOCK_N, True)
    else:
        acc, l_i, m_i = inner(acc, l_i, m_i, q, K_block_ptr, V_block_ptr, 0, N, offs_m, N, qk_scale, BLOCK_N, False)
    acc = acc / l_i[:, None]
    tl.store(Lse + off_hz * N + offs_m, (m_i + tl.log2(l_i)) / 1.4426950408889634, mask=offs_m < N)
    tl.store(O_block_ptr, acc.to(Out.type.element_ty), boundary_check=(0,))


def blocks(q, k, v, scale, causal, out, lse):
    B, H, N, D = q.shape
    grid = (triton.cdiv(N, 32), B * H, 1)
    blocks_kernel[grid](q, k, v, out, lse, scale, q.stride(1), q.stride(2), q.stride(3), causal, N, D, BLOCK_M=32,
                        BLOCK_N=32)


@triton.jit
def described_kernel(desc_q, desc_k, desc_v, desc_o, L, scale, N, dtype: tl.constexpr, D: tl.constexpr,
                     M_BLOCK: tl.constexpr, N_BLOCK: tl.constexpr, STAGE: tl.constexpr, warp_specialize: tl.constexpr):
    start_m, head = tl.program_id(0), tl.program_id(1)
    rows = start_m * M_BLOCK + tl.arange(0, M_BLOCK)
    q = desc_q.load([head, start_m * M_BLOCK, 0]).reshape(M_BLOCK, D)
    m_i = tl.zeros([M_BLOCK], dtype=tl.float32) - float("inf")
    l_i = tl.zeros([M_BLOCK], dtype=tl.float32)
    acc = tl.zeros([M_BLOCK, D], dtype=tl.float32)
    end = (start_m + 1) * M_BLOCK if STAGE == 3 else N
    for start_n in tl.range(0, end, N_BLOCK, warp_specialize=warp_specialize, disallow_acc_multi_buffer=True):
        k = desc_k.load([head, start_n, 0]).reshape(N_BLOCK, D).T
        qk = tl.dot(q, k) * (scale * 1.44269504)
        cols = start_n + tl.arange(0, N_BLOCK)
        seen = cols[None, :] < N
        if STAGE == 3:
            seen &= rows[:, None] >= cols[None, :]
        qk = tl.where(seen, qk, -float("inf"))
        m_new = tl.maximum(m_i, tl.max(qk, 1))
        alpha = tl.math.exp2(m_i - m_new)
        p = tl.math.exp2(qk - m_new[:, None])
        v = desc_v.load([head, start_n, 0]).reshape(N_BLOCK, D)
        acc = acc * alpha[:, None]
        acc = tl.dot(p.to(dtype), v, acc)
        l_i = l_i * alpha + tl.sum(p, 1)
        m_i = m_new
    desc_o.store([head, start_m * M_BLOCK, 0], (acc / l_i[:, None]).to(dtype).reshape(1, M_BLOCK, D))
    tl.store(L + head * N + rows, (m_i + tl.math.log2(l_i)) * 0.69314718, mask=rows < N)


TYPES = {torch.float16: tl.float16, torch.bfloat16: tl.bfloat16}


def described(q, k, v, scale, causal, out, lse):
    B, H, N, D = q.shape
    M_BLOCK, N_BLOCK = 64, 32
    q, k, v, o = (each.view(B * H, N, D) for each in (q, k, v, out))
    of_q, of_o = (TensorDescriptor.from_tensor(each, [1, M_BLOCK, D]) for each in (q, o))
    of_k, of_v = (TensorDescriptor(each, list(each.shape), list(each.stride()), [1, N_BLOCK, D]) for each in (k, v))
    described_kernel[(triton.cdiv(N, M_BLOCK), B * H)](
        of_q, of_k, of_v, of_o, lse, scale, N, TYPES[q.dtype], D, M_BLOCK, N_BLOCK, STAGE=3 if causal else 1,
        warp_specialize=q.dtype == torch.float16, num_stages=2, num_warps=4)


def allocate(size, alignment, stream):
    return torch.empty(size, device="cuda", dtype=torch.int8)


def configs():
    return [triton.Config({"BM": rows, "BN": 32}, num_warps=4, num_stages=stages) for rows in (32, 64)
            for stages in (2, 3)]


@triton.autotune(configs=configs(), key=["N", "D", "CAUSAL"])
@triton.heuristics({"EVEN": lambda args: args["N"] % args["BM"] == 0 and args["N"] % args["BN"] == 0})
@triton.jit
def tuned_kernel(q_ptr, k_ptr, v_ptr, o_ptr, l_ptr, scale: tl.float32, N, D: tl.constexpr, CAUSAL: tl.constexpr,
                 EVEN: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr):
    head = tl.program_id(1)
    first = (tl.num_programs(0) - 1 - tl.program_id(0)) * BM
    whole = tl.num_programs(1) * N
    q_desc = tl.make_tensor_descriptor(q_ptr + head * N * D, shape=[N, D], strides=[D, 1], block_shape=[BM, D])
    k_desc = tl.make_tensor_descriptor(k_ptr, shape=[whole, D], strides=[D, 1], block_shape=[BN, D])
    v_desc = tl.make_tensor_descriptor(v_ptr, shape=[whole, D], strides=[D, 1], block_shape=[BN, D])
    o_desc = tl.make_tensor_descriptor(o_ptr + head * N * D, shape=[N, D], strides=[D, 1], block_shape=[BM, D])
    q = q_desc.load([first, 0])
    q = (q.to(tl.float32) * scale * 1.44269504).to(q.dtype)
    rows = first + tl.arange(0, BM)
    top = tl.full((BM,), -float("inf"), tl.float32)
    total = tl.full((BM,), 0, tl.float32)
    acc = tl.zeros((BM, D), tl.float32)
    end = first + BM if CAUSAL else N
    start = 0
    while start < end:
        cols = start + tl.arange(0, BN)
        s = tl.dot(q, k_desc.load([head * N + start, 0]).T)
        if CAUSAL:
            s = tl.where(rows[:, None] >= cols[None, :], s, -float("inf"))
        if not EVEN:
            s = tl.where(cols[None, :] < N, s, -float("inf"))
        new = tl.maximum(top, tl.max(s, axis=1))
        p = tl.exp2(s - new[:, None])
        shrink = tl.exp2(top - new)
        total = tl.fma(total, shrink, tl.sum(p, axis=1))
        acc = acc * shrink[:, None] + tl.dot(p.to(tl.bfloat16 if q.dtype == tl.bfloat16 else tl.float16),
                                             v_desc.load([head * N + start, 0]))
        top = new
        start += BN
    o_desc.store([first, 0], (acc * (1 / total)[:, None]).to(o_ptr.dtype.element_ty))
    tl.store(l_ptr + head * N + rows, tl.log(total) + top * 0.69314718, mask=rows < N)


def tuned(q, k, v, scale, causal, out, lse):
    triton.set_allocator(allocate)
    B, H, N, D = q.shape
    tuned_kernel[lambda meta: (triton.cdiv(N, meta["BM"]), B * H)](q, k, v, out, lse, scale, N, D=D, CAUSAL=causal)
