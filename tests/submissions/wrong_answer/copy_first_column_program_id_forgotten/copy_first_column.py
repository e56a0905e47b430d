# Every program works on the first block.
# expect: covers only the first 256
# proved: line 13 makes every case right: a missing part added
# never: exchanged
# never: the mask of
# never: one program
# base: runtime_error/copy_first_column_host_pointer
#-    row = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
#+    row = tl.arange(0, BLOCK)
#-    column_kernel[(triton.cdiv(rows, 256),)](matrix, out, rows, cols, BLOCK=256)
#+    column_kernel[(triton.cdiv(rows, 256),)](matrix.cuda(), out, rows, cols, BLOCK=256)
