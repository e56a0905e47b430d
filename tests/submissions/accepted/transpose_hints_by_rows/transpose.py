# Only what lies side by side is said to do so, where rows are multiples of 16; elsewhere a mask keeps lanes apart.
# never: not so
# shared: triton
@triton.jit
def transpose_kernel(x_ptr, out_ptr, M, N, BLOCK: tl.constexpr):
    rows = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)[:, None]
    columns = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)[None, :]
    mask = (rows < M) & (columns < N)
    source = tl.max_contiguous(tl.multiple_of(rows * N + columns, [1, 16]), [1, 16])
    target = columns * M + rows
    tl.store(out_ptr + target, tl.load(x_ptr + source, mask=mask), mask=mask)


def transpose(x, out):
    M, N = x.shape
    transpose_kernel[(triton.cdiv(M, 32), triton.cdiv(N, 32))](x, out, M, N, BLOCK=32)
