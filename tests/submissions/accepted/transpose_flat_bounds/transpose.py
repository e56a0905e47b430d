# Bounds by flat position alone: past the last column lies past the end of out, past the last row past that of x.
# shared: triton
@triton.jit
def transpose_kernel(x_ptr, out_ptr, M, N, T: tl.constexpr):
    m = tl.program_id(0) * T + tl.arange(0, T)
    n = tl.program_id(1) * T + tl.arange(0, T)
    source = m[:, None] * N + n[None, :]
    target = n[None, :] * M + m[:, None]
    inside = (source < M * N) & (target < M * N)
    tl.store(out_ptr + target, tl.load(x_ptr + source, mask=inside), mask=inside)


def transpose(x, out):
    M, N = x.shape
    transpose_kernel[(triton.cdiv(M, 32), triton.cdiv(N, 32))](x, out, M, N, T=32)
