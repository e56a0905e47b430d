# Every program works on the first block.
# expect: store to the same elements
# expect: do not depend on tl.program_id(0)
# never: exchanged
# never: the mask of
# never: one program
# shared: triton
@triton.jit
def column_kernel(matrix_ptr, out_ptr, rows, cols, BLOCK: tl.constexpr):
    row = tl.arange(0, BLOCK)
    mask = row < rows
    tl.store(out_ptr + row, tl.load(matrix_ptr + row * cols, mask=mask), mask=mask)


def copy_first_column(matrix, out):
    rows, cols = matrix.shape
    column_kernel[(triton.cdiv(rows, 256),)](matrix.cuda(), out, rows, cols, BLOCK=256)
