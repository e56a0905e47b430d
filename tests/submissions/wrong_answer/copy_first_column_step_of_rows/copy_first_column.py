# The kernel steps from row to row by the number of rows.
# expect: number of rows: it is the number of columns
# never: a mask
# shared: triton
@triton.jit
def column_kernel(matrix_ptr, out_ptr, rows, size, BLOCK: tl.constexpr):
    row = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    at = row * rows
    x = tl.load(matrix_ptr + at, mask=(row < rows) & (at < size), other=0.0)
    tl.store(out_ptr + row, x, mask=row < rows)


def copy_first_column(matrix, out):
    on_device = matrix.to(out.device)
    rows = matrix.shape[0]
    column_kernel[(triton.cdiv(rows, 256),)](on_device, out, rows, matrix.numel(), BLOCK=256)
