# One program a row, but never more than 1024 columns.
# expect: covers only the first 32
# never: exchanged
# shared: triton
@triton.jit
def silu_rows(x_ptr, out_ptr, cols, WIDTH: tl.constexpr):
    row = tl.program_id(0)
    c = tl.arange(0, WIDTH)
    x = tl.load(x_ptr + row * cols + c, mask=c < cols)
    tl.store(out_ptr + row * cols + c, x * tl.sigmoid(x), mask=c < cols)


def silu(x, out):
    silu_rows[(x.shape[0],)](x, out, x.shape[1], WIDTH=32)
