# The inner size that the kernel is given is the number of columns of b.
# expect: first N products of K
# never: stride
# never: 65,504
# shared: triton
@triton.jit
def gemm_kernel(
    a_ptr, b_ptr, c_ptr, M, N, K, stride_am, stride_bk, stride_cm,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
):
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    rn = tl.program_id(1) * BN + tl.arange(0, BN)
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for k0 in range(0, K, BK):
        rk = k0 + tl.arange(0, BK)
        a = tl.load(a_ptr + rm[:, None] * stride_am + rk[None, :], mask=(rm[:, None] < M) & (rk[None, :] < K), other=0.)
        b = tl.load(b_ptr + rk[:, None] * stride_bk + rn[None, :], mask=(rk[:, None] < K) & (rn[None, :] < N), other=0.)
        acc = tl.dot(a, b, acc)
    tl.store(c_ptr + rm[:, None] * stride_cm + rn[None, :], acc.to(tl.float16),
             mask=(rm[:, None] < M) & (rn[None, :] < N))


def gemm(a, b, out):
    M = a.shape[0]
    N = K = min(a.shape[1], b.shape[1])
    N = b.shape[1]
    gemm_kernel[(triton.cdiv(M, 32), triton.cdiv(N, 32))](
        a, b, out, M, N, K, a.stride(0), b.stride(0), out.stride(0), BM=32, BN=32, BK=32)
