# Each program takes one row, and of it only the first 256 elements.
# expect: covers only the first 256
# expect: loop over the rows
# never: exchanged
# never: element (i, j)
# shared: triton
@triton.jit
def transpose_kernel(x_ptr, out_ptr, M, N, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    mask = cols < N
    x = tl.load(x_ptr + row * N + cols, mask=mask)
    tl.store(out_ptr + cols * M + row, x, mask=mask)


def transpose(x, out):
    M, N = x.shape
    transpose_kernel[(M,)](x, out, M, N, BLOCK=256)
