# The grid rounds down.
# expect: covers only the first 4,096
# never: exchanged
# never: the mask of
# base: runtime_error/copy_first_column_host_pointer
#-    column_kernel[(triton.cdiv(rows, 256),)](matrix, out, rows, cols, BLOCK=256)
#+    column_kernel[(max(1, rows // 256),)](matrix.cuda(), out, rows, cols, BLOCK=256)
