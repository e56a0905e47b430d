# All whole rows of tiles in one launch, the last one in another.
# shared: triton
@triton.jit
def gemm_kernel(a_ptr, b_ptr, c_ptr, first, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rm = (first + tl.program_id(1)) * BM + tl.arange(0, BM)
    rn = tl.program_id(0) * BN + tl.arange(0, BN)
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for k0 in range(0, K, BK):
        rk = k0 + tl.arange(0, BK)
        a = tl.load(a_ptr + rm[:, None] * K + rk[None, :], mask=(rm[:, None] < M) & (rk[None, :] < K), other=0.0)
        b = tl.load(b_ptr + rk[:, None] * N + rn[None, :], mask=(rk[:, None] < K) & (rn[None, :] < N), other=0.0)
        acc = tl.dot(a, b, acc)
    tl.store(c_ptr + rm[:, None] * N + rn[None, :], acc.to(tl.float16), mask=(rm[:, None] < M) & (rn[None, :] < N))


def gemm(a, b, out):
    M, K = a.shape
    N = b.shape[1]
    whole = M // 64
    if whole:
        gemm_kernel[(triton.cdiv(N, 64), whole)](a, b, out, 0, M, N, K, BM=64, BN=64, BK=32)
    if M % 64:
        gemm_kernel[(triton.cdiv(N, 64), 1)](a, b, out, whole, M, N, K, BM=64, BN=64, BK=32)
