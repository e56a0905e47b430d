# All programs of a cooperative launch must be there at a time: large sizes have too many.
# expect: programs at a time
# expect: further blocks in a loop
# shared: triton
@triton.jit
def transpose_kernel(x_ptr, out_ptr, M, N, BLOCK: tl.constexpr):
    rows = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    columns = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    inside = (rows[:, None] < M) & (columns[None, :] < N)
    x = tl.load(x_ptr + rows[:, None] * N + columns[None, :], mask=inside)
    tl.store(out_ptr + columns[:, None] * M + rows[None, :], tl.trans(x), mask=tl.trans(inside))


def transpose(x, out):
    M, N = x.shape
    transpose_kernel[(triton.cdiv(M, 32), triton.cdiv(N, 32))](
        x, out, M, N, BLOCK=32, launch_cooperative_grid=True)
