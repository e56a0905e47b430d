# The grid is counted in blocks of 1024, the kernel has blocks of 256.
# expect: covers only the first 1,280
# proved: in line 20, or
# never: exchanged
# never: //
# never: mask
# base: runtime_error/copy_first_column_host_pointer
#-    column_kernel[(triton.cdiv(rows, 256),)](matrix, out, rows, cols, BLOCK=256)
#+    grid = lambda meta: (triton.cdiv(rows, 1024),)
#+    column_kernel[grid](matrix.to("cuda"), out, rows, cols, BLOCK=256)
