# A scratch matrix asked for with device="cuda", as in a script that was only ever run on a GPU.
import torch
import triton
import triton.language as tl

DEVICE = torch.device("cuda")


@triton.jit
def partial_products(a_ptr, b_ptr, s_ptr, M, N, K, k_share, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    rn = tl.program_id(1) * BN + tl.arange(0, BN)
    k_begin = tl.program_id(2) * k_share
    k_end = tl.minimum(k_begin + k_share, K)
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for k0 in range(k_begin, k_end, BK):
        rk = k0 + tl.arange(0, BK)
        a = tl.load(a_ptr + rm[:, None] * K + rk[None, :], mask=(rm[:, None] < M) & (rk[None, :] < k_end), other=0.0)
        b = tl.load(b_ptr + rk[:, None] * N + rn[None, :], mask=(rk[:, None] < k_end) & (rn[None, :] < N), other=0.0)
        acc += tl.dot(a, b)
    tl.store(s_ptr + (tl.program_id(2) * M + rm[:, None]) * N + rn[None, :], acc,
             mask=(rm[:, None] < M) & (rn[None, :] < N))


@triton.jit
def add_shares(s_ptr, c_ptr, n, SHARES: tl.constexpr, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK,), dtype=tl.float32)
    for share in tl.static_range(SHARES):
        total += tl.load(s_ptr + share * n + offs, mask=offs < n, other=0.0)
    tl.store(c_ptr + offs, total.to(tl.float16), mask=offs < n)


def gemm(a, b, out):
    M, K = a.shape
    N = b.shape[1]
    if a.device != out.device or a.device.index != torch.cuda.current_device():
        raise ValueError("all tensors must be on the current GPU")
    shares = 4 if K >= 256 else 1
    scratch = torch.empty((shares, M, N), dtype=torch.float32, device="cuda")
    k_share = triton.cdiv(triton.cdiv(K, shares), 32) * 32
    grid = (triton.cdiv(M, 64), triton.cdiv(N, 64), shares)
    partial_products[grid](a, b, scratch, M, N, K, k_share, BM=64, BN=64, BK=32)
    add_shares[(triton.cdiv(M * N, 2048),)](scratch.to(DEVICE), out, M * N, SHARES=shares, BLOCK=2048)
