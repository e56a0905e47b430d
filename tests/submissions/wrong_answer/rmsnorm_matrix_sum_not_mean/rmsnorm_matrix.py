# The sum of squares, not their mean.
# expect: divide it by the number of columns
# never: stride
# never: lower precision
# shared: triton
@triton.jit
def rmsnorm_rows(x_ptr, w_ptr, out_ptr, cols, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    offs = tl.arange(0, BLOCK)
    mask = offs < cols
    x = tl.load(x_ptr + row * cols + offs, mask=mask, other=0.0)
    w = tl.load(w_ptr + offs, mask=mask)
    rstd = tl.rsqrt(tl.sum(x * x) + eps)
    tl.store(out_ptr + row * cols + offs, x * rstd * w, mask=mask)


def rmsnorm_matrix(x, weight, eps, out):
    rows, cols = x.shape
    rmsnorm_rows[(rows,)](x, weight, out, cols, eps, BLOCK=triton.next_power_of_2(cols))
