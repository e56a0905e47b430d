# The grid has one program.
# expect: starts 1 program
# expect: covers only the first 512
# never: exchanged
# never: the mask of
# base: runtime_error/copy_first_column_host_pointer
#-    column_kernel[(triton.cdiv(rows, 256),)](matrix, out, rows, cols, BLOCK=256)
#+    column_kernel[(1,)](matrix.cuda(), out, rows, cols, BLOCK=512)
