# LayerNorm: the mean is subtracted first.
# expect: does not centre
# never: stride
# never: lower precision
# shared: triton
@triton.jit
def norm_rows(x_ptr, w_ptr, out_ptr, cols, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    offs = tl.arange(0, BLOCK)
    mask = offs < cols
    x = tl.load(x_ptr + row * cols + offs, mask=mask, other=0.0)
    mean = tl.sum(x) / cols
    centred = tl.where(mask, x - mean, 0.0)
    variance = tl.sum(centred * centred) / cols
    y = centred * tl.rsqrt(variance + eps) * tl.load(w_ptr + offs, mask=mask)
    tl.store(out_ptr + row * cols + offs, y, mask=mask)


def rmsnorm_matrix(x, weight, eps, out):
    rows, cols = x.shape
    norm_rows[(rows,)](x, weight, out, cols, eps, BLOCK=triton.next_power_of_2(cols))
