# The maximum begins at 0.
# expect: The maximum is never below 0
# never: precision
# shared: triton
@triton.jit
def softmax_kernel(x_ptr, out_ptr, cols, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    top = 0.0
    for start in range(0, cols, BLOCK):
        offs = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row * cols + offs, mask=offs < cols, other=-float("inf"))
        top = tl.maximum(top, tl.max(x, axis=0))
    total = 0.0
    for start in range(0, cols, BLOCK):
        offs = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row * cols + offs, mask=offs < cols, other=-float("inf"))
        total += tl.sum(tl.exp(x - top), axis=0)
    for start in range(0, cols, BLOCK):
        offs = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row * cols + offs, mask=offs < cols)
        tl.store(out_ptr + row * cols + offs, tl.exp(x - top) / total, mask=offs < cols)


def softmax(x, out):
    rows, cols = x.shape
    softmax_kernel[(rows,)](x, out, cols, BLOCK=256)
