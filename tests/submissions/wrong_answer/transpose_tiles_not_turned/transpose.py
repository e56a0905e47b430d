# The tiles go to their mirrored places, but each tile's own contents are not transposed.
# expect: its own elements are not transposed
# never: triton.cdiv
# never: the mask of
# shared: triton
@triton.jit
def transpose_kernel(x_ptr, out_ptr, M, N, T: tl.constexpr):
    m = tl.program_id(0) * T + tl.arange(0, T)
    n = tl.program_id(1) * T + tl.arange(0, T)
    x = tl.load(x_ptr + m[:, None] * N + n[None, :], mask=(m[:, None] < M) & (n[None, :] < N), other=0.0)
    tl.store(out_ptr + n[:, None] * M + m[None, :], x, mask=(n[:, None] < N) & (m[None, :] < M))


def transpose(x, out):
    M, N = x.shape
    transpose_kernel[(triton.cdiv(M, 32), triton.cdiv(N, 32))](x, out, M, N, T=32)
