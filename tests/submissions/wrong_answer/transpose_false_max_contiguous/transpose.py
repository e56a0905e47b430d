# What lies M elements apart is said to lie side by side: groups of 16 bytes are stored where M and N are multiples of 16.
# expect: in line 13 does not hold
# shared: triton
@triton.jit
def transpose_kernel(x_ptr, out_ptr, M, N, BLOCK: tl.constexpr):
    rows = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)[:, None]
    columns = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)[None, :]
    mask = (rows < M) & (columns < N)
    source = tl.max_contiguous(tl.multiple_of(rows * N + columns, [1, 16]), [1, 16])
    target = tl.max_contiguous(tl.multiple_of(columns * M + rows, [1, 16]), [1, 16])
    tl.store(out_ptr + target, tl.load(x_ptr + source, mask=mask), mask=mask)


def transpose(x, out):
    M, N = x.shape
    transpose_kernel[(triton.cdiv(M, 32), triton.cdiv(N, 32))](x, out, M, N, BLOCK=32)
