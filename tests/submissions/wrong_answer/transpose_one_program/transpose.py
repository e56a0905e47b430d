# The grid has one program.
# expect: starts 1 program
# expect: triton.cdiv
# never: exchanged
# never: mask of
# shared: triton
@triton.jit
def transpose_kernel(x_ptr, out_ptr, M, N, BLOCK: tl.constexpr):
    rows = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    cols = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    mask = (rows[:, None] < M) & (cols[None, :] < N)
    tile = tl.load(x_ptr + rows[:, None] * N + cols[None, :], mask=mask, other=0.0)
    tl.store(out_ptr + cols[None, :] * M + rows[:, None], tile, mask=mask)


def transpose(x, out):
    M, N = x.shape
    transpose_kernel[(1,)](x, out, M, N, BLOCK=64)
