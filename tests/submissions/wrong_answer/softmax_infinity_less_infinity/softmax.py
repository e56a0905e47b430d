# The maximum is never taken.
# expect: infinity less infinity
# never: overflows
# shared: triton
@triton.jit
def softmax_kernel(x_ptr, out_ptr, cols, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    offs = tl.arange(0, BLOCK)
    mask = offs < cols
    x = tl.load(x_ptr + row * cols + offs, mask=mask, other=-float("inf"))
    top = -float("inf")
    e = tl.exp(x - top)
    total = tl.sum(e, axis=0)
    tl.store(out_ptr + row * cols + offs, e / total, mask=mask)


def softmax(x, out):
    rows, cols = x.shape
    softmax_kernel[(rows,)](x, out, cols, BLOCK=triton.next_power_of_2(cols))
