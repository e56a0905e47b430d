# The tile is transposed by tl.trans and once more by the offsets of the store.
# expect: exactly one of them is needed
# never: triton.cdiv
# never: see tl.trans
# shared: triton
@triton.jit
def transpose_kernel(x_ptr, out_ptr, M, N, BLOCK: tl.constexpr):
    rows = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    cols = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    mask = (rows[:, None] < M) & (cols[None, :] < N)
    tile = tl.load(x_ptr + rows[:, None] * N + cols[None, :], mask=mask, other=0.0)
    tl.store(out_ptr + cols[None, :] * M + rows[:, None], tl.trans(tile), mask=mask)


def transpose(x, out):
    M, N = x.shape
    transpose_kernel[(triton.cdiv(M, 16), triton.cdiv(N, 16))](x, out, M, N, BLOCK=16)
