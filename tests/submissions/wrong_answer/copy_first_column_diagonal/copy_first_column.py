# The kernel walks along the diagonal: row * cols + row.
# expect: elements of the diagonal
# never: only offset 0
# shared: triton
@triton.jit
def column_kernel(matrix_ptr, out_ptr, rows, cols, BLOCK: tl.constexpr):
    row = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = row < rows
    x = tl.load(matrix_ptr + row * cols + row % cols, mask=mask)
    tl.store(out_ptr + row, x, mask=mask)


def copy_first_column(matrix, out):
    rows, cols = matrix.shape
    column_kernel[(triton.cdiv(rows, 256),)](matrix.cuda(), out, rows, cols, BLOCK=256)
