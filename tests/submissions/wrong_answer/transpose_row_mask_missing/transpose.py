# The store is masked by flat position only, so rows past the last one land in the next column of tiles.
# expect: goes on for
# expect: the others lie in the next row
# never: triton.cdiv
# shared: triton
@triton.jit
def transpose_kernel(x_ptr, out_ptr, M, N, T: tl.constexpr):
    m = tl.program_id(0) * T + tl.arange(0, T)
    n = tl.program_id(1) * T + tl.arange(0, T)
    source = m[:, None] * N + n[None, :]
    target = n[None, :] * M + m[:, None]
    x = tl.load(x_ptr + source, mask=source < M * N, other=0.0)
    tl.store(out_ptr + target, x, mask=target < M * N)


def transpose(x, out):
    M, N = x.shape
    transpose_kernel[(triton.cdiv(M, 32), triton.cdiv(N, 32))](x, out, M, N, T=32)
