# mypy: disable-error-code="untyped-decorator, no-untyped-def, no-untyped-call"
"""Flash attention of (batch, heads, length, head_dim) by descriptors, with the logarithm of the sums, base e."""

import torch
import triton
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor


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
