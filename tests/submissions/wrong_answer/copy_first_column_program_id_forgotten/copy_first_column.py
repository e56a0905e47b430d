# Every program works on the first block.
# expect: store to the same elements
# expect: do not depend on tl.program_id(0)
# never: exchanged
# never: the mask of
# never: one program
# base: runtime_error/copy_first_column_host_pointer
#-    row = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
#+    row = tl.arange(0, BLOCK)
#-    column_kernel[(triton.cdiv(rows, 256),)](matrix, out, rows, cols, BLOCK=256)
#+    column_kernel[(triton.cdiv(rows, 256),)](matrix.cuda(), out, rows, cols, BLOCK=256)
