# At most 32 programs are started, and each does a single row: later rows are never written.
# expect: starts 32 programs
# expect: each has 1 of the rows = 37 rows
# never: mask
# never: exchanged
# shared: triton
@triton.jit
def norm_rows(x_ptr, w_ptr, out_ptr, cols, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    offs = tl.arange(0, BLOCK)
    mask = offs < cols
    x = tl.load(x_ptr + row * cols + offs, mask=mask, other=0.0)
    y = x * tl.rsqrt(tl.sum(x * x) / cols + eps) * tl.load(w_ptr + offs, mask=mask)
    tl.store(out_ptr + row * cols + offs, y, mask=mask)


def rmsnorm_matrix(x, weight, eps, out):
    rows, cols = x.shape
    norm_rows[(min(rows, 32),)](x, weight, out, cols, eps, BLOCK=triton.next_power_of_2(cols))
