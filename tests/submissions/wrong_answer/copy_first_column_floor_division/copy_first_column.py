# The grid rounds down.
# expect: where a size is divided with //
# never: exchanged
# never: the mask of
# shared: triton
@triton.jit
def column_kernel(matrix_ptr, out_ptr, rows, cols, BLOCK: tl.constexpr):
    row = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = row < rows
    tl.store(out_ptr + row, tl.load(matrix_ptr + row * cols, mask=mask), mask=mask)


def copy_first_column(matrix, out):
    rows, cols = matrix.shape
    column_kernel[(max(1, rows // 256),)](matrix.cuda(), out, rows, cols, BLOCK=256)
