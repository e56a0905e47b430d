# b's strides are passed in the wrong order, so b is read transposed (wrapped to stay inside).
# expect: b was read transposed
# never: 65,504
# never: a was read
# shared: triton
@triton.jit
def gemm_kernel(
    a_ptr, b_ptr, c_ptr, M, N, K, sam, sak, sbk, sbn, scm, scn, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr
):
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    rn = tl.program_id(1) * BN + tl.arange(0, BN)
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for k0 in range(0, K, BK):
        rk = k0 + tl.arange(0, BK)
        a_offs = rm[:, None] * sam + rk[None, :] * sak
        a = tl.load(a_ptr + a_offs, mask=(rm[:, None] < M) & (rk[None, :] < K), other=0.0)
        b_offs = (rk[:, None] * sbk + rn[None, :] * sbn) % (K * N)
        b = tl.load(b_ptr + b_offs, mask=(rk[:, None] < K) & (rn[None, :] < N), other=0.0)
        acc = tl.dot(a, b, acc)
    c_offs = rm[:, None] * scm + rn[None, :] * scn
    tl.store(c_ptr + c_offs, acc.to(tl.float16), mask=(rm[:, None] < M) & (rn[None, :] < N))


def gemm(a, b, out):
    M, K = a.shape
    N = b.shape[1]
    gemm_kernel[(triton.cdiv(M, 32), triton.cdiv(N, 32))](
        a, b, out, M, N, K, a.stride(0), a.stride(1), b.stride(1), b.stride(0), out.stride(0), out.stride(1), 32, 32, 32
    )
