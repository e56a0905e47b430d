# K is shared between programs that store their parts over one another instead of adding them.
# expect: only the second half of K
# never: 65,504
# shared: triton
@triton.jit
def gemm_kernel(a_ptr, b_ptr, c_ptr, M, N, K, share, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    rn = tl.program_id(1) * BN + tl.arange(0, BN)
    begin = tl.program_id(2) * share
    end = tl.minimum(begin + share, K)
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for k0 in range(begin, end, BK):
        rk = k0 + tl.arange(0, BK)
        a = tl.load(a_ptr + rm[:, None] * K + rk[None, :], mask=(rm[:, None] < M) & (rk[None, :] < end), other=0.0)
        b = tl.load(b_ptr + rk[:, None] * N + rn[None, :], mask=(rk[:, None] < end) & (rn[None, :] < N), other=0.0)
        acc = tl.dot(a, b, acc)
    tl.store(c_ptr + rm[:, None] * N + rn[None, :], acc.to(tl.float16), mask=(rm[:, None] < M) & (rn[None, :] < N))


def gemm(a, b, out):
    M, K = a.shape
    N = b.shape[1]
    grid = (triton.cdiv(M, 64), triton.cdiv(N, 64), 2)
    gemm_kernel[grid](a, b, out, M, N, K, triton.cdiv(K, 2), BM=64, BN=64, BK=32)
