# Rows are taken to be a block apart rather than a row apart, with the last ones wrapped to stay inside.
# expect: whose rows lie cols = 9 apart
# never: triton.cdiv
# never: lower precision
# shared: triton
@triton.jit
def norm_rows(x_ptr, w_ptr, out_ptr, rows, cols, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    offs = tl.arange(0, BLOCK)
    mask = offs < cols
    base = (row * BLOCK) % (rows * cols - cols + 1)
    x = tl.load(x_ptr + base + offs, mask=mask, other=0.0)
    y = x * tl.rsqrt(tl.sum(x * x) / cols + eps) * tl.load(w_ptr + offs, mask=mask)
    tl.store(out_ptr + row * cols + offs, y, mask=mask)


def rmsnorm_matrix(x, weight, eps, out):
    rows, cols = x.shape
    norm_rows[(rows,)](x, weight, out, rows, cols, eps, BLOCK=triton.next_power_of_2(cols))
