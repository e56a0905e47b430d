# The mask compares rows with the number of columns.
# expect: the mask of the store
# expect: element cols = 8 on
# never: triton.cdiv
# base: runtime_error/copy_first_column_host_pointer
#-    mask = row < rows
#+    mask = (row < cols) & (row < rows)
#-    column_kernel[(triton.cdiv(rows, 256),)](matrix, out, rows, cols, BLOCK=256)
#+    column_kernel[(triton.cdiv(rows, 256),)](matrix.cuda(), out, rows, cols, BLOCK=256)
