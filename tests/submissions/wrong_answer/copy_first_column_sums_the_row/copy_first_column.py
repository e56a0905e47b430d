# Each element is the sum of its row.
# expect: sums of the rows
# never: infinite
# never: overflow
# shared: triton
@triton.jit
def column_kernel(matrix_ptr, out_ptr, cols, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    offs = tl.arange(0, BLOCK)
    x = tl.load(matrix_ptr + row * cols + offs, mask=offs < cols, other=0.0)
    tl.store(out_ptr + row, tl.sum(x, axis=0))


def copy_first_column(matrix, out):
    rows, cols = matrix.shape
    column_kernel[(rows,)](matrix.cuda(), out, cols, BLOCK=triton.next_power_of_2(cols))
