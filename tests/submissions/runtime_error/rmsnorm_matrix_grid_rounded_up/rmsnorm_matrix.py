# More programs than there are rows: a grid need not be a power of two.
# expect: and each has one row of x, which has rows =
# expect: is the grid that of another size?
# never: does not end
# never: the mask
# shared: triton
@triton.jit
def kernel(x_ptr, w_ptr, out_ptr, rows, cols, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    offs = tl.arange(0, BLOCK)
    mask = offs < cols
    x = tl.load(x_ptr + row * cols + offs, mask=mask, other=0.0)
    w = tl.load(w_ptr + offs, mask=mask, other=0.0)
    ms = tl.sum(x * x, axis=0) / cols
    y = x * tl.rsqrt(ms + eps) * w
    tl.store(out_ptr + row * cols + offs, y, mask=mask)


def rmsnorm_matrix(x, weight, eps, out):
    rows, cols = x.shape
    kernel[(triton.next_power_of_2(rows),)](x, weight, out, rows, cols, eps, BLOCK=triton.next_power_of_2(cols))
