# The first row.
# expect: the first row: row i begins at element
# base: accepted/numba_copy_first_column_to_device
#-    column = cuda.to_device(matrix[:, 0].contiguous())
#+    column = cuda.to_device(matrix[0, :].contiguous())
