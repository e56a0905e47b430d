# tl.arange over the row length, whatever it is.
# expect: next_power_of_2
# shared: triton
@triton.jit
def rmsnorm_rows(x_ptr, w_ptr, out_ptr, eps, COLS: tl.constexpr):
    offs = tl.arange(0, COLS)
    x = tl.load(x_ptr + tl.program_id(0) * COLS + offs)
    y = x * tl.rsqrt(tl.sum(x * x) / COLS + eps) * tl.load(w_ptr + offs)
    tl.store(out_ptr + tl.program_id(0) * COLS + offs, y)


def rmsnorm_matrix(x, weight, eps, out):
    rmsnorm_rows[(x.shape[0],)](x, weight, out, eps, COLS=x.shape[1])
