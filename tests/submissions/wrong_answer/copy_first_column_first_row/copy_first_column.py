# The stride of the column is left out, so consecutive elements of the first row are read.
# expect: the first row: row i begins
# never: last column
# shared: triton
@triton.jit
def copy_kernel(matrix_ptr, out_ptr, rows, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    value = tl.load(matrix_ptr + i, mask=i < rows)
    tl.store(out_ptr + i, value, mask=i < rows)


def copy_first_column(matrix, out):
    on_device = matrix.to(out.device)
    rows = matrix.shape[0]
    copy_kernel[(triton.cdiv(rows, 1024),)](on_device, out, rows, BLOCK=1024)
