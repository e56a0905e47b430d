# Strides of 64 in both matrices, from the size it was tried on.
# expect: neighbours in the tile lie 64 elements apart
# never: tl.atomic_add
# shared: triton
@triton.jit
def transpose_kernel(x_ptr, out_ptr, M, N, T: tl.constexpr):
    m = tl.program_id(0) * T + tl.arange(0, T)
    n = tl.program_id(1) * T + tl.arange(0, T)
    size = M * N
    mask = (m[:, None] < M) & (n[None, :] < N)
    x = tl.load(x_ptr + (m[:, None] * 64 + n[None, :]) % size, mask=mask)
    tl.store(out_ptr + (n[None, :] * 64 + m[:, None]) % size, x, mask=mask)


def transpose(x, out):
    M, N = x.shape
    transpose_kernel[(triton.cdiv(M, 32), triton.cdiv(N, 32))](x, out, M, N, T=32)
