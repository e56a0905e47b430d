# Rows are compared with the number of columns.
# expect: past the end of x
# base: accepted/numba_silu
#-    if i < x.shape[0] and j < x.shape[1]:
#+    if i < x.shape[1] and j < x.shape[0]:
