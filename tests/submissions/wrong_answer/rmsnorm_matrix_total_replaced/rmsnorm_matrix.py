# The loop over the row replaces the total, it does not add to it.
# expect: the loop replaces the total
# never: stride
# never: lower precision
# shared: triton
@triton.jit
def rmsnorm_kernel(x_ptr, w_ptr, out_ptr, n_cols, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    total = 0.0
    for start in range(0, n_cols, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row * n_cols + cols, mask=cols < n_cols, other=0.0)
        total = tl.sum(x * x, axis=0)
    rms = tl.sqrt(total / n_cols + eps)
    for start in range(0, n_cols, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        mask = cols < n_cols
        x = tl.load(x_ptr + row * n_cols + cols, mask=mask, other=0.0)
        w = tl.load(w_ptr + cols, mask=mask, other=0.0)
        tl.store(out_ptr + row * n_cols + cols, x / rms * w, mask=mask)


def rmsnorm_matrix(x, weight, eps, out):
    rows, cols = x.shape
    rmsnorm_kernel[(rows,)](x, weight, out, cols, eps, BLOCK=256)
