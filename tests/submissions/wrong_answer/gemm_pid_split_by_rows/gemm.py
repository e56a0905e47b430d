# One number for both axes is split by the number of row blocks, not of column blocks.
# expect: the store in line
# never: axes are exchanged
# never: the mask of the store
# shared: triton
@triton.jit
def gemm_kernel(a_ptr, b_ptr, c_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    pid = tl.program_id(0)
    blocks = tl.cdiv(M, BM)
    pid_m = pid // blocks
    pid_n = pid % blocks
    rm = pid_m * BM + tl.arange(0, BM)
    rn = pid_n * BN + tl.arange(0, BN)
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
    programs = triton.cdiv(M, 16) * triton.cdiv(N, 16)
    gemm_kernel[(programs,)](a, b, out, M, N, K, BM=16, BN=16, BK=32)
