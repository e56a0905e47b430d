# Row times a padded stride overflows 32 bits: the offset turns negative.
# expect: tl.int64
# shared: triton
@triton.jit
def silu_rows(x_ptr, out_ptr, cols, big_stride, BLOCK: tl.constexpr):
    row = tl.program_id(0) + 3
    c = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * big_stride + c, mask=c < cols)
    tl.store(out_ptr + row * big_stride + c, x * tl.sigmoid(x), mask=c < cols)


def silu(x, out):
    rows, cols = x.shape
    silu_rows[(rows,)](x, out, cols, 1 << 30, BLOCK=triton.next_power_of_2(cols))
