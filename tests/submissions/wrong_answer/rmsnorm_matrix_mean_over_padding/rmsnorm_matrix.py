# Divides by the padded block size: right only where the row length is a power of two.
# expect: divided by the size of the block
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
    mean_square = tl.sum(x * x) / BLOCK
    tl.store(out_ptr + row * cols + offs, x / tl.sqrt(mean_square + eps) * w, mask=mask)


def rmsnorm_matrix(x, weight, eps, out):
    rows, cols = x.shape
    rmsnorm_rows[(rows,)](x, weight, out, cols, eps, BLOCK=triton.next_power_of_2(cols))
