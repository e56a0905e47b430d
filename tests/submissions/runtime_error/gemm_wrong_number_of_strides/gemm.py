# The kernel takes strides that the launch does not pass.
# expect: passes no 'stride_am'
# shared: triton
@triton.jit
def gemm_kernel(a_ptr, b_ptr, c_ptr, M, N, K, stride_am, stride_bk, stride_cm, B: tl.constexpr):
    rm = tl.program_id(0) * B + tl.arange(0, B)
    rn = tl.program_id(1) * B + tl.arange(0, B)
    acc = tl.zeros((B, B), dtype=tl.float32)
    for k0 in range(0, K, B):
        rk = k0 + tl.arange(0, B)
        a_mask = (rm[:, None] < M) & (rk[None, :] < K)
        a = tl.load(a_ptr + rm[:, None] * stride_am + rk[None, :], mask=a_mask, other=0.0)
        b_mask = (rk[:, None] < K) & (rn[None, :] < N)
        b = tl.load(b_ptr + rk[:, None] * stride_bk + rn[None, :], mask=b_mask, other=0.0)
        acc = tl.dot(a, b, acc)
    c_mask = (rm[:, None] < M) & (rn[None, :] < N)
    tl.store(c_ptr + rm[:, None] * stride_cm + rn[None, :], acc.to(tl.float16), mask=c_mask)


def gemm(a, b, out):
    M, K = a.shape
    N = b.shape[1]
    gemm_kernel[(triton.cdiv(M, 32), triton.cdiv(N, 32))](a, b, out, M, N, K, B=32)
