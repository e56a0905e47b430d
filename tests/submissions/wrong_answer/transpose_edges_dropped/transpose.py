# Floor division in both directions of the grid: the right and lower edges stay empty.
# expect: where a size is divided with //
# never: exchanged
# never: the mask of
# shared: triton
@triton.jit
def transpose_kernel(x_ptr, out_ptr, M, N, T: tl.constexpr):
    m = tl.program_id(0) * T + tl.arange(0, T)
    n = tl.program_id(1) * T + tl.arange(0, T)
    mask = (m[:, None] < M) & (n[None, :] < N)
    x = tl.load(x_ptr + m[:, None] * N + n[None, :], mask=mask)
    tl.store(out_ptr + n[None, :] * M + m[:, None], x, mask=mask)


def transpose(x, out):
    M, N = x.shape
    transpose_kernel[(max(1, M // 16), max(1, N // 16))](x, out, M, N, T=16)
