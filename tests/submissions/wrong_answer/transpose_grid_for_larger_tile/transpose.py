# The grid is counted in tiles of 64, the kernel works on tiles of 32.
# expect: each has 32 of
# expect: the block that the grid is counted with must be the kernel's
# never: exchanged
# never: //
# shared: triton
BLOCK_SIZE = 64


@triton.jit
def transpose_kernel(x_ptr, out_ptr, M, N, BLOCK: tl.constexpr):
    rows = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    cols = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    mask = (rows[:, None] < M) & (cols[None, :] < N)
    tile = tl.load(x_ptr + rows[:, None] * N + cols[None, :], mask=mask, other=0.0)
    tl.store(out_ptr + cols[None, :] * M + rows[:, None], tile, mask=mask)


def transpose(x, out):
    M, N = x.shape
    grid = (triton.cdiv(M, BLOCK_SIZE), triton.cdiv(N, BLOCK_SIZE))
    transpose_kernel[grid](x, out, M, N, BLOCK=32)
