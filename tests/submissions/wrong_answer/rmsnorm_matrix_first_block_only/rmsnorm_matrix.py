# Only the first 64 columns enter the mean square; all columns are scaled.
# expect: only the squares of the first columns
# never: stride
# never: lower precision
# shared: triton
@triton.jit
def norm_rows(x_ptr, w_ptr, out_ptr, cols, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    first = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * cols + first, mask=first < cols, other=0.0)
    rstd = tl.rsqrt(tl.sum(x * x) / cols + eps)
    for start in range(0, cols, BLOCK):
        offs = start + tl.arange(0, BLOCK)
        mask = offs < cols
        x = tl.load(x_ptr + row * cols + offs, mask=mask)
        tl.store(out_ptr + row * cols + offs, x * rstd * tl.load(w_ptr + offs, mask=mask), mask=mask)


def rmsnorm_matrix(x, weight, eps, out):
    rows, cols = x.shape
    norm_rows[(rows,)](x, weight, out, cols, eps, BLOCK=64)
