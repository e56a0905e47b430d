# The loop that stores begins with the second block of a row.
# expect: Nothing was written to the output
# never: covers only the first
import triton
import triton.language as tl


@triton.jit
def rmsnorm_kernel(x_ptr, w_ptr, out_ptr, n_cols, eps, BLOCK: tl.constexpr):
    first = tl.program_id(0).to(tl.int64) * n_cols
    squares = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, n_cols, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + first + cols, mask=cols < n_cols, other=0.0)
        squares += x * x
    scale = tl.rsqrt(tl.sum(squares) / n_cols + eps)
    for start in range(BLOCK, n_cols, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + first + cols, mask=cols < n_cols, other=0.0)
        weight = tl.load(w_ptr + cols, mask=cols < n_cols, other=0.0)
        tl.store(out_ptr + first + cols, x * scale * weight, mask=cols < n_cols)


def rmsnorm_matrix(x, weight, eps, out):
    rows, cols = x.shape
    rmsnorm_kernel[(rows,)](x, weight, out, cols, eps, BLOCK=1024)
