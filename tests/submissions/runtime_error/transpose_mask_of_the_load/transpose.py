# The transposed tile is stored with the mask of the load, past the end of out.
# expect: the store in line
# proved: line 16 makes every case right: a different mask
# never: see tl.trans
# never: not transposed. tl.trans
# shared: triton
@triton.jit
def transpose_kernel(x_ptr, out_ptr, M, N, BLOCK: tl.constexpr):
    rows = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    cols = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    mask = (rows[:, None] < M) & (cols[None, :] < N)
    tile = tl.load(x_ptr + rows[:, None] * N + cols[None, :], mask=mask, other=0.0)
    tl.store(out_ptr + cols[:, None] * M + rows[None, :], tl.trans(tile), mask=mask)


def transpose(x, out):
    M, N = x.shape
    grid = (triton.cdiv(M, 32), triton.cdiv(N, 32))
    transpose_kernel[grid](x, out, M, N, BLOCK=32)
