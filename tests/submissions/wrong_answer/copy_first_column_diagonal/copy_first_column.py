# The kernel walks along the diagonal: row * cols + row.
# expect: elements of the diagonal
# never: only offset 0
# base: runtime_error/copy_first_column_host_pointer
#-    tl.store(out_ptr + row, tl.load(matrix_ptr + row * cols, mask=mask), mask=mask)
#+    x = tl.load(matrix_ptr + row * cols + row % cols, mask=mask)
#+    tl.store(out_ptr + row, x, mask=mask)
#-    column_kernel[(triton.cdiv(rows, 256),)](matrix, out, rows, cols, BLOCK=256)
#+    column_kernel[(triton.cdiv(rows, 256),)](matrix.cuda(), out, rows, cols, BLOCK=256)
