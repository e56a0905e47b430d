# The columns of a tile begin at tl.program_id(1), not at tl.program_id(1) * BLOCK.
# expect: multiply tl.program_id(1) by the block size, 32
# never: exchanged
# never: the mask of
# shared: triton
@triton.jit
def transpose_kernel(x_ptr, out_ptr, M, N, BLOCK: tl.constexpr):
    m = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    n = tl.program_id(1) + tl.arange(0, BLOCK)
    mask = (m[:, None] < M) & (n[None, :] < N)
    x = tl.load(x_ptr + m[:, None] * N + n[None, :], mask=mask)
    tl.store(out_ptr + n[None, :] * M + m[:, None], x, mask=mask)


def transpose(x, out):
    M, N = x.shape
    transpose_kernel[(triton.cdiv(M, 32), triton.cdiv(N, 32))](x, out, M, N, BLOCK=32)
