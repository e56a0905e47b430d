# The last column.
# expect: This is the last column
# base: accepted/numba_copy_first_column_pinned
#-    staging[:] = matrix[:, 0]
#+    staging[:] = matrix[:, -1]
