# The tile is transposed, and the mask of the store is still that of the load.
# expect: the store in line
# expect: a mask that is turned, too
# never: see tl.trans
# never: not transposed. tl.trans
# shared: triton
@triton.jit
def transpose_kernel(x_ptr, out_ptr, M, N, BLOCK: tl.constexpr):
    rows = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    cols = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    mask = (rows[:, None] < M) & (cols[None, :] < N)
    tile = tl.load(x_ptr + rows[:, None] * N + cols[None, :], mask=mask, other=0.0)
    out_offsets = cols[:, None] * M + rows[None, :]
    tl.store(out_ptr + out_offsets, tl.trans(tile), mask=mask & (out_offsets < M * N))


def transpose(x, out):
    M, N = x.shape
    grid = (triton.cdiv(M, 32), triton.cdiv(N, 32))
    transpose_kernel[grid](x, out, M, N, BLOCK=32)
