# In the loop over the row the weight is always loaded from its first block.
# expect: first 256 weights
# never: < n - 1
# never: rounds down
# shared: triton
@triton.jit
def rmsnorm_kernel(x_ptr, w_ptr, out_ptr, n_cols, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    offs = tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK,), dtype=tl.float32)
    for start in range(0, n_cols, BLOCK):
        x = tl.load(x_ptr + row * n_cols + start + offs, mask=start + offs < n_cols, other=0.0)
        total += x * x
    rstd = tl.rsqrt(tl.sum(total, axis=0) / n_cols + eps)
    for start in range(0, n_cols, BLOCK):
        mask = start + offs < n_cols
        x = tl.load(x_ptr + row * n_cols + start + offs, mask=mask, other=0.0)
        w = tl.load(w_ptr + offs, mask=mask, other=0.0)
        tl.store(out_ptr + row * n_cols + start + offs, x * rstd * w, mask=mask)


def rmsnorm_matrix(x, weight, eps, out):
    rows, cols = x.shape
    rmsnorm_kernel[(rows,)](x, weight, out, cols, eps, BLOCK=256)
