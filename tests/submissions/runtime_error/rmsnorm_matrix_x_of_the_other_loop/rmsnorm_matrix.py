# The second loop takes x from the first one, which has not left it.
# expect: set only in a branch or another loop
# expect: load or compute it again
# shared: triton
@triton.jit
def norm_kernel(x_ptr, w_ptr, out_ptr, cols, eps, BLOCK: tl.constexpr):
    begin = tl.program_id(0) * cols
    squares = tl.zeros((BLOCK,), dtype=tl.float32)
    for at in range(0, cols, BLOCK):
        c = at + tl.arange(0, BLOCK)
        value = tl.load(x_ptr + begin + c, mask=c < cols, other=0.0)
        squares += value * value
    scale = tl.rsqrt(tl.sum(squares) / cols + eps)
    for at in range(0, cols, BLOCK):
        c = at + tl.arange(0, BLOCK)
        w = tl.load(w_ptr + c, mask=c < cols)
        tl.store(out_ptr + begin + c, value * scale * w, mask=c < cols)


def rmsnorm_matrix(x, weight, eps, out):
    rows, cols = x.shape
    norm_kernel[(rows,)](x, weight, out, cols, eps, BLOCK=512)
