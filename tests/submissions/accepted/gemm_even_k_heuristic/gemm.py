# A heuristic leaves out the mask along K where K is a multiple of the block.
# shared: triton
@triton.heuristics({"EVEN_K": lambda args: args["K"] % args["BK"] == 0})
@triton.jit
def gemm_kernel(
    a_ptr, b_ptr, c_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, EVEN_K: tl.constexpr
):
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    rn = tl.program_id(1) * BN + tl.arange(0, BN)
    m_ok = (rm < M)[:, None]
    n_ok = (rn < N)[None, :]
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for k0 in range(0, K, BK):
        rk = k0 + tl.arange(0, BK)
        if EVEN_K:
            a = tl.load(a_ptr + rm[:, None] * K + rk[None, :], mask=m_ok, other=0.0)
            b = tl.load(b_ptr + rk[:, None] * N + rn[None, :], mask=n_ok, other=0.0)
        else:
            a = tl.load(a_ptr + rm[:, None] * K + rk[None, :], mask=m_ok & (rk < K)[None, :], other=0.0)
            b = tl.load(b_ptr + rk[:, None] * N + rn[None, :], mask=n_ok & (rk < K)[:, None], other=0.0)
        acc = tl.dot(a, b, acc=acc, out_dtype=tl.float32)
    tl.store(c_ptr + rm[:, None] * N + rn[None, :], acc.to(c_ptr.dtype.element_ty), mask=m_ok & n_ok)


def gemm(a, b, out):
    M, K = a.shape
    N = b.shape[1]
    gemm_kernel[(triton.cdiv(M, 32), triton.cdiv(N, 128))](a, b, out, M, N, K, BM=32, BN=128, BK=64)
