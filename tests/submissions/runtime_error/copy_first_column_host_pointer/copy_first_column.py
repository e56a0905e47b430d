# The kernel is given the matrix as it lies in host memory.
# expect: host memory
# expect: copy what is needed of it to the device first
# never: stride
# shared: triton
@triton.jit
def column_kernel(matrix_ptr, out_ptr, rows, cols, BLOCK: tl.constexpr):
    row = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = row < rows
    tl.store(out_ptr + row, tl.load(matrix_ptr + row * cols, mask=mask), mask=mask)


def copy_first_column(matrix, out):
    rows, cols = matrix.shape
    column_kernel[(triton.cdiv(rows, 256),)](matrix, out, rows, cols, BLOCK=256)
