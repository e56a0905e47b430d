# No mask along K: past the end of a row of a comes the next row, not zero (b is masked against K too late).
# expect: goes on for 32 columns of its tile
# expect: that of the column with K
# never: written into the kernel
# never: stride
# shared: triton
@triton.jit
def gemm_kernel(a_ptr, b_ptr, c_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    rn = tl.program_id(1) * BN + tl.arange(0, BN)
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for k0 in range(0, K, BK):
        rk = k0 + tl.arange(0, BK)
        a_offs = rm[:, None] * K + rk[None, :]
        b_offs = rk[:, None] * N + rn[None, :]
        a = tl.load(a_ptr + a_offs, mask=a_offs < M * K, other=1.0)
        b = tl.load(b_ptr + b_offs, mask=b_offs < K * N, other=1.0)
        acc = tl.dot(a, b, acc)
    tl.store(c_ptr + rm[:, None] * N + rn[None, :], acc.to(tl.float16), mask=(rm[:, None] < M) & (rn[None, :] < N))


def gemm(a, b, out):
    M, K = a.shape
    N = b.shape[1]
    gemm_kernel[(triton.cdiv(M, 32), triton.cdiv(N, 32))](a, b, out, M, N, K, BM=32, BN=32, BK=32)
