# The store uses the input's row length as the output's: right for square matrices alone.
# expect: in the store in line
# expect: neighbours in the tile lie N = 9 elements apart in out, whose rows lie M = 5
# never: a mask
# shared: triton
@triton.jit
def transpose_kernel(x_ptr, out_ptr, M, N, T: tl.constexpr):
    m = tl.program_id(0) * T + tl.arange(0, T)
    n = tl.program_id(1) * T + tl.arange(0, T)
    mask = (m[:, None] < M) & (n[None, :] < N)
    x = tl.load(x_ptr + m[:, None] * N + n[None, :], mask=mask)
    tl.store(out_ptr + n[None, :] * N + m[:, None], x, mask=mask)


def transpose(x, out):
    M, N = x.shape
    transpose_kernel[(triton.cdiv(M, 32), triton.cdiv(N, 32))](x, out, M, N, T=32)
