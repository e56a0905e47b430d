# The sum of each row of a tile is divided by the block's width.
# expect: divided by the size of the block
# never: stride
# never: lower precision
# shared: triton
@triton.jit
def rmsnorm_kernel(x_ptr, w_ptr, out_ptr, n_rows, n_cols, eps, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    rows = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    cols = tl.arange(0, BLOCK)
    mask = (rows[:, None] < n_rows) & (cols[None, :] < n_cols)
    x = tl.load(x_ptr + rows[:, None] * n_cols + cols[None, :], mask=mask, other=0.0)
    w = tl.load(w_ptr + cols, mask=cols < n_cols, other=0.0)
    rms = tl.sqrt(tl.sum(x * x, axis=1) / BLOCK + eps)
    tl.store(out_ptr + rows[:, None] * n_cols + cols[None, :], x / rms[:, None] * w[None, :], mask=mask)


def rmsnorm_matrix(x, weight, eps, out):
    rows, cols = x.shape
    rmsnorm_kernel[(triton.cdiv(rows, 2),)](
        x, weight, out, rows, cols, eps, ROWS=2, BLOCK=triton.next_power_of_2(cols))
