# The mask compares rows with the number of columns.
# expect: the mask of the store
# expect: element cols = 8 on
# never: triton.cdiv
# shared: triton
@triton.jit
def column_kernel(matrix_ptr, out_ptr, rows, cols, BLOCK: tl.constexpr):
    row = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = (row < cols) & (row < rows)
    tl.store(out_ptr + row, tl.load(matrix_ptr + row * cols, mask=mask), mask=mask)


def copy_first_column(matrix, out):
    rows, cols = matrix.shape
    column_kernel[(triton.cdiv(rows, 256),)](matrix.cuda(), out, rows, cols, BLOCK=256)
