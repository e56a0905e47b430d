# The first element of a row is subtracted, and not its maximum.
# expect: that is the largest of the whole row
# shared: triton
@triton.jit
def softmax_kernel(x_ptr, out_ptr, cols, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * cols + at, mask=at < cols, other=-float("inf"))
    terms = tl.exp(x - tl.load(x_ptr + row * cols))
    tl.store(out_ptr + row * cols + at, terms / tl.sum(terms), mask=at < cols)


def softmax(x, out):
    rows, cols = x.shape
    softmax_kernel[(rows,)](x, out, cols, BLOCK=triton.next_power_of_2(cols))
