# The old maximum is overwritten before the sum is multiplied by exp(old - new), which is 1 then.
# expect: before the new one takes the old one's place
# shared: triton
@triton.jit
def softmax_kernel(x_ptr, out_ptr, cols, BLOCK: tl.constexpr):
    first = tl.program_id(0) * cols
    lanes = tl.arange(0, BLOCK)
    top, total = -float("inf"), 0.0
    for at in range(0, cols, BLOCK):
        x = tl.load(x_ptr + first + at + lanes, mask=at + lanes < cols, other=-float("inf"))
        larger = tl.maximum(top, tl.max(x, axis=0))
        top = larger
        total = total * tl.exp(top - larger) + tl.sum(tl.exp(x - larger), axis=0)
    for at in range(0, cols, BLOCK):
        x = tl.load(x_ptr + first + at + lanes, mask=at + lanes < cols)
        tl.store(out_ptr + first + at + lanes, tl.exp(x - top) / total, mask=at + lanes < cols)


def softmax(x, out):
    rows, cols = x.shape
    softmax_kernel[(rows,)](x, out, cols, BLOCK=256)
