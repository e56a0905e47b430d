# The weight is taken by row instead of by column.
# expect: indexed by row
# never: stride
# never: lower precision
# shared: triton
@triton.jit
def rmsnorm_rows(x_ptr, w_ptr, out_ptr, cols, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    offs = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * cols + offs, mask=offs < cols, other=0.0)
    w = tl.load(w_ptr + row % cols)
    rstd = tl.rsqrt(tl.sum(x * x) / cols + eps)
    tl.store(out_ptr + row * cols + offs, x * rstd * w, mask=offs < cols)


def rmsnorm_matrix(x, weight, eps, out):
    rows, cols = x.shape
    rmsnorm_rows[(rows,)](x, weight, out, cols, eps, BLOCK=triton.next_power_of_2(cols))
