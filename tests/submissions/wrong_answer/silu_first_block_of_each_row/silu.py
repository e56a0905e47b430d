# Each program takes one row, and of it only the first 1024 elements.
# expect: covers only the first 1,024
# expect: loop over the columns
# never: exchanged
# never: the mask of
# shared: triton
@triton.jit
def silu_kernel(x_ptr, out_ptr, stride, n_cols, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    mask = cols < n_cols
    x = tl.load(x_ptr + row * stride + cols, mask=mask, other=0.0)
    tl.store(out_ptr + row * stride + cols, x / (1 + tl.exp(-x)), mask=mask)


def silu(x, out):
    M, N = x.shape
    silu_kernel[(M,)](x, out, x.stride(0), N, BLOCK=1024)
