# As with .cuda(): what .to(device) brings over has no gaps.
# shared: triton
@triton.jit
def copy_kernel(src, dst, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(dst + i, tl.load(src + i, mask=i < n), mask=i < n)


def copy_first_column(matrix, out):
    column = matrix.select(1, 0).to(out.device)
    copy_kernel[(triton.cdiv(column.numel(), 4096),)](column, out, column.numel(), BLOCK=4096)
