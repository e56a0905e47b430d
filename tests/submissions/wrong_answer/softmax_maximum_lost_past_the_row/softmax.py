# Lanes past the end of the row take 0 for their maximum, and so lose that of the rounds before.
# expect: 0
# expect: maximum
# never: begins at 0
# never: no maximum is subtracted
import triton
import triton.language as tl


@triton.jit
def merge(most, total, other_most, other_total):
    both = tl.maximum(most, other_most)
    return both, total * tl.exp(most - both) + other_total * tl.exp(other_most - both)


@triton.jit
def softmax_kernel(x_ptr, out_ptr, cols, BLOCK: tl.constexpr):
    x_ptr += tl.program_id(0) * cols
    out_ptr += tl.program_id(0) * cols
    lanes = tl.arange(0, BLOCK)
    most = tl.full((BLOCK,), -float("inf"), tl.float32)
    total = tl.zeros((BLOCK,), tl.float32)
    for first in range(0, cols, BLOCK):
        inside = first + lanes < cols
        x = tl.load(x_ptr + first + lanes, mask=inside, other=-float("inf"))
        higher = tl.where(inside, tl.maximum(most, x), 0.0)
        total = total * tl.exp(most - higher) + tl.exp(x - higher)
        most = higher
    most, total = tl.reduce((most, total), 0, merge)
    for first in range(0, cols, BLOCK):
        inside = first + lanes < cols
        x = tl.load(x_ptr + first + lanes, mask=inside)
        tl.store(out_ptr + first + lanes, tl.exp(x - most) / total, mask=inside)


def softmax(x, out):
    rows, cols = x.shape
    softmax_kernel[(rows,)](x, out, cols, BLOCK=256)
