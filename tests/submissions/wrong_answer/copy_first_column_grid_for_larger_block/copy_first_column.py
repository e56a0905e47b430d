# The grid is counted in blocks of 1024, the kernel has blocks of 256.
# expect: each has 256 of
# expect: the block that the grid is counted with must be the kernel's
# never: exchanged
# never: //
# never: mask
# shared: triton
@triton.jit
def column_kernel(matrix_ptr, out_ptr, rows, cols, BLOCK: tl.constexpr):
    row = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = row < rows
    tl.store(out_ptr + row, tl.load(matrix_ptr + row * cols, mask=mask), mask=mask)


def copy_first_column(matrix, out):
    rows, cols = matrix.shape
    grid = lambda meta: (triton.cdiv(rows, 1024),)
    column_kernel[grid](matrix.to("cuda"), out, rows, cols, BLOCK=256)
