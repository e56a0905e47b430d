# The flat index is split into row and column by the number of rows.
# expect: store different values
# never: triton.cdiv
# never: <=
# shared: triton
@triton.jit
def transpose_kernel(x_ptr, out_ptr, M, N, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < M * N
    x = tl.load(x_ptr + offsets, mask=mask)
    row = offsets // M
    col = offsets % M
    tl.store(out_ptr + (col * M + row) % (M * N), x, mask=mask)


def transpose(x, out):
    M, N = x.shape
    transpose_kernel[(triton.cdiv(M * N, 1024),)](x, out, M, N, BLOCK=1024)
